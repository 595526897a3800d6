import type { Duplex } from 'node:stream';
import { builtinDefinitions, builtinSchema, protobufRegistry } from '../../api/index.ts';
import { type Aggregation, type ApiServer, createApiServer, type StoredObject } from '../../apiserver/index.ts';
import { type Clock, errorMessage, type Random } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';
import type { NodeAccess } from './node-access.ts';
import type { ClusterSettings } from './settings.ts';

/** Shared by all API servers of a cluster. */
export interface ApiServerBase {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly pods: NodeAccess;
  readonly aggregation: Aggregation;
  /** opens a stream to a port of a Pod; throws if nobody listens there */
  connectPod(address: string, port: number): Duplex;
  gate(): Promise<void> | undefined;
  healthProblem(): string | undefined;
}

/** An API server shared by instances with the same settings. */
export interface ServedApi {
  readonly server: ApiServer;
  readonly settings: ClusterSettings;
  /** called when an instance no longer needs it */
  release(): void;
}

interface Entry {
  readonly settings: ClusterSettings;
  readonly making: Promise<ApiServer>;
  server: ApiServer | undefined;
  users: number;
}

/**
 * API servers over the data of one cluster: a single one for all instances with equal settings, several only during the
 * rollout of a version, authority or key.
 */
export class ApiServers {
  readonly #base: ApiServerBase;
  readonly #entries = new Map<string, Entry>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #changed: () => void;

  constructor(base: ApiServerBase, changed: () => void) {
    this.#base = base;
    this.#changed = changed;
  }

  /** the most recently started server */
  get newest(): { readonly server: ApiServer; readonly settings: ClusterSettings } | undefined {
    let newest: { server: ApiServer; settings: ClusterSettings } | undefined;
    for (const { server, settings } of this.#entries.values()) if (server) newest = { server, settings };
    return newest;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  async use(store: Store<StoredObject>, settings: ClusterSettings): Promise<ServedApi> {
    const key = JSON.stringify(settings);
    let entry = this.#entries.get(key);
    if (!entry) {
      const made: Entry = { settings, making: make(this.#base, store, settings), server: undefined, users: 0 };
      this.#entries.set(key, made);
      made.making.then(
        (server) => {
          made.server = server;
        },
        () => this.#entries.delete(key),
      );
      entry = made;
    }
    const used = entry;
    used.users++;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      used.users--;
      if (used.users === 0) this.#end(key, used);
    };
    try {
      const server = await used.making;
      this.#changed();
      return { server, settings, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #end(key: string, entry: Entry): void {
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
    this.#changed();
    const stopping = entry.making
      .then((server) => server.stop(0))
      .catch((error: unknown) =>
        this.#base.log.warn('A workload API did not stop cleanly', { error: errorMessage(error) }),
      )
      .then(() => void this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }

  /** Resolves when unused servers have stopped. */
  async settled(): Promise<void> {
    await Promise.all(this.#stopping);
  }

  async close(): Promise<void> {
    for (const [key, entry] of [...this.#entries]) this.#end(key, entry);
    await this.settled();
  }
}

function make(base: ApiServerBase, store: Store<StoredObject>, settings: ClusterSettings): Promise<ApiServer> {
  const { clock, random, log } = base;
  const nodes = settings.nodeAuthorization ?? true;
  return createApiServer({
    store,
    clock,
    random,
    definitions: builtinDefinitions,
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: {
      mode: settings.authorization ?? 'RBAC',
      clientCa: settings.clientAuthorities,
      serviceAccounts: {
        issuer: settings.serviceAccountIssuer,
        signingKeyPem: settings.serviceAccountKey,
        ...(settings.olderServiceAccountKeys && { olderKeysPem: settings.olderServiceAccountKeys }),
      },
      bootstrapTokens: settings.bootstrapTokens ?? true,
      anonymous: settings.anonymous ?? true,
      nodes,
    },
    admissionPlugins: { disable: (settings.nodeRestriction ?? true) ? [] : ['NodeRestriction'] },
    serviceCidr: settings.serviceCidr,
    version: versionInfo(settings.kubernetesVersion),
    podLogs: base.pods.logs,
    podConnector: base.pods.connect,
    podExecutor: base.pods.execute,
    podAttacher: base.pods.attach,
    aggregation: base.aggregation,
    connectWebhook: (host, port) => base.connectPod(host, port),
    gate: () => base.gate(),
    healthChecks: [
      {
        name: 'etcd',
        in: ['livez', 'readyz'],
        check: () => {
          const problem = base.healthProblem();
          if (problem !== undefined) throw new Error(problem);
        },
      },
    ],
    onError: (error, what) => log.error('Workload API failed unexpectedly', { what, error }),
  });
}

function versionInfo(version: string): { major: string; minor: string; gitVersion: string } {
  const [, major = '1', minor = '34'] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return { major, minor, gitVersion: version.startsWith('v') ? version : `v${version}` };
}
