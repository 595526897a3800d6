import type { Clock } from '../../../machinery/index.ts';
import {
  isNotFound,
  type ObservedType,
  type ObservedTypes,
  type Observer,
  type OpenStack,
} from '../../../openstack/index.ts';

/** What is known of a project: what the shared lists showed, and what our own calls were answered since. */
export interface CloudView {
  readonly observer: Observer;
  /** as last seen, without a request */
  current<K extends ObservedType>(type: K, id: string): ObservedTypes[K] | undefined;
  /** as `current`; what is not known is asked for. Undefined when it does not exist. */
  read<K extends ObservedType>(type: K, id: string, signal?: AbortSignal): Promise<ObservedTypes[K] | undefined>;
  /** asks for it in any case */
  readAnew<K extends ObservedType>(type: K, id: string, signal?: AbortSignal): Promise<ObservedTypes[K] | undefined>;
  /** the answer to a call of ours: newer than any list read before */
  remember<K extends ObservedType>(type: K, thing: ObservedTypes[K]): void;
  forget(type: ObservedType, id: string): void;
}

interface Answered {
  readonly thing: unknown;
  readonly at: number;
}

/** Longer than any pause between lists of something somebody follows. */
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
    // oldest first, as a Map keeps them: what is too old goes, and what is too much
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
    // a list that was under way when our call was answered may show what was before it
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
