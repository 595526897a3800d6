import { builtinDefinitions, ownDefinitions } from '../../../src/api/index.ts';
import {
  clone,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type ResourceDefinition,
  type VersionDefinition,
} from '../../../src/machinery/index.ts';
import { type Dice, dice as rollFrom } from '../../support/rough/dice.ts';
import type { WireRequest } from '../../support/rough/wire.ts';
import { contentTypes, damage, encode, hostileYaml, jsonBytes } from './encode.ts';
import { customObject, customPaths, hostileCrd } from './hostile-crds.ts';
import { hostilePatch } from './patches.ts';
import { anyKey, anyValue, fromSchema, samples, spoil } from './samples.ts';

/** Stands for the resourceVersion the object had when it was last seen. */
export const liveResourceVersion = '@live';

export interface FuzzRequest extends WireRequest {
  protocol: 'http/1.1' | 'h2';
  headers: (readonly [string, string])[];
  /** what it was meant to be */
  idea: string;
}

const definitions: readonly ResourceDefinition[] = [...builtinDefinitions, ...ownDefinitions];
export const namespaces: readonly string[] = ['fuzz-a', 'fuzz-b'];
const names = ['n1', 'n1', 'n2', 'n3'];

/** Stored, these would make the server call strangers and fail with what they say: correct, but not what is tested here. */
const dryRunOnly = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'apiservices',
]);

/** The request of a seed. */
export function fuzzRequest(seed: number): FuzzRequest {
  const dice = rollFrom(seed);
  const request = dice.weighted<Omit<FuzzRequest, 'protocol'>>([
    [26, () => write(dice, goodObject)],
    [18, () => write(dice, spoiledObject)],
    [3, () => write(dice, strangeBody)],
    [12, () => patch(dice)],
    [12, () => read(dice)],
    [5, () => remove(dice)],
    [4, () => defineKind(dice)],
    [6, () => writeCustom(dice)],
    [5, () => strangePath(dice)],
    [4, () => documents(dice)],
    [3, () => subresource(dice)],
    [0.15, () => hugeBody(dice)],
  ]);
  const query = dice.chance(0.12) ? wrongQuery(dice) : '';
  const headers = [...request.headers, ...strangeHeaders(dice)];
  const path = query === '' ? request.path : `${request.path}${request.path.includes('?') ? '&' : '?'}${query}`;
  const endless = /[?&]watch|\/watch\/|follow=/.test(path);
  return {
    ...request,
    path,
    headers,
    protocol: dice.chance(0.5) ? 'h2' : 'http/1.1',
    ...(endless && { cutAfterMs: 3 }),
  };
}

interface Place {
  definition: ResourceDefinition;
  version: VersionDefinition;
  apiVersion: string;
  collection: string;
}

function placeOf(dice: Dice, definition: ResourceDefinition, version: VersionDefinition): Place {
  const apiVersion = definition.group === '' ? version.name : `${definition.group}/${version.name}`;
  const root = definition.group === '' ? `/api/${version.name}` : `/apis/${apiVersion}`;
  const namespace = definition.namespaced && !dice.chance(0.02) ? `/namespaces/${namespaceName(dice)}` : '';
  return { definition, version, apiVersion, collection: `${root}${namespace}/${definition.plural}` };
}

function anyPlace(dice: Dice): Place {
  const definition = dice.pick(definitions);
  return placeOf(dice, definition, dice.pick(definition.versions));
}

function namespaceName(dice: Dice): string {
  return dice.chance(0.95)
    ? dice.pick(namespaces)
    : dice.pick(['default', 'missing', 'kube-system', '..', '%2e%2e', 'a%2fb', 'UPPER', 'constructor']);
}

function objectName(dice: Dice): string {
  return dice.chance(0.93)
    ? dice.pick(names)
    : dice
        .pick(['constructor', '__proto__', 'a%2Fb', '%00', 'x'.repeat(260), '.', '%2e', 'ü', '*', '-'])
        .replace('ü', '%C3%BC');
}

