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
  /** region of all endpoints */
  readonly region?: string;
  /** machine host behind the servers; without it servers become ACTIVE but run nothing */
  readonly machineHost?: MachineHost;
  /** lifetime of tokens in milliseconds; default: one day */
  readonly tokenLifeMs?: number;
  /** receives unexpected errors, which are bugs of the simulator */
  readonly onError?: (error: unknown, what: string) => void;
}

/** Shared base of all services of a cloud. */
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
  /** the other services; complete only after all services are built */
  readonly services: Readonly<Services>;
  /** numbers of answered requests */
  readonly counts: RequestCounts;
  /** all services; complete only after all services are built */
  readonly catalog: CatalogEntry[];
  readonly machineHost: MachineHost | undefined;
  /** Sets the machine host, before the first server starts. */
  useMachineHost(host: MachineHost): void;
  readonly tokenLifeMs: number;
  now(): number;
  onError(error: unknown, what: string): void;
  /** Registers work to run after a saved cloud is loaded. */
  atReturn(work: () => void): void;
  readonly returns: readonly (() => void)[];
  /** Registers work to run in the first transaction of a new cloud. */
  atBirth(work: () => void): void;
  /** registered work for a new cloud */
  readonly birth: readonly (() => void)[];
  /** Publishes the internal interface of a service. */
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
