import type { JsonValue } from '../../../src/machinery/index.ts';
import type { Dice } from '../../support/rough/dice.ts';
import { type Draft, namespaces } from './draft.ts';
import { contentTypes, jsonBytes } from './encode.ts';
import { accepts, wellFormed } from './query.ts';
import { anyKey, anyValue, spoil } from './samples.ts';

const methods = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'SEARCH',
  'PURGE',
  'LINK',
];
const segments = [
  'api',
  'apis',
  'v1',
  'namespaces',
  'default',
  'pods',
  'watch',
  'constructor',
  '__proto__',
  'status',
  'scale',
  '..',
  '.',
  '',
  '%2e%2e',
  '%2F',
  '%00',
  '%',
  '%zz',
  '%ff',
  'apps',
  'cluster.x-k8s.io',
  'v1beta1',
  'v1alpha3',
  'clusters',
  'openapi',
  'v3',
  'proxy',
  'toString',
  'secrets',
  'capstan',
  'n1',
  ';a=b',
  '*',
  'x'.repeat(300),
];

/** Any method on an invalid path. */
export function strangePath(dice: Dice): Draft {
  const path = dice.weighted<string>([
    [6, () => `/${Array.from({ length: dice.between(1, 9) }, () => dice.pick(segments)).join('/')}`],
    [2, () => `${dice.chance(0.5) ? '/' : ''}${encodeURI(wellFormed(dice.weirdText(60)))}`],
    [1, () => `/api/v1/namespaces/fuzz-a/pods/${'a'.repeat(dice.pick([1_000, 8_000, 30_000]))}`],
    [
      1,
      () =>
        dice.pick([
          '*',
          '//',
          '/?',
          '/#',
          'https://example.com/api',
          '/api/v1/../../etc/passwd',
          '/apis//v1',
          '/api/v1/namespaces/fuzz-a/pods?',
          '/api/v1/pods?watch&watch&watch',
        ]),
    ],
  ]);
  return { idea: 'strange path', method: dice.pick(methods), path, headers: [['accept', dice.pick(accepts)]] };
}

const documentPaths = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/cluster.x-k8s.io/v1beta1',
  '/openapi/v3',
  '/openapi/v3/api/v1',
  '/openapi/v3/apis/apps/v1',
  '/version',
  '/healthz',
  '/livez',
  '/readyz',
  '/readyz/ping',
  '/livez/constructor',
  '/metrics',
  '/.well-known/openid-configuration',
  '/openid/v1/jwks',
  '/openapi/v3/apis/fuzz.example.com/v1',
  '/openapi/v3/constructor',
  '/capstan/x',
];

/** Discovery, OpenAPI, health and other non-resource paths. */
export function documents(dice: Dice): Draft {
  return {
    idea: 'document',
    method: dice.chance(0.85) ? 'GET' : dice.pick(methods),
    path: dice.chance(0.985) ? dice.pick(documentPaths) : '/openapi/v2',
    headers: [
      [
        'accept',
        dice.chance(0.3) ? 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' : dice.pick(accepts),
      ],
    ],
  };
}

/** Subresources, with matching or wrong bodies. */
export function subresource(dice: Dice): Draft {
  const namespace = `/api/v1/namespaces/${dice.pick(namespaces)}`;
  const path = dice.pick([
    `${namespace}/pods/n1/binding`,
    `${namespace}/pods/n1/eviction`,
    `${namespace}/pods/n1/log`,
    `${namespace}/pods/n1/ephemeralcontainers`,
    `${namespace}/serviceaccounts/n1/token`,
    `${namespace}/pods/n1/exec`,
    `${namespace}/pods/n1/proxy/x/y`,
    `/apis/apps/v1/namespaces/fuzz-a/deployments/n1/scale`,
    `/apis/apps/v1/namespaces/fuzz-a/statefulsets/n1/scale`,
    `/apis/cluster.x-k8s.io/v1beta1/namespaces/fuzz-a/machinedeployments/n1/scale`,
    `/apis/certificates.k8s.io/v1/certificatesigningrequests/n1/approval`,
    `/api/v1/namespaces/n1/finalize`,
    `/api/v1/namespaces/fuzz-b/status`,
    `${namespace}/bindings`,
  ]);
  const body = dice.weighted<JsonValue>([
    [
      1,
      () => ({ apiVersion: 'v1', kind: 'Binding', metadata: { name: 'n1' }, target: { kind: 'Node', name: 'node-1' } }),
    ],
    [
      1,
      () => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'n1' }, deleteOptions: anyValue(dice, 2) }),
    ],
    [
      1,
      () => ({
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: ['a'], expirationSeconds: dice.pick([600, 1, -1, 1e12, 'x'] as JsonValue[]) },
      }),
    ],
    [
      1,
      () => ({
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'n1' },
        spec: { replicas: dice.pick([1, -1, 1e10, 'x', null] as JsonValue[]) },
      }),
    ],
    [1, () => ({ [anyKey(dice)]: anyValue(dice, 3) })],
  ]);
  return {
    idea: 'subresource',
    method: dice.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    path,
    headers: [['content-type', dice.pick(contentTypes)]],
    body: jsonBytes(dice, dice.chance(0.3) ? spoil(dice, body) : body),
  };
}

