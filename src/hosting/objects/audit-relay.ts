import type { Container, Volume } from '../../api/index.ts';
import type { PlaneSpec } from '../spec.ts';
import type { SidecarParts } from './konnectivity.ts';

// An API server sends its audit log to one place. Where there are several, a proxy beside it takes the log and passes it on to all.

const port = 8090;
const directory = '/etc/audit-relay';

/** Key of the Secret of the webhook under which the configuration of the relay stands. */
export const auditRelayKey = 'nginx.conf';
/** Where the API server finds the relay. */
export const auditRelayUrl: string = `http://127.0.0.1:${port}`;

/** One place the log goes to. */
export interface AuditTarget {
  readonly server: string;
  readonly token?: string;
}

/** Characters that end a word of nginx, or mean something inside of one. */
const unsafe = /[\s;{}"'$\\]/;

/** Why a target cannot be passed on to; undefined when it can. */
export function auditTargetProblem({ server, token }: AuditTarget): string | undefined {
  if (!/^https?:\/\/[^/]/.test(server) || unsafe.test(server)) return `${JSON.stringify(server)} is no URL to send to`;
  if (token !== undefined && !/^[\w.~+/=-]+$/.test(token)) return `the token for ${server} is none that HTTP can carry`;
  return undefined;
}

/** The first target answers the API server; the others get the same, and nobody waits for them. */
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
  // a path, be it the shortest: the one of the location is ours alone
  `      proxy_pass ${new URL(server).href};`,
  ...(token === undefined ? [] : [`      proxy_set_header Authorization "Bearer ${token}";`]),
];

/** The relay beside the API server, if there is to be one. */
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