function withMetadata(dice: Dice, object: JsonObject, place: Place, name: string): JsonObject {
  const metadata: JsonObject = {
    ...(isJsonObject(object['metadata']) ? object['metadata'] : {}),
    name,
    ...(dice.chance(0.3) && { labels: { app: dice.pick(['a', 'b']) }, annotations: { note: 'x' } }),
    ...(dice.chance(0.1) && { finalizers: ['example.com/hold'] }),
    ...(dice.chance(0.3) && { resourceVersion: liveResourceVersion }),
    ...(dice.chance(0.04) && { resourceVersion: dice.pick(['1', '0', '999999', '-1', 'x', '']) }),
    ...(dice.chance(0.03) && { uid: 'b9a1f2c4-58e6-4f0a-9a38-5b1f3f0f2a11' }),
    ...(dice.chance(0.03) && {
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'n1', uid: 'u', controller: true }],
    }),
    ...(dice.chance(0.02) && {
      managedFields: [
        {
          manager: 'm',
          operation: 'Apply',
          apiVersion: place.apiVersion,
          fieldsType: 'FieldsV1',
          fieldsV1: anyValue(dice, 3),
        },
      ],
    }),
    ...(dice.chance(0.02) && { generateName: 'gen-' }),
  };
  delete metadata['namespace'];
  if (place.definition.namespaced && dice.chance(0.3)) metadata['namespace'] = dice.pick(namespaces);
  return { apiVersion: place.apiVersion, kind: place.definition.kind, ...object, metadata };
}

interface Written {
  place: Place;
  name: string;
  object: JsonValue;
}

/** Follows the schema of a kind, or one of the samples. */
function goodObject(dice: Dice): Written {
  const name = objectName(dice);
  if (dice.chance(0.6)) {
    const sample = dice.pick(samples);
    const found = findPlace(dice, sample);
    if (found) return { place: found, name, object: withMetadata(dice, clone(sample), found, name) };
  }
  const place = anyPlace(dice);
  const body = fromSchema(dice, place.version.schema);
  return { place, name, object: withMetadata(dice, isJsonObject(body) ? body : {}, place, name) };
}

function findPlace(dice: Dice, sample: JsonObject): Place | undefined {
  const apiVersion = String(sample['apiVersion']);
  for (const definition of definitions) {
    if (definition.kind !== sample['kind']) continue;
    for (const version of definition.versions) {
      const own = definition.group === '' ? version.name : `${definition.group}/${version.name}`;
      if (own === apiVersion) return placeOf(dice, definition, version);
    }
  }
  return undefined;
}

function spoiledObject(dice: Dice): Written {
  const good = goodObject(dice);
  return { ...good, object: spoil(dice, good.object) };
}

function strangeBody(dice: Dice): Written {
  return { ...goodObject(dice), object: anyValue(dice, 4) };
}

function write(dice: Dice, make: (dice: Dice) => Written): Omit<FuzzRequest, 'protocol'> {
  const { place, name, object } = make(dice);
  const update = dice.chance(0.45);
  const { contentType, bytes } = dice.chance(0.02)
    ? { contentType: 'application/yaml', bytes: Buffer.from(dice.pick(hostileYaml)) }
    : encode(dice, object);
  const status = update && dice.chance(0.3) ? '/status' : '';
  const path = update ? `${place.collection}/${name}${status}` : place.collection;
  return {
    idea: `${update ? 'update' : 'create'} ${place.definition.kind} by ${make.name}`,
    method: update ? 'PUT' : 'POST',
    path: guarded(place, path),
    headers: [['content-type', contentType]],
    body: bytes,
  };
}

function guarded(place: Place, path: string): string {
  return dryRunOnly.has(place.definition.plural) ? `${path}?dryRun=All` : path;
}

function patch(dice: Dice): Omit<FuzzRequest, 'protocol'> {
  const { place, name, object } = goodObject(dice);
  const { contentType, bytes } = hostilePatch(dice, object);
  const status = dice.chance(0.15) ? dice.pick(['/status', '/scale', '/x']) : '';
  const path = guarded(place, `${place.collection}/${name}${status}`);
  const apply = contentType.includes('apply');
  const manager =
    apply || dice.chance(0.3)
      ? `${path.includes('?') ? '&' : '?'}fieldManager=${dice.pick(['m1', 'm2', ''])}${apply && dice.chance(0.5) ? '&force=true' : ''}`
      : '';
  return {
    idea: `patch ${place.definition.kind} (${contentType})`,
    method: 'PATCH',
    path: `${path}${manager}`,
    headers: [['content-type', contentType]],
    body: dice.chance(0.1) ? damage(dice, bytes) : bytes,
  };
}

const accepts = [
  'application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/yaml',
  'application/json;as=constructor;v=v1;g=meta.k8s.io',
  'application/cbor',
  'constructor',
  '__proto__',
  'toString',
  '*/*;q=0',
  '*/*',
  'text/html,application/xhtml+xml,*/*;q=0.8',
  `${'application/json,'.repeat(500)}x/y`,
  ';q=1',
  'application/json;q=abc;as',
];

