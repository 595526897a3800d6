import { remoteApiPace } from '../../src/cli/controller/run-controllers.ts';
import { ApiUnreachableError, type Client, dropManagedFields } from '../../src/client/index.ts';
import type { BuiltInHookHandler, ConnectWorkload } from '../../src/controllers/index.ts';
import {
  createHookCaller,
  partedSecrets,
  setupAddonControllers,
  setupBootstrapControllers,
  setupClusterControllers,
  setupControlPlaneControllers,
  setupInfrastructureControllers,
  setupTopologyControllers,
} from '../../src/controllers/index.ts';
import type { Clock, KubeObject, Random, Resource } from '../../src/machinery/index.ts';
import { seededRandom } from '../../src/machinery/index.ts';
import type { Transport } from '../../src/openstack/index.ts';
import { createManager, type Logger, type Manager, type RuntimeMetrics } from '../../src/runtime/index.ts';
import { faultyClient } from '../../src/runtime/testkit/index.ts';
import type { InProcessApi } from '../../src/simkube/index.ts';
import { connectPods, type SystemPods } from './hosted-pods.ts';
import type { Line } from './line.ts';
import { Life } from './mortal.ts';
import { slowWrites } from './slow-writes.ts';

/** Parts of a controller process, for additional controllers. */
export interface LifeParts {
  readonly manager: Manager;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly life: Life;
  readonly transport: Transport;
}

/** Adds controllers. Returns how to close what was opened for them. */
export type Beside = (parts: LifeParts) => { close(): Promise<void> };

export interface LivesOptions {
  readonly seed: number;
  readonly clock: Clock;
  readonly random: Random;
  /** client with the rights of the controllers */
  readonly client: Client;
  /** uses HTTP instead of the client */
  readonly line?: Line;
  readonly counts: { requests: number; mutations: number; writes: number; lives: number };
  readonly faults: { readonly probability: number };
  readonly activity: { count: number };
  onWrite(...what: readonly unknown[]): void;
  readonly transport: Transport;
  readonly dial: (kubeconfig: string) => Promise<InProcessApi>;
  readonly pods?: SystemPods;
  readonly hooks: readonly BuiltInHookHandler[];
  readonly metrics: RuntimeMetrics;
  readonly log: Logger;
  readonly beside?: Beside;
}

/** Controller processes of one management API, one after the other. */
export interface Lives {
  /** kills the controllers at one of their next calls; others start */
  crashSoon(within: number): void;
  /** kills the controllers at once; others start only after `resume` */
  hold(): void;
  resume(): void;
  end(): void;
}

export function startLives(options: LivesOptions): Lives {
  const { seed, clock, random, counts, activity, faults, pods, log, metrics } = options;
  let life: Life;
  let isHeld = false;
  const begin = (): void => {
    counts.lives++;
    const halt = new AbortController();
    const own = new Life(activity, () => {
      halt.abort();
      // Restarts automatically, like a supervisor.
      if (!isHeld) clock.after(1_000, revive);
    });
    life = own;
    const lifeRandom = seededRandom(seed + 1_000 * counts.lives);
    const api = options.line
      ? options.line.client(own, lifeRandom)
      : unreliable(options.client, faults, seededRandom(seed + 7 * counts.lives));
    const mortal = own.client(slowWrites(watchWrites(api, options.onWrite), clock));
    const manager = createManager({
      client: mortal,
      ...(options.line && { ...remoteApiPace, parted: [partedSecrets], transform: dropManagedFields }),
      clock,
      random: lifeRandom,
      log,
      metrics,
      gracefulStopMs: 1,
    });
    const common = { client: mortal, clock, random: lifeRandom };
    const connectWorkload: ConnectWorkload = async (kubeconfig) => {
      const api = await own.call(() => options.dial(kubeconfig));
      return {
        client: own.client(api.client),
        probe: (signal) => own.call(() => api.probe(signal)),
        portForward: async (pod, port) =>
          own.duplex(await own.call(() => api.portForward({ namespace: pod.namespace ?? '', name: pod.name }, port))),
        close: () => api.close(),
      };
    };
    const shared = setupClusterControllers(manager, { ...common, connectWorkload, topologies: true });
    // Pending hook delays are lost with the process.
    const hookCaller = createHookCaller({ clock, builtIn: options.hooks });
    setupTopologyControllers(manager, { ...common, externals: shared.externals, hooks: hookCaller });
    setupAddonControllers(manager, { ...common, ...shared });
    setupBootstrapControllers(manager, { ...common, ...shared });
    setupControlPlaneControllers(manager, {
      ...common,
      ...shared,
      connectWorkload,
      ...(pods && { connectPod: connectPods(pods, mortal, own) }),
    });
    const transport = own.transport((request) => {
      counts.requests++;
      if (request.method !== 'GET' && !request.url.includes('/auth/tokens')) counts.mutations++;
      return options.transport(request);
    });
    const infrastructure = setupInfrastructureControllers(manager, {
      ...common,
      workloads: shared.workloads,
      transport,
    });
    const beside = options.beside?.({ manager, ...common, life: own, transport });
    const close = (): void => {
      for (const part of [infrastructure, beside]) void part?.close().catch(() => {});
    };
    halt.signal.addEventListener('abort', close, { once: true });
    void manager.run(halt.signal).catch(() => {});
  };
  const revive = (): void => {
    if (!isHeld && life.isDead) begin();
  };
  const hold = (): void => {
    isHeld = true;
    life.kill();
  };
  begin();
  return {
    crashSoon: (within) => life.dieSoon(random, within),
    hold,
    resume() {
      isHeld = false;
      revive();
    },
    end: hold,
  };
}

/** Calls `onWrite` with the verb, the resource, the name and the content of every write. */
export function watchWrites(client: Client, onWrite: (...what: unknown[]) => void): Client {
  const tell = (verb: string, { plural }: Resource, ...what: unknown[]): void => {
    onWrite(verb, plural, ...what);
  };
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: <T extends KubeObject>(resource: Resource<T>, object: T, options: Parameters<Client['create']>[2]) => {
      tell('create', resource, object.metadata.name, object);
      return client.create(resource, object, options);
    },
    update: (resource, object, options) => {
      tell('update', resource, object.metadata.name);
      return client.update(resource, object, options);
    },
    patch: (resource, key, type, patch, options) => {
      tell('patch', resource, key.name, patch, options.subresource);
      return client.patch(resource, key, type, patch, options);
    },
    apply: (resource, object, options) => {
      tell('apply', resource, object.metadata.name, object);
      return client.apply(resource, object, options);
    },
    delete: (resource, key, options) => {
      tell('delete', resource, key.name);
      return client.delete(resource, key, options);
    },
    deleteCollection: (resource, options) => {
      tell('deleteCollection', resource);
      return client.deleteCollection(resource, options);
    },
    createSubresource: (resource, key, subresource, body, options) => {
      tell(`create ${subresource} of`, resource, key.name);
      return client.createSubresource(resource, key, subresource, body, options);
    },
  };
}

/** Wraps a client so that calls fail randomly: refused, or executed with the answer lost. */
export function unreliable(client: Client, faults: { readonly probability: number }, random: Random): Client {
  const chance = (): Random => ({ ...random, next: () => (random.next() < faults.probability ? 0 : 1) });
  const error = (): Error => new ApiUnreachableError('read ECONNRESET');
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'apply', 'delete'] as const;
  return faultyClient(
    client,
    [
      { verb: verbs, probability: 0.5, when: 'before', error },
      { verb: verbs, probability: 0.5, when: 'after', error },
    ],
    chance(),
  );
}
