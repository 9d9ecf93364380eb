/** Kubernetes objects as people write them. */

export const ingressClass = `apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata:
  name: haptic
spec:
  controller: haproxy-haptic.org/ingress-controller
`;

/** An Ingress for one host: path → service. */
export function ingress(name: string, host: string, paths: Readonly<Record<string, string>>): string {
  const entries = Object.entries(paths).map(
    ([path, service]) => `          - path: ${path}
            pathType: Prefix
            backend:
              service:
                name: ${service}
                port:
                  number: 80
`,
  );
  return `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: ${name}
  namespace: default
spec:
  ingressClassName: haptic
  rules:
    - host: ${host}
      http:
        paths:
${entries.join('')}`;
}

export function service(name: string): string {
  return `apiVersion: v1
kind: Service
metadata:
  name: ${name}
  namespace: default
spec:
  ports:
    - port: 80
      targetPort: 8080
`;
}

/** A ready pod of a service, on this machine. */
export function endpoints(service: string, port: number): string {
  return `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: ${service}-1
  namespace: default
  labels:
    kubernetes.io/service-name: ${service}
addressType: IPv4
ports:
  - name: ''
    port: ${port}
    protocol: TCP
endpoints:
  - addresses: [127.0.0.1]
    conditions:
      ready: true
    targetRef:
      kind: Pod
      namespace: default
      name: ${service}-${port}
`;
}

export function documents(...texts: readonly string[]): string {
  return texts.join('---\n');
}
