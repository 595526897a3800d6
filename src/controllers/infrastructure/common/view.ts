import type { Clock } from '../../../machinery/index.ts';
import {
  isNotFound,
  type ObservedType,
  type ObservedTypes,
  type Observer,
  type OpenStack,
} from '../../../openstack/index.ts';

/** Knowledge about a project, from shared lists and responses to own calls. */
export interface CloudView {
  readonly observer: Observer;
  /** last known state, without a request */
  current<K extends ObservedType>(type: K, id: string): ObservedTypes[K] | undefined;
  /** like `current`, but requests unknown resources; undefined if it does not exist */
  read<K extends ObservedType>(type: K, id: string, signal?: AbortSignal): Promise<ObservedTypes[K] | undefined>;
  /** always sends a request */
  readAnew<K extends ObservedType>(type: K, id: string, signal?: AbortSignal): Promise<ObservedTypes[K] | undefined>;
  /** stores the response to an own call, which is newer than any earlier list */
  remember<K extends ObservedType>(type: K, thing: ObservedTypes[K]): void;
  forget(type: ObservedType, id: string): void;
}

interface Answered {
  readonly thing: unknown;
  readonly at: number;
}

/** Longer than the interval between lists of a followed resource. */
const keepMs = 15 * 60_000;
const maxRemembered = 20_000;

type Getters = { [K in ObservedType]: (id: string, signal?: AbortSignal) => Promise<ObservedTypes[K]> };

export function createCloudView(cloud: OpenStack, observer: Observer, clock: Clock): CloudView {
  const answers = new Map<string, Answered>();
  const get = gettersOf(cloud);
  const keyOf = (type: ObservedType, id: string): string => `${type}/${id}`;

  const remember = <K extends ObservedType>(type: K, thing: ObservedTypes[K]): void => {
    const now = clock.now();
    observer.note(type, thing);
    // Maps iterate in insertion order, oldest first: drop entries that are too old or exceed the limit
    for (const [key, { at }] of answers) {
      if (now - at < keepMs && answers.size < maxRemembered) break;
      answers.delete(key);
    }
    const key = keyOf(type, thing.id);
    answers.delete(key);
    answers.set(key, { thing, at: now });
  };

  const current = <K extends ObservedType>(type: K, id: string): ObservedTypes[K] | undefined => {
    const key = keyOf(type, id);
    const answered = answers.get(key);
    if (!answered) return observer.current(type, id);
    // a list that was running when our call returned may show the older state
    if ((observer.asOf(type, id) ?? 0) <= answered.at) return answered.thing as ObservedTypes[K];
    answers.delete(key);
    return observer.current(type, id);
  };

  const readAnew = async <K extends ObservedType>(
    type: K,
    id: string,
    signal?: AbortSignal,
  ): Promise<ObservedTypes[K] | undefined> => {
    try {
      const thing = await get[type](id, signal);
      remember(type, thing);
      return thing;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      answers.delete(keyOf(type, id));
      return undefined;
    }
  };

  return {
    observer,
    current,
    readAnew,
    remember,
    async read(type, id, signal) {
      return current(type, id) ?? (await readAnew(type, id, signal));
    },
    forget: (type, id) => void answers.delete(keyOf(type, id)),
  };
}

function gettersOf({ compute, network, volume, loadBalancer }: OpenStack): Getters {
  return {
    server: (id, signal) => compute.servers.get(id, { signal }),
    port: (id, signal) => network.ports.get(id, { signal }),
    volume: (id, signal) => volume.volumes.get(id, { signal }),
    loadBalancer: (id, signal) => loadBalancer.loadBalancers.get(id, { signal }),
    floatingIp: (id, signal) => network.floatingIps.get(id, { signal }),
    network: (id, signal) => network.networks.get(id, { signal }),
    router: (id, signal) => network.routers.get(id, { signal }),
    securityGroup: (id, signal) => network.securityGroups.get(id, { signal }),
  };
}
