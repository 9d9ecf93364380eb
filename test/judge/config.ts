/** A configuration that passes; `frontend` and `global` are put into it. */
export function validConfig({ global = '', frontend = '' } = {}): string {
  return `global
${global}
defaults base
  mode http
  timeout client 1s
  timeout connect 1s
  timeout server 1s
frontend in from base
  bind 127.0.0.1:1
${frontend}
`;
}

/** Makes every HAProxy loop for ever while it reads the crt-list: an unknown keyword in brackets after a filter. */
export const endless: Readonly<Record<string, string>> = {
  'haproxy.cfg': validConfig({ frontend: '  bind 127.0.0.1:2 ssl crt-list crt-lists/loop.txt' }),
  'crt-lists/loop.txt': 'certs/a.pem x[y]z\n',
};
