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
import { defineKind, writeCustom } from './custom-kinds.ts';
import { type Draft, namespaces } from './draft.ts';
import { damage, encode, hostileYaml, jsonBytes } from './encode.ts';
import { documents, hugeBody, strangeHeaders, strangePath, subresource } from './odd-requests.ts';
import { hostilePatch } from './patches.ts';
import { accepts, listQuery, wrongQuery } from './query.ts';
import { anyValue, fromSchema, samples, spoil } from './samples.ts';

/** Placeholder for the resourceVersion the object had when it was last read. */
export const liveResourceVersion = '@live';

export interface FuzzRequest extends Draft {
  protocol: 'http/1.1' | 'h2';
}

const definitions: readonly ResourceDefinition[] = [...builtinDefinitions, ...ownDefinitions];
const names = ['n1', 'n1', 'n2', 'n3'];

/**
 * If stored, these would make the server call external addresses and fail with their errors, which is not tested here.
 */
const dryRunOnly = new Set([
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'apiservices',
]);

/** Returns the request of a seed. */
export function fuzzRequest(seed: number): FuzzRequest {
  const dice = rollFrom(seed);
  const request = dice.weighted<Draft>([
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
    ...(dice.chance(0.06) && { annotations: { [dice.pick(stashes)]: stash(dice) } }),
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

/** Annotations that preserve data in conversions between versions. */
const stashes = [
  'cluster.x-k8s.io/conversion-data',
  'cluster.x-k8s.io/conversion-data',
  'autoscaling.alpha.kubernetes.io/metrics',
  'autoscaling.alpha.kubernetes.io/behavior',
  'autoscaling.alpha.kubernetes.io/conditions',
];

function stash(dice: Dice): string {
  const bytes = jsonBytes(dice, dice.chance(0.7) ? spoil(dice, dice.pick(samples)) : anyValue(dice, 4));
  return (dice.chance(0.2) ? damage(dice, bytes) : bytes).toString();
}

interface Written {
  place: Place;
  name: string;
  object: JsonValue;
}

/** Builds a valid object from the schema of a kind, or from a sample. */
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

function write(dice: Dice, make: (dice: Dice) => Written): Draft {
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

function patch(dice: Dice): Draft {
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

function read(dice: Dice): Draft {
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

function remove(dice: Dice): Draft {
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
  // Shared namespaces are not deleted. Another test deletes the definitions of built-in kinds.
  const named = collection ? '' : `/${objectName(dice)}`;
  return {
    idea: `delete ${place.definition.kind}`,
    method: 'DELETE',
    path: guarded(place, `${place.collection}${collection && place.definition.namespaced ? '' : named || '/n1'}`),
    headers: options === undefined ? [] : [['content-type', 'application/json']],
    ...(options !== undefined && { body: jsonBytes(dice, options) }),
  };
}