const limitBytes = 3 * 1024 * 1024;

/** Bodies around and above the size limit. */
export function hugeBody(dice: Dice): Draft {
  const size = dice.pick([limitBytes + 1, limitBytes, 1_600_000, limitBytes * 3]);
  const head = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n1"},"data":{"a":"';
  const text = dice.weighted<string>([
    [2, () => `${head}${'x'.repeat(size - head.length - 3)}"}}`],
    [1, () => `{"a":[${'1,'.repeat(Math.floor(size / 2) - 5)}1]}`],
    [1, () => `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`],
    [1, () => `a: ${'- '.repeat(Math.min(20_000, Math.floor(size / 2)))}`],
  ]);
  return {
    idea: 'huge body',
    method: dice.pick(['POST', 'PUT', 'PATCH']),
    path: dice.pick(['/api/v1/namespaces/fuzz-a/configmaps', '/api/v1/namespaces/fuzz-a/configmaps/n1']),
    headers: [
      [
        'content-type',
        dice.pick([
          'application/json',
          'application/yaml',
          'application/merge-patch+json',
          'application/json-patch+json',
          'application/apply-patch+yaml',
        ]),
      ],
    ],
    body: Buffer.from(text),
  };
}

/** Headers that try to impersonate users or gain rights. */
export function strangeHeaders(dice: Dice): [string, string][] {
  if (!dice.chance(0.07)) return [];
  return dice.weighted<[string, string][]>([
    [
      3,
      () => [
        [
          'impersonate-user',
          dice.pick(['alice', 'system:serviceaccount:fuzz-a:n1', 'system:node:x', '', 'system:serviceaccount:x', 'ü']),
        ],
      ],
    ],
    [1, () => [['impersonate-group', 'g']]],
    [
      1,
      () => [
        ['impersonate-user', 'a'],
        ['impersonate-group', 'system:masters'],
        ['impersonate-extra-Scopes%2F', 'x'],
        ['impersonate-uid', 'u'],
      ],
    ],
    [
      1,
      () => [
        ['impersonate-extra-', 'x'],
        ['impersonate-user', 'a'],
        ['impersonate-extra-%zz', 'y'],
      ],
    ],
    [
      2,
      () => [
        [
          'authorization',
          dice.pick([
            'Bearer x',
            'Bearer ',
            'Basic YTpi',
            'Bearer a.b.c',
            'bearer',
            `Bearer ${'a'.repeat(9000)}`,
            'Bearer eyJhbGciOiJub25lIn0.e30.',
          ]),
        ],
      ],
    ],
    [1, () => [['x-padding', 'p'.repeat(dice.pick([1_000, 10_000, 40_000]))]]],
    [1, () => [['user-agent', dice.pick(['', '/', 'curl/8', 'Mozilla/5.0', '\u00ff/1', 'x'.repeat(500)])]]],
    [1, () => [['accept-encoding', dice.pick(['gzip', 'br', 'identity;q=0', '*'])]]],
    [1, () => [['audit-id', dice.pick(['x', 'y'.repeat(100), '../..'])]]],
    [
      1,
      () => [
        ['if-none-match', '"x"'],
        ['if-match', '*'],
        ['range', 'bytes=0-1'],
      ],
    ],
    [
      1,
      () => [
        ['origin', 'https://evil.example'],
        ['cookie', 'a=b'],
        ['x-remote-user', 'admin'],
        ['x-remote-group', 'system:masters'],
      ],
    ],
    [
      1,
      () => [
        ['x-http-method-override', 'DELETE'],
        ['x-forwarded-for', '1.2.3.4'],
      ],
    ],
  ]);
}
