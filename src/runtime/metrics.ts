import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestObservation } from '../client/index.ts';
import type { QueueMetrics, WorkQueue } from './queue/work-queue.ts';

/**
 * Metrics of one program instance, with the names that existing dashboards expect. Never uses the process-wide
 * registry.
 */
export interface RuntimeMetrics {
  readonly registry: Registry;
  /** the text of a /metrics response */
  expose(): Promise<{ contentType: string; body: string }>;
  controller(name: string): ControllerMetrics;
  queue(name: string): QueueMetrics;
  /** work in progress is read from the queue when metrics are collected */
  watchQueue(name: string, queue: WorkQueue): void;
  restClientRequest(observation: RequestObservation): void;
  leader(name: string, isLeader: boolean): void;
  /** if several processes share the work: their number, and how many shares this one gained and lost */
  shares(change: { members: number; gained: number; lost: number }): void;
}

export type ReconcileOutcome = 'success' | 'error' | 'requeue_after';

export interface ControllerMetrics {
  finished(outcome: ReconcileOutcome, seconds: number): void;
  terminalError(): void;
  activeWorkers(delta: 1 | -1): void;
  maxConcurrent(count: number): void;
}

// Buckets of controller-runtime and client-go, so that their dashboards fit.
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 1.75,
  2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
const queueBuckets = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000];
const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** Label for requests of caches, leases and other parts outside of controllers. */
const noController = 'none';

export function createMetrics(registry: Registry = new Registry()): RuntimeMetrics {
  const registers = [registry];
  const byController = ['controller'] as const;
  const byQueue = ['name', 'controller'] as const;
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name, help, labelNames: [...labelNames], registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: number[],
  ): Histogram<L> => new Histogram({ name, help, labelNames: [...labelNames], buckets, registers });

  const reconciles = counter('controller_runtime_reconcile_total', 'Total number of reconciliations per controller', [
    'controller',
    'result',
  ]);
  const errors = counter(
    'controller_runtime_reconcile_errors_total',
    'Total number of reconciliation errors per controller',
    byController,
  );
  const terminal = counter(
    'controller_runtime_terminal_reconcile_errors_total',
    'Total number of terminal reconciliation errors per controller',
    byController,
  );
  const durations = histogram(
    'controller_runtime_reconcile_time_seconds',
    'Length of time per reconciliation per controller',
    byController,
    reconcileBuckets,
  );
  const active = new Gauge({
    name: 'controller_runtime_active_workers',
    help: 'Number of currently used workers per controller',
    labelNames: byController,
    registers,
  });
  const maximum = new Gauge({
    name: 'controller_runtime_max_concurrent_reconciles',
    help: 'Maximum number of concurrent reconciles per controller',
    labelNames: byController,
    registers,
  });

  const depth = new Gauge({
    name: 'workqueue_depth',
    help: 'Current depth of workqueue',
    labelNames: byQueue,
    registers,
  });
  const adds = counter('workqueue_adds_total', 'Total number of adds handled by workqueue', byQueue);
  const retries = counter('workqueue_retries_total', 'Total number of retries handled by workqueue', byQueue);
  const queued = histogram(
    'workqueue_queue_duration_seconds',
    'How long in seconds an item stays in workqueue before being requested',
    byQueue,
    queueBuckets,
  );
  const worked = histogram(
    'workqueue_work_duration_seconds',
    'How long in seconds processing an item from workqueue takes.',
    byQueue,
    queueBuckets,
  );
  const queues = new Map<string, WorkQueue>();
  new Gauge({
    name: 'workqueue_unfinished_work_seconds',
    help: 'How many seconds of work is in progress and has not been observed by work_duration',
    labelNames: byQueue,
    registers,
    collect() {
      for (const [name, queue] of queues) this.set({ name, controller: name }, queue.running().unfinishedSeconds);
    },
  });
  new Gauge({
    name: 'workqueue_longest_running_processor_seconds',
    help: 'How many seconds has the longest running processor for workqueue been running',
    labelNames: byQueue,
    registers,
    collect() {
      for (const [name, queue] of queues) this.set({ name, controller: name }, queue.running().longestSeconds);
    },
  });

  const requests = counter(
    'rest_client_requests_total',
    'Number of HTTP requests, partitioned by status code, method, and host',
    ['code', 'method', 'host'],
  );
  const requestSeconds = histogram(
    'rest_client_request_duration_seconds',
    'Request latency in seconds, partitioned by method and host',
    ['method', 'host'],
    requestBuckets,
  );
  const apiRequests = counter(
    'capstan_api_requests_total',
    'Number of requests to the management API, by the controller they were made for, verb and resource',
    ['controller', 'verb', 'resource'],
  );
  const leaders = new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether the reporting system is the leader of the lease: 0 indicates backup, 1 indicates leader',
    labelNames: ['name'],
    registers,
  });

  const members = new Gauge({
    name: 'capstan_shares_members',
    help: 'Processes that share the work, as this one sees them; 0 while it is none of them',
    registers,
  });
  const moves = counter('capstan_shares_moved_total', 'Shares that this process has got or given away', ['direction']);

  return {
    registry,
    async expose() {
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
    controller(name) {
      for (const result of ['success', 'error', 'requeue_after']) reconciles.inc({ controller: name, result }, 0);
      errors.inc({ controller: name }, 0);
      const seconds = durations.labels(name);
      const workers = active.labels(name);
      workers.set(0);
      return {
        finished(outcome, took) {
          reconciles.inc({ controller: name, result: outcome });
          if (outcome === 'error') errors.inc({ controller: name });
          seconds.observe(took);
        },
        terminalError: () => terminal.inc({ controller: name }),
        activeWorkers: (delta) => workers.inc(delta),
        maxConcurrent: (count) => maximum.set({ controller: name }, count),
      };
    },
    queue(name) {
      const labels = { name, controller: name };
      const depthOf = depth.labels(labels);
      const addsOf = adds.labels(labels);
      const retriesOf = retries.labels(labels);
      const queuedOf = queued.labels(labels);
      const workedOf = worked.labels(labels);
      return {
        depth: (value) => depthOf.set(value),
        add: () => addsOf.inc(),
        retry: () => retriesOf.inc(),
        queueDuration: (seconds) => queuedOf.observe(seconds),
        workDuration: (seconds) => workedOf.observe(seconds),
      };
    },
    watchQueue: (name, queue) => queues.set(name, queue),
    restClientRequest({ code, method, host, durationMs, verb, resource, origin }) {
      requests.inc({ code, method, host });
      if (verb !== undefined && resource !== undefined) {
        apiRequests.inc({ controller: origin ?? noController, verb, resource });
      }
      requestSeconds.observe({ method, host }, durationMs / 1000);
    },
    leader: (name, isLeader) => leaders.set({ name }, isLeader ? 1 : 0),
    shares(change) {
      members.set(change.members);
      moves.inc({ direction: 'gained' }, change.gained);
      moves.inc({ direction: 'lost' }, change.lost);
    },
  };
}
