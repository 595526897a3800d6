import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry } from '../../api/index.ts';
import { type ApiServer, controllerBackedPlugins, createApiServer, openObjectStore } from '../../apiserver/index.ts';
import type { DiscoveredResource, RestMapper } from '../../client/index.ts';
import { systemClock } from '../../machinery/index.ts';
import { nullLogger } from '../../runtime/index.ts';
import { memoryEngine } from '../../store/index.ts';
import type { Connection } from '../connection.ts';
import type { CommandContext } from '../context.ts';

/** A management API in memory, as a verb sees it. */
export interface MemoryApi {
  server: ApiServer;
  connection: Connection;
  /** the newest revision: moves with every write */
  revision(): number;
  close(): Promise<void>;
}

export async function startMemoryApi(overrides: Partial<Connection> = {}): Promise<MemoryApi> {
  const store = await openObjectStore({ engine: memoryEngine() });
  const server = await createApiServer({
    store,
    definitions: [...builtinDefinitions, ...ownDefinitions],
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
      where: 'memory (context test)',
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

/** What discovery would tell, straight from the registry. */
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
    resolve: async (name) => all().find(({ plural, group }) => `${plural}.${group}` === name)!,
    forKind: async ({ group, kind, version }) =>
      all().find(
        (resource) =>
          resource.group === group && resource.kind === kind && (version === undefined || resource.version === version),
      ),
    all: async () => ({ resources: all(), failedGroupVersions: [] }),
    invalidate: () => {},
  };
}

/** A context that remembers what was said. */
export interface RecordingContext extends CommandContext {
  out(): string;
  err(): string;
  stop(): void;
}

export function recordingContext(input = ''): RecordingContext {
  let out = '';
  let err = '';
  const controller = new AbortController();
  return {
    env: {},
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    readInput: async () => input,
    interactive: false,
    colour: false,
    clock: systemClock,
    log: nullLogger,
    signal: controller.signal,
    stopped: new Promise(() => {}),
    out: () => out,
    err: () => err,
    stop: () => controller.abort(),
  };
}