function read(dice: Dice): Omit<FuzzRequest, 'protocol'> {
  const place = anyPlace(dice);
  const one = dice.chance(0.5);
  const path = one ? `${place.collection}/${objectName(dice)}` : place.collection;
  return {
    idea: `${one ? 'get' : 'list'} ${place.definition.kind}`,
    method: dice.pick(['GET', 'GET', 'GET', 'GET', 'HEAD']),
    path: one || dice.chance(0.4) ? path : `${path}?${listQuery(dice)}`,
    headers: [['accept', dice.pick(accepts)]],
  };
}

const selectors = [
  'app=a',
  'app==a,x!=b',
  'app in (a,b)',
  'app notin ()',
  '!app',
  'a in (',
  '=',
  ',,',
  'constructor=x',
  '__proto__',
  'a>5',
  'a<x',
  'a/b/c=d',
  `${'a=b,'.repeat(2000)}a=b`,
  'metadata.name=n1',
  'metadata.name!=n1,metadata.namespace=fuzz-a',
  'metadata.name=a\\,b',
  'spec.nodeName=x',
  'status.phase=Running',
  'constructor=constructor',
  'toString!=x',
  'metadata.constructor=x',
  'é=ü',
  '\u0000',
];

function continueToken(dice: Dice): string {
  const start = dice.pick<unknown>(['', 'fuzz-a/n1', '../x', '\u0000', 'zzz/\uffff', 5, null, { a: 1 }]);
  const rv = dice.pick<unknown>([1, 0, -1, 50, 99_999_999, 1e300, 1.5, '7', null, -999]);
  const token = { v: dice.pick<unknown>(['meta.k8s.io/v1', 'meta.k8s.io/v1', 'x', null]), rv, start };
  return dice.chance(0.85) ? Buffer.from(JSON.stringify(token)).toString('base64url') : dice.weirdText(30);
}

function listQuery(dice: Dice): string {
  const parts: string[] = [];
  const add = (name: string, value: string): void => {
    parts.push(`${name}=${encodeURIComponent(wellFormed(value))}`);
  };
  if (dice.chance(0.3)) add('labelSelector', dice.pick(selectors));
  if (dice.chance(0.3)) add('fieldSelector', dice.pick(selectors));
  if (dice.chance(0.3)) add('limit', dice.pick(['1', '2', '500', '0', '-1', '9'.repeat(15), '9'.repeat(30), 'x']));
  if (dice.chance(0.3)) add('continue', continueToken(dice));
  if (dice.chance(0.3))
    add('resourceVersion', dice.pick(['0', '1', '5', '300', '99999999', '-1', 'x', '1e3', '9'.repeat(25)]));
  if (dice.chance(0.2)) add('resourceVersionMatch', dice.pick(['Exact', 'NotOlderThan', 'x', '']));
  if (dice.chance(0.25)) {
    add('watch', dice.pick(['true', '1', '', 'false', 'x']));
    if (dice.chance(0.5)) add('timeoutSeconds', dice.pick(['1', '0', '-5', '9'.repeat(12), 'x']));
    if (dice.chance(0.3)) add('allowWatchBookmarks', dice.pick(['true', 'x']));
    if (dice.chance(0.3)) add('sendInitialEvents', dice.pick(['true', 'false']));
  }
  return parts.join('&');
}

function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

const parameters = [
  'dryRun',
  'fieldManager',
  'fieldValidation',
  'force',
  'pretty',
  'limit',
  'continue',
  'labelSelector',
  'fieldSelector',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'gracePeriodSeconds',
  'propagationPolicy',
  'orphanDependents',
  'includeObject',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'timeout',
  'exclude',
  'verbose',
  'hash',
  'tailLines',
  'follow',
  'constructor',
  '__proto__',
];
const parameterValues = [
  '',
  'true',
  'false',
  'All',
  'all',
  'Strict',
  'Warn',
  'Ignore',
  'Orphan',
  'Foreground',
  'Background',
  'None',
  'Object',
  'Metadata',
  '0',
  '-1',
  '1e9',
  '99999999999999999999',
  'x',
  '%',
  '%zz',
  '%ff%fe',
  '%00',
  'a'.repeat(200),
  '{}',
  '[]',
  'null',
];

function wrongQuery(dice: Dice): string {
  const parts: string[] = [];
  for (let i = dice.between(1, 3); i > 0; i--) parts.push(`${dice.pick(parameters)}=${dice.pick(parameterValues)}`);
  return parts.join('&');
}

