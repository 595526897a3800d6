import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseYamlDocuments,
  type Schema,
} from '../../../src/machinery/index.ts';
import type { Dice } from '../../support/rough/dice.ts';

/** Valid objects, sent as they are or mutated first. */
export const samples: readonly JsonObject[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1', b: 'two' }, binaryData: { c: 'AAEC' } },
  { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', data: { password: 'aHVudGVyMg==' } },
  { apiVersion: 'v1', kind: 'ServiceAccount', automountServiceAccountToken: false },
  { apiVersion: 'v1', kind: 'Namespace' },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    spec: {
      containers: [
        {
          name: 'main',
          image: 'registry.example/app:1',
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: '100m', memory: '64Mi' } },
          env: [{ name: 'A', value: 'b' }],
        },
      ],
    },
  },
  { apiVersion: 'v1', kind: 'Service', spec: { selector: { app: 'a' }, ports: [{ port: 80, targetPort: 'http' }] } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' } },
        spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-01-02T03:04:05.000006Z' },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'fuzz-a' },
    reason: 'R',
    message: 'm',
    type: 'Normal',
  },
  {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    eventTime: '2026-01-02T03:04:05.000006Z',
    action: 'A',
    reason: 'R',
    reportingController: 'c',
    reportingInstance: 'i',
    type: 'Normal',
    regarding: { namespace: 'fuzz-a' },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' }],
  },
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' } },
  },
  {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods' } },
  },
  { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: 'default' } },
  { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'eyJhbGciOiJSUzI1NiJ9.e30.AA' } },
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'example.com/p' },
  { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', spec: { podSelector: {}, ingress: [{}] } },
  {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    spec: {
      schedule: '*/5 * * * *',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
      },
    },
  },
  ...ownManifests(),
];

/** Test manifests of the project's kinds in old versions. */
function ownManifests(): JsonObject[] {
  return ['hosted-kamaji.yaml', 'hosted-k0smotron.yaml', 'kubeadm-v1alpha3.yaml'].flatMap((name) => {
    const path = fileURLToPath(new URL(`../../../src/api/testdata/${name}`, import.meta.url));
    return parseYamlDocuments(readFileSync(path, 'utf8')).flatMap(({ value }) => (isJsonObject(value) ? [value] : []));
  });
}

/** Builds an object that mostly follows a schema. */
export function fromSchema(dice: Dice, schema: Schema): JsonValue {
  const budget = { nodes: dice.between(5, 80) };
  return make(dice, schema, budget, 0);
}

function make(dice: Dice, schema: Schema, budget: { nodes: number }, depth: number): JsonValue {
  budget.nodes--;
  if (dice.chance(0.02)) return anyValue(dice, 2);
  const node = schema.allOf?.[0] && !schema.properties && !schema.type ? schema.allOf[0] : schema;
  if (node.enum && node.enum.length > 0) return dice.pick(node.enum);
  if (node['x-kubernetes-int-or-string']) return dice.pick<JsonValue>([1, 80, '25%', 'http', '1Gi', '100m', '-1']);
  switch (node.type) {
    case 'object':
      return makeObject(dice, node, budget, depth);
    case 'array':
      return Array.from({ length: budget.nodes > 0 ? dice.between(node.minItems ?? 0, 2) : 0 }, () =>
        node.items ? make(dice, node.items, budget, depth + 1) : {},
      );
    case 'string':
      return makeText(dice, node);
    case 'integer':
      return dice.pick([0, 1, 2, 3, 80, 443, node.minimum ?? 1, node.maximum ?? 10, dice.between(0, 70_000)]);
    case 'number':
      return dice.pick([0, 1.5, 2, 1e3]);
    case 'boolean':
      return dice.chance(0.5);
    default:
      return node.properties || node.additionalProperties ? makeObject(dice, node, budget, depth) : anyValue(dice, 2);
  }
}

function makeObject(dice: Dice, schema: Schema, budget: { nodes: number }, depth: number): JsonObject {
  const object: JsonObject = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (depth === 0 && (name === 'apiVersion' || name === 'kind' || name === 'metadata')) continue;
    const required = schema.required?.includes(name) ?? false;
    const wanted = budget.nodes > 0 && dice.chance(depth === 0 ? 0.7 : 0.25);
    if ((required && !dice.chance(0.01)) || wanted) object[name] = make(dice, member, budget, depth + 1);
  }
  if (typeof schema.additionalProperties === 'object' && budget.nodes > 0) {
    for (let i = dice.between(0, 2); i > 0; i--) {
      object[dice.pick(['a', 'key', 'example.com/b', 'constructor', '__proto__', 'toString', 'cpu'])] = make(
        dice,
        schema.additionalProperties,
        budget,
        depth + 1,
      );
    }
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] && dice.chance(0.5)) object['free'] = anyValue(dice, 3);
  return object;
}

