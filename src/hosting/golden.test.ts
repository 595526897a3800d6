import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinDefinitions, builtinSchema, Namespaces, ownDefinitions, protobufRegistry } from '../api/index.ts';
import { controllerBackedPlugins, createApiServer, openObjectStore } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import {
  asTyped,
  formatYaml,
  type JsonValue,
  type KubeObject,
  ManualClock,
  parseApiVersion,
  type Resource,
  seededRandom,
} from '../machinery/index.ts';
import { memoryEngine } from '../store/index.ts';
import { certificatePlan, type PlaneSpec, planeObjects, workloadObjects } from './index.ts';
import { factsOf, hostedPlaneSpec, k0smotronPlaneSpec, kamajiPlaneSpec } from './testing/specs.ts';

// Golden files of all objects generated from the guides' manifests. CAPSTAN_UPDATE_GOLDEN=1 rewrites them.
const directory = fileURLToPath(new URL('./testdata/', import.meta.url));

const planes: readonly (readonly [name: string, desired: PlaneSpec])[] = [
  ['k0smotron', k0smotronPlaneSpec()],
  ['kamaji', kamajiPlaneSpec()],
  ['hosted', hostedPlaneSpec()],
];

const plain = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;
const documents = (objects: readonly unknown[]): string =>
  objects.map((object) => formatYaml(plain(object))).join('---\n');

function textsOf(desired: PlaneSpec): Record<string, string> {
  const facts = factsOf(desired);
  const objects = planeObjects(desired, facts);
  return {
    objects: Object.entries(objects)
      .map(([phase, list]) => `# ${phase}\n${documents(list)}`)
      .join('---\n'),
    certificates: documents(certificatePlan(desired, facts)),
    ...(desired.layout !== 'k0s' && {
      workload: documents(workloadObjects(desired, facts).map(({ object, ...how }) => ({ ...how, object }))),
    }),
  };
}

const cases = planes.flatMap(([name, desired]) =>
  Object.entries(textsOf(desired)).map(([part, text]) => ({ file: `${name}.${part}.yaml`, text })),
);

describe.each(cases)('$file', ({ file, text }) => {
  it('matches what follows from the spec', () => {
    const path = `${directory}${file}`;
    if (process.env['CAPSTAN_UPDATE_GOLDEN'] === '1') writeFileSync(path, text);
    expect(existsSync(path), `${path} is missing; run with CAPSTAN_UPDATE_GOLDEN=1`).toBe(true);
    expect(text).toBe(readFileSync(path, 'utf8'));
  });
});

it('there are no golden files that no case makes', () => {
  expect(readdirSync(directory).sort()).toEqual(cases.map(({ file }) => file).sort());
});

describe('a real API server of Capstan', () => {
  const clock = new ManualClock();
  let client: Client;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const store = await openObjectStore({ engine: memoryEngine(), clock });
    const server = await createApiServer({
      store,
      clock,
      random: seededRandom(1),
      definitions: [...builtinDefinitions, ...ownDefinitions],
      admissionPlugins: { disable: controllerBackedPlugins },
      metaSchema: builtinSchema,
      protobuf: protobufRegistry,
      access: { mode: 'RBAC' },
    });
    client = server.localClient();
    close = async () => {
      await server.stop(0);
      await store.close();
    };
  });

  afterAll(() => close());

  it.each(planes)('accepts all objects of %s', async (provider, desired) => {
    const facts = factsOf(desired);
    const all = [
      ...Object.values(planeObjects(desired, facts)).flat(),
      ...workloadObjects(desired, facts).map(({ object }) => object),
      // k0s custom resources are served only in clusters with k0s
    ].filter(({ apiVersion }) => !apiVersion.startsWith('k0s.k0sproject.io/'));
    const definitions = [...builtinDefinitions, ...ownDefinitions];
    for (const namespace of new Set(all.map(({ metadata }) => metadata.namespace ?? ''))) {
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
      if (namespace !== '') await client.apply(Namespaces, object, { fieldManager: 'test', force: true });
    }
    const names = new Set<string>();
    for (const object of all) {
      const { group, version } = parseApiVersion(object.apiVersion);
      const definition = definitions.find((one) => one.group === group && one.kind === object.kind);
      expect(definition, `${object.apiVersion} ${object.kind}`).toBeDefined();
      const { kind, plural, namespaced } = definition!;
      const resource: Resource<KubeObject> = { group, version, kind, plural, namespaced };
      const applied = await client.apply(resource, asTyped<KubeObject>(plain(object)), {
        fieldManager: provider,
        force: true,
      });
      expect(applied.metadata.name).toBe(object.metadata.name);
      names.add(`${kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`);
    }
    expect(names.size).toBe(all.length);
  });
});