function remove(dice: Dice): Omit<FuzzRequest, 'protocol'> {
  const place = anyPlace(dice);
  const collection = dice.chance(0.15);
  const options = dice.weighted<JsonValue | undefined>([
    [4, () => undefined],
    [
      3,
      () => ({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: dice.pick(['Background', 'Foreground', 'Orphan', 'x', null]),
      }),
    ],
    [
      1,
      () => ({
        preconditions: { uid: 'x', resourceVersion: dice.pick(['1', 'x', 5] as JsonValue[]) },
        gracePeriodSeconds: dice.pick([0, -1, 1.5, 1e300, 'x'] as JsonValue[]),
      }),
    ],
    [1, () => anyValue(dice, 3)],
  ]);
  // Namespaces that others write to stay; deleting our own kinds' definitions is another test.
  const named = collection ? '' : `/${objectName(dice)}`;
  return {
    idea: `delete ${place.definition.kind}`,
    method: 'DELETE',
    path: guarded(place, `${place.collection}${collection && place.definition.namespaced ? '' : named || '/n1'}`),
    headers: options === undefined ? [] : [['content-type', 'application/json']],
    ...(options !== undefined && { body: jsonBytes(dice, options) }),
  };
}

function defineKind(dice: Dice): Omit<FuzzRequest, 'protocol'> {
  const { name, crd } = hostileCrd(dice);
  const collection = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  return dice.weighted<Omit<FuzzRequest, 'protocol'>>([
    [
      5,
      () => ({
        idea: 'define a kind',
        method: 'POST',
        path: collection,
        headers: [['content-type', 'application/json']],
        body: jsonBytes(dice, crd),
      }),
    ],
    [
      2,
      () => ({
        idea: 'apply a definition',
        method: 'PATCH',
        path: `${collection}/${name}?fieldManager=f&force=true`,
        headers: [['content-type', 'application/apply-patch+yaml']],
        body: jsonBytes(dice, crd),
      }),
    ],
    [1, () => ({ idea: 'drop a kind', method: 'DELETE', path: `${collection}/${name}`, headers: [] })],
  ]);
}

function writeCustom(dice: Dice): Omit<FuzzRequest, 'protocol'> {
  const path = dice.pick(customPaths);
  const [, , group, version] = path.split('/');
  const name = dice.pick(names);
  const object = customObject(dice, name, version!, group!);
  const json: [string, string][] = [['content-type', 'application/json']];
  return dice.weighted<Omit<FuzzRequest, 'protocol'>>([
    [4, () => ({ idea: 'create a custom object', method: 'POST', path, headers: json, body: jsonBytes(dice, object) })],
    [
      2,
      () => ({
        idea: 'apply a custom object',
        method: 'PATCH',
        path: `${path}/${name}?fieldManager=f&force=true`,
        headers: [['content-type', 'application/apply-patch+yaml']],
        body: jsonBytes(dice, object),
      }),
    ],
    [
      2,
      () => ({
        idea: 'merge into a custom object',
        method: 'PATCH',
        path: `${path}/${name}`,
        headers: [['content-type', 'application/merge-patch+json']],
        body: jsonBytes(dice, { spec: anyValue(dice, 3) }),
      }),
    ],
    [
      1,
      () => ({
        idea: 'scale a custom object',
        method: dice.pick(['GET', 'PUT', 'PATCH']),
        path: `${path}/${name}/scale`,
        headers: [['content-type', dice.pick(['application/merge-patch+json', 'application/json'])]],
        body: Buffer.from('{"spec":{"replicas":3}}'),
      }),
    ],
    [
      2,
      () => ({
        idea: 'read custom objects',
        method: 'GET',
        path: dice.chance(0.5) ? path : `${path}/${name}`,
        headers: [['accept', dice.pick(accepts)]],
      }),
    ],
    [1, () => ({ idea: 'delete a custom object', method: 'DELETE', path: `${path}/${name}`, headers: [] })],
  ]);
}

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

function strangePath(dice: Dice): Omit<FuzzRequest, 'protocol'> {
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

function documents(dice: Dice): Omit<FuzzRequest, 'protocol'> {
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

function subresource(dice: Dice): Omit<FuzzRequest, 'protocol'> {
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

function hugeBody(dice: Dice): Omit<FuzzRequest, 'protocol'> {
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

function strangeHeaders(dice: Dice): [string, string][] {
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
