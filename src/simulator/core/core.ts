import type { Clock, Random } from '../../machinery/index.ts';
import type { CatalogEntry } from './catalog.ts';
import type { MachineHost, Services } from './contracts.ts';
import { Faults } from './faults/faults.ts';
import type { FaultRule } from './faults/rule.ts';
import { createIds, type Ids } from './ids.ts';
import { Jobs } from './jobs.ts';
import { Quotas } from './quotas.ts';
import { RequestCounts } from './request-counts.ts';
import { State } from './state/state.ts';
import { type TimingOptions, Timings } from './timings.ts';

export interface CoreOptions extends TimingOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults?: readonly FaultRule[];
  /** the region of every endpoint */
  readonly region?: string;
  /** what boots behind the servers; none: they are ACTIVE and silent */
  readonly machineHost?: MachineHost;
  /** how long tokens are good, in milliseconds; a day */
  readonly tokenLifeMs?: number;
  /** unexpected errors: bugs of the simulator */
  readonly onError?: (error: unknown, what: string) => void;
}

/** What every service of a cloud is built on. */
export interface Core {
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly state: State;
  readonly jobs: Jobs;
  readonly ids: Ids;
  readonly timings: Timings;
  readonly faults: Faults;
  readonly quotas: Quotas;
  /** the other services; each is there once all rooms are built, not while they are */
  readonly services: Readonly<Services>;
  /** requests answered so far */
  readonly counts: RequestCounts;
  /** every service there is, once all rooms are built */
  readonly catalog: CatalogEntry[];
  readonly machineHost: MachineHost | undefined;
  /** Puts a host behind the servers, before the first of them starts. */
  useMachineHost(host: MachineHost): void;
  readonly tokenLifeMs: number;
  now(): number;
  onError(error: unknown, what: string): void;
  /** Has something done when a saved cloud was loaded. */
  atReturn(work: () => void): void;
  readonly returns: readonly (() => void)[];
  /** Has something done in the first transaction of a new cloud. */
  atBirth(work: () => void): void;
  /** what rooms asked to have done in a new cloud */
  readonly birth: readonly (() => void)[];
  /** A room makes its inner interface known to the others. */
  provide<K extends keyof Services>(name: K, service: Services[K]): void;
}

export function createCore(options: CoreOptions): Core {
  const { clock, random } = options;
  const state = new State();
  const onError = options.onError ?? (() => {});
  const services = {} as Services;
  const birth: (() => void)[] = [];
  const returns: (() => void)[] = [];
  let machineHost = options.machineHost;
  const jobs = new Jobs({ state, clock, onError: (error, job) => onError(error, `job ${job.kind} of ${job.subject}`) });
  return {
    clock,
    random,
    region: options.region ?? 'RegionOne',
    state,
    jobs,
    ids: createIds(random),
    timings: new Timings(random, options),
    faults: new Faults(options.faults),
    quotas: new Quotas(state),
    services,
    counts: new RequestCounts(),
    catalog: [],
    get machineHost() {
      return machineHost;
    },
    useMachineHost: (host) => {
      machineHost = host;
    },
    tokenLifeMs: options.tokenLifeMs ?? 24 * 60 * 60 * 1000,
    now: () => clock.now(),
    onError,
    birth,
    returns,
    atReturn: (work) => void returns.push(work),
    atBirth: (work) => void birth.push(work),
    provide: (name, service) => {
      services[name] = service;
    },
  };
}
