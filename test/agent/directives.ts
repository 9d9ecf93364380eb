/** Directives of a backend. */
export interface DirectiveRow {
  /** Lines of the body. */
  readonly body: string;
  readonly servers?: 'none';
  /** What a request is answered; 200 by default. */
  readonly status?: number | 'not asked';
}

/** Crash the worker, do nothing, or are refused when a runtime backend is to inherit them. */
export const STATIC: readonly DirectiveRow[] = [
  { body: 'errorfiles pages', servers: 'none', status: 503 },
  { body: 'errorfiles pages 503', servers: 'none', status: 503 },
  { body: 'http-request cache-use store\nhttp-response cache-store store' },
  { body: 'http-request cache-use store' },
  { body: 'http-response cache-store store' },
  { body: 'compression algo gzip\ncompression type text/plain' },
  { body: 'default-server check inter 1h' },
  // It would call HAProxy itself.
  { body: 'option transparent', status: 'not asked' },
  { body: 'balance source' },
  { body: 'balance static-rr' },
  { body: 'balance uri' },
  { body: 'disabled', status: 503 },
  { body: 'stick-table type ip size 1k' },
  { body: 'stick-table type ip size 1k\nstick on src' },
  { body: 'filter trace name x' },
  {
    body: 'filter bwlim-out slow default-limit 1m default-period 1s\nhttp-response set-bandwidth-limit slow',
  },
  { body: 'use-server s if { path /x }' },
  { body: 'redirect location /elsewhere', status: 302 },
  { body: 'force-persist if FALSE' },
  { body: 'ignore-persist if FALSE' },
  { body: 'description of it' },
];

/** Inherited and obeyed. */
export const DYNAMIC: readonly DirectiveRow[] = [
  { body: 'balance roundrobin' },
  { body: 'balance leastconn' },
  { body: 'balance random(2)' },
  { body: 'balance source\nhash-type consistent' },
  { body: 'balance uri\nhash-type consistent\nhash-balance-factor 150' },
  { body: 'balance hdr(host)\nhash-type consistent' },
  { body: 'balance url_param id\nhash-type consistent' },
  { body: 'balance hash req.hdr(host)\nhash-type consistent' },
  { body: 'timeout server 7s\ntimeout connect 1s\ntimeout queue 1s\ntimeout check 1s\ntimeout tunnel 1m' },
  { body: 'option httpchk GET /\nhttp-check expect status 200' },
  { body: 'option tcp-check\ntcp-check connect' },
  { body: 'option forwardfor\noption originalto' },
  { body: 'option redispatch\nretries 2\nretry-on conn-failure' },
  { body: 'option http-server-close' },
  { body: 'option http-keep-alive\noption prefer-last-server' },
  { body: 'option http-buffer-request\noption abortonclose' },
  { body: 'option allbackups\noption log-health-checks\noption tcpka\noption splice-auto' },
  { body: 'http-reuse always' },
  { body: 'cookie X insert indirect nocache\ndynamic-cookie-key secret' },
  { body: 'errorfile 503 files/page.http', servers: 'none', status: 503 },
  { body: 'errorloc 503 /sorry', servers: 'none', status: 302 },
  {
    body: 'http-error status 503 content-type text/plain lf-string "no %[be_name]"',
    servers: 'none',
    status: 503,
  },
  { body: 'http-request set-header x-a b\nhttp-request set-var(txn.a) str(b)' },
  { body: 'http-request replace-path /(.*) /x/\\1' },
  { body: 'http-request deny deny_status 429 if { path /denied }' },
  { body: 'http-request return status 418', status: 418 },
  { body: 'http-request redirect location /there', status: 302 },
  { body: 'http-request auth realm it if { path /secret }' },
  { body: 'http-request set-timeout server 3s' },
  { body: 'http-request wait-for-body time 1s if { path /body }' },
  {
    body: 'http-request track-sc0 src table counters\nhttp-request deny if { sc_http_req_rate(0,counters) gt 10000 }',
  },
  { body: 'http-response set-header x-a b\nhttp-after-response set-header x-b c' },
  { body: 'tcp-request content reject if FALSE' },
  { body: 'acl it path /x\nhttp-request set-header x-a b if it' },
  { body: 'fullconn 100' },
  { body: 'http-request set-header x-map %[be_name,map(maps/hosts.map,none)]' },
];
