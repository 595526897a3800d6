import type { Container, Volume } from '../../api/index.ts';
import type { PlaneSpec } from '../spec.ts';
import type { SidecarParts } from './konnectivity.ts';

// An API server supports only one audit webhook. For several targets, a proxy sidecar receives the log and forwards it
// to all.

const port = 8090;
const directory = '/etc/audit-relay';

/** Key of the relay configuration in the webhook Secret. */
export const auditRelayKey = 'nginx.conf';
/** URL of the relay for the API server. */
export const auditRelayUrl: string = `http://127.0.0.1:${port}`;

export interface AuditTarget {
  readonly server: string;
  readonly token?: string;
}

/** Characters with a special meaning in nginx configurations. */
const unsafe = /[\s;{}"'$\\]/;

/** Explains why a target cannot be used; undefined if it can. */
export function auditTargetProblem({ server, token }: AuditTarget): string | undefined {
  if (!/^https?:\/\/[^/]/.test(server) || unsafe.test(server)) return `${JSON.stringify(server)} is no URL to send to`;
  if (token !== undefined && !/^[\w.~+/=-]+$/.test(token)) return `the token for ${server} is none that HTTP can carry`;
  return undefined;
}

/**
 * Renders the nginx configuration. The first target answers the API server; the others receive mirrored requests whose
 * responses are ignored.
 */
export function auditRelayConfig([first, ...others]: readonly [AuditTarget, ...AuditTarget[]]): string {
  const mirrors = others.map((_, index) => `/to/${index + 1}`);
  return [
    'pid /tmp/nginx.pid;',
    'error_log stderr warn;',
    'events {}',
    'http {',
    '  access_log off;',
    ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path /tmp/${name};`),
    '  client_max_body_size 0;',
    '  proxy_ssl_server_name on;',
    '  proxy_ssl_verify on;',
    '  proxy_ssl_verify_depth 4;',
    '  proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt;',
    '  server {',
    `    listen 127.0.0.1:${port};`,
    '    location = / {',
    ...mirrors.map((path) => `      mirror ${path};`),
    ...passOn(first),
    '    }',
    ...others.flatMap((target, index) => [
      `    location = ${mirrors[index]} {`,
      '      internal;',
      ...passOn(target),
      '    }',
    ]),
    '  }',
    '}',
    '',
  ].join('\n');
}

const passOn = ({ server, token }: AuditTarget): string[] => [
  // include a path, at least `/`; otherwise nginx appends that of the location
  `      proxy_pass ${new URL(server).href};`,
  ...(token === undefined ? [] : [`      proxy_set_header Authorization "Bearer ${token}";`]),
];

/** Builds the relay sidecar if several targets are configured. */
export function auditRelay({ apiServer }: PlaneSpec): Pick<SidecarParts, 'containers' | 'volumes'> {
  const { webhook } = apiServer.audit ?? {};
  if (webhook?.relayImage === undefined) return { containers: [], volumes: [] };
  const volumes: Volume[] = [
    {
      name: 'audit-relay',
      secret: { secretName: webhook.secretName, items: [{ key: auditRelayKey, path: auditRelayKey }] },
    },
    { name: 'audit-relay-tmp', emptyDir: {} },
  ];
  const container: Container = {
    name: 'audit-relay',
    image: webhook.relayImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['nginx', '-c', `${directory}/${auditRelayKey}`, '-g', 'daemon off;'],
    volumeMounts: [
      { name: 'audit-relay', mountPath: directory, readOnly: true },
      { name: 'audit-relay-tmp', mountPath: '/tmp' },
    ],
  };
  return { containers: [container], volumes };
}