const texts = [
  'a',
  'name-1',
  'x.example.com',
  '10.0.0.1',
  '10.0.0.0/24',
  'fd00::1',
  'v1.34.2',
  'ReadWriteOnce',
  'TCP',
  'Always',
  '1Gi',
  '5m',
  '2026-01-02T03:04:05Z',
  'b9a1f2c4-58e6-4f0a-9a38-5b1f3f0f2a11',
  'https://example.com/path',
  'https://xn--a.example',
  '*/5 * * * *',
  'aGVsbG8=',
  '',
];

function makeText(dice: Dice, schema: Schema): string {
  if (schema.format === 'date-time') return dice.pick(['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.123456Z', 'now']);
  if (schema.format === 'byte') return dice.pick(['aGVsbG8=', '', '@@']);
  return dice.chance(0.9) ? dice.pick(texts) : dice.weirdText(40);
}

/** Boundary values of numbers and strings. */
export const edgeValues: readonly JsonValue[] = [
  0,
  -1,
  1e308,
  -1e308,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 63,
  1.5,
  1e-320,
  '',
  ' ',
  '\u0000',
  '\ud800',
  'constructor',
  '__proto__',
  'toString',
  'a'.repeat(300),
  'a'.repeat(5000),
  null,
  true,
  false,
  [],
  {},
  [[]],
  [null],
  { '': '' },
  { constructor: { prototype: { polluted: true } } },
];

export function anyValue(dice: Dice, depth: number): JsonValue {
  if (depth === 0 || dice.chance(0.5)) return dice.chance(0.8) ? dice.pick(edgeValues) : dice.weirdText(30);
  if (dice.chance(0.3)) return Array.from({ length: dice.between(0, 4) }, () => anyValue(dice, depth - 1));
  const object: JsonObject = {};
  for (let i = dice.between(0, 4); i > 0; i--) object[anyKey(dice)] = anyValue(dice, depth - 1);
  return object;
}

const keys = [
  'metadata',
  'spec',
  'status',
  'name',
  'namespace',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'managedFields',
  'resourceVersion',
  'uid',
  'generateName',
  'deletionTimestamp',
  'creationTimestamp',
  'generation',
  'kind',
  'apiVersion',
  'items',
  'data',
  '$patch',
  '$retainKeys',
  '$setElementOrder/containers',
  '$deleteFromPrimitiveList/finalizers',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'valueOf',
  '',
  'a.b',
  'a/b',
  '~0~1',
  '-1',
];

export function anyKey(dice: Dice): string {
  return dice.chance(0.9) ? dice.pick(keys) : dice.weirdText(12);
}

/** Changes a few random places in a value. */
export function spoil(dice: Dice, value: JsonValue): JsonValue {
  let result = value;
  for (let i = dice.between(1, 3); i > 0; i--) result = spoilOnce(dice, result, dice.between(0, 6));
  return result;
}

function spoilOnce(dice: Dice, value: JsonValue, depth: number): JsonValue {
  if (depth === 0 || typeof value !== 'object' || value === null)
    return dice.chance(0.6) ? dice.pick(edgeValues) : anyValue(dice, 3);
  if (Array.isArray(value)) {
    if (value.length === 0) return [anyValue(dice, 2)];
    const index = dice.between(0, value.length - 1);
    return dice.weighted<JsonValue>([
      [4, () => value.map((item, i) => (i === index ? spoilOnce(dice, item, depth - 1) : item))],
      [1, () => [...value, ...value]],
      [1, () => value.filter((_, i) => i !== index)],
      [1, () => Object.fromEntries(value.map((item, i) => [String(i), item]))],
    ]);
  }
  const names = Object.keys(value);
  if (names.length === 0) return { [anyKey(dice)]: anyValue(dice, 2) };
  const name = dice.pick(names);
  return dice.weighted<JsonValue>([
    [6, () => ({ ...value, [name]: spoilOnce(dice, value[name]!, depth - 1) })],
    [2, () => ({ ...value, [anyKey(dice)]: anyValue(dice, 3) })],
    [1, () => Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))],
    [1, () => [value]],
    [1, () => JSON.stringify(value)],
  ]);
}
