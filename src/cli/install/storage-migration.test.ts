import { beforeEach, describe, expect, it } from 'vitest';
import { type CustomResourceDefinition, CustomResourceDefinitions } from '../../api/index.ts';
import { type KubeObject, type Resource, statusError } from '../../machinery/index.ts';
import { type MemoryClient, memoryClient } from '../../runtime/testkit/index.ts';
import { migrateStorage, needsMigration } from './storage-migration.ts';

const { signal } = new AbortController();
const name = 'things.example.org';
const things: Resource<KubeObject> = {
  group: 'example.org',
  version: 'v2',
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
};
const definition = (storedVersions: string[]): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name },
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      { name: 'v1', served: true, storage: false },
      { name: 'v2', served: true, storage: true },
    ],
  },
  status: { storedVersions },
});

let client: MemoryClient;
beforeEach(() => {
  client = memoryClient();
  client.seed(CustomResourceDefinitions, definition(['v1', 'v2']));
  for (let index = 0; index < 450; index++) {
    const metadata = { namespace: 'default', name: `thing-${index}` };
    client.seed(things, { apiVersion: 'example.org/v2', kind: 'Thing', metadata });
  }
});

const migrate = async (over: MemoryClient = client): Promise<string[]> => {
  const lines: string[] = [];
  await migrateStorage(over, () => true, {
    signal,
    onMigrated: (kind, objects, version) => lines.push(`${kind} ${objects} ${version}`),
    onRefused: (kind, reason) => lines.push(`${kind} refused: ${reason}`),
  });
  return lines;
};
const storedVersions = async (): Promise<string[] | undefined> =>
  (await client.get(CustomResourceDefinitions, { name })).status?.storedVersions;
const written = (): number => client.writes().filter(({ resource }) => resource === 'things.example.org').length;

describe('storage migration of a kind', () => {
  it('is needed only when objects may be stored in an older version', () => {
    expect(needsMigration(definition(['v2']))).toBe(false);
    expect(needsMigration(definition(['v1', 'v2']))).toBe(true);
    expect(needsMigration(definition(['v1']))).toBe(true);
  });

  it('rewrites all objects in pages and updates storedVersions', async () => {
    expect(await migrate()).toEqual([`${name} 450 v2`]);
    expect(written()).toBe(450);
    expect(client.requests.filter(({ verb, resource }) => verb === 'list' && resource === name).length).toBe(3);
    expect(await storedVersions()).toEqual(['v2']);
    expect(await migrate()).toEqual([]);
  });

  it('keeps storedVersions while an object cannot be written, and continues later', async () => {
    const refusing = new Proxy(client, {
      get(target, member, receiver) {
        const value: unknown = Reflect.get(target, member, receiver);
        if (member !== 'patch') return value;
        return async (resource: Resource, key: { name: string }, ...rest: never[]) => {
          if (key.name === 'thing-7') throw statusError.badRequest('no');
          return await (value as (...args: unknown[]) => Promise<unknown>)(resource, key, ...rest);
        };
      },
    });
    expect(await migrate(refusing)).toEqual([`${name} refused: no`]);
    expect(await storedVersions()).toEqual(['v1', 'v2']);
    expect(await migrate()).toEqual([`${name} 450 v2`]);
    expect(await storedVersions()).toEqual(['v2']);
  });

  it('keeps storedVersions when the storage version changed meanwhile', async () => {
    const changing = new Proxy(client, {
      get(target, member, receiver) {
        const value: unknown = Reflect.get(target, member, receiver);
        if (member !== 'get') return value;
        return async () => {
          const found = definition(['v1', 'v2']);
          return { ...found, spec: { ...found.spec, versions: [{ name: 'v3', served: true, storage: true }] } };
        };
      },
    });
    expect(await migrate(changing)).toEqual([expect.stringContaining('stores in another version since')]);
    expect(await storedVersions()).toEqual(['v1', 'v2']);
  });
});
