import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry } from '../api/index.ts';
import { type ApiServer, controllerBackedPlugins, createApiServer, openObjectStore } from '../apiserver/index.ts';
import type { DiscoveredResource, RestMapper } from '../client/index.ts';
import { clone, type JsonObject, must, type ResourceDefinition } from '../machinery/index.ts';
import { memoryEngine } from '../store/index.ts';
import type { Connection } from './connection.ts';

/** A management API in memory, whose data is lost with the process. */
export interface MemoryApi {
  server: ApiServer;
  connection: Connection;
  /** newest revision, which increases with every write */
  revision(): number;
  close(): Promise<void>;
}

/**
 * Removes the published schema of a definition. Publishing would take longer than a typical use of this API and adds no
 * validation.
 */
export function withoutPublishedSchema(definition: ResourceDefinition): ResourceDefinition {
  if (!definition.crd) return definition;
  const crd = clone(definition.crd);
  for (const version of (crd['spec'] as { versions: { schema: JsonObject }[] }).versions) {
    version.schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  }
  return { ...definition, crd };
}

export async function startMemoryApi(
  overrides: Partial<Connection> = {},
  own: readonly ResourceDefinition[] = ownDefinitions,
): Promise<MemoryApi> {
  const store = await openObjectStore({ engine: memoryEngine() });
  const server = await createApiServer({
    store,
    definitions: [...builtinDefinitions, ...own],
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    admissionPlugins: { disable: controllerBackedPlugins },
    access: { mode: 'RBAC' },
  });
  return {
    server,
    connection: {
      client: server.localClient(),
      mapper: registryMapper(server),
      namespace: 'default',
      namespaceGiven: false,
      where: 'memory',
      serverVersion: async () => 'v1.34.0+capstan',
      ...overrides,
    },
    revision: () => store.revision,
    async close() {
      await server.stop(0);
      await store.close();
    },
  };
}

/** Builds a REST mapper from the registry instead of discovery. */
export function registryMapper({ registry }: Pick<ApiServer, 'registry'>): RestMapper {
  const all = (): DiscoveredResource[] =>
    [...registry.all()].flatMap(({ definition }) =>
      definition.versions
        .filter(({ served }) => served)
        .map(({ name }) => ({
          group: definition.group,
          version: name,
          kind: definition.kind,
          plural: definition.plural,
          namespaced: definition.namespaced,
          singular: definition.kind.toLowerCase(),
          shortNames: [],
          categories: [],
          verbs: [],
          subresources: [],
        })),
    );
  return {
    resolve: async (name) =>
      must(
        all().find(({ plural, group }) => `${plural}.${group}` === name),
        `the resource ${name}`,
      ),
    forKind: async ({ group, kind, version }) =>
      all().find(
        (resource) =>
          resource.group === group && resource.kind === kind && (version === undefined || resource.version === version),
      ),
    all: async () => ({ resources: all(), failedGroupVersions: [] }),
    invalidate: () => {},
  };
}
