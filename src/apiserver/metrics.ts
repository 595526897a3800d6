import { Counter, Gauge, Histogram, Registry as MetricRegistry } from 'prom-client';
import type { Store } from '../store/index.ts';
import type { Registry } from './registry/index.ts';
import { keyPrefix } from './storage/keys.ts';
import type { StoredObject } from './storage/stored-object.ts';

export interface RequestLabels {
  verb: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  code: number;
}

/** The server's metrics under upstream's names, one registry per server. */
export class ApiServerMetrics {
  readonly registry: MetricRegistry = new MetricRegistry();
  readonly #requests: Counter;
  readonly #durations: Histogram;
  readonly #inflight: Gauge;
  readonly #longRunning: Gauge;

  constructor(store: Store<StoredObject>, kinds: Registry) {
    const registers = [this.registry];
    const labelNames = ['verb', 'group', 'version', 'resource', 'subresource'];
    this.#requests = new Counter({
      name: 'apiserver_request_total',
      help: 'Requests served, by verb, kind and HTTP status code.',
      labelNames: [...labelNames, 'code'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Time to answer requests, watches left out.',
      labelNames,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    });
    this.#inflight = new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being served, by whether they change anything.',
      labelNames: ['request_kind'],
      registers,
    });
    this.#longRunning = new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Watches and log streams being served.',
      registers,
    });
    new Gauge({
      name: 'apiserver_storage_objects',
      help: 'Objects stored, by kind.',
      labelNames: ['resource'],
      registers,
      collect() {
        this.reset();
        for (const { definition, keySpace } of kinds.all()) {
          if (!definition.verbs.includes('list')) continue;
          const resource = definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`;
          this.set({ resource }, store.count(keyPrefix(keySpace)));
        }
      },
    });
    new Gauge({
      name: 'capstan_store_revision',
      help: 'Newest committed revision of the store.',
      registers,
      collect() {
        this.set(store.revision);
      },
    });
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Resident memory of the process.',
      registers,
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
  }

  started(mutating: boolean): void {
    this.#inflight.inc({ request_kind: mutating ? 'mutating' : 'readOnly' });
  }

  finished(mutating: boolean, labels: RequestLabels, seconds: number): void {
    this.#inflight.dec({ request_kind: mutating ? 'mutating' : 'readOnly' });
    const { code, ...rest } = labels;
    this.#requests.inc({ ...rest, code: String(code) });
    this.#durations.observe(rest, seconds);
  }

  watchStarted(): void {
    this.#longRunning.inc();
  }

  watchFinished(labels: RequestLabels): void {
    this.#longRunning.dec();
    const { code, ...rest } = labels;
    this.#requests.inc({ ...rest, code: String(code) });
  }

  async render(): Promise<{ contentType: string; body: string }> {
    return { contentType: this.registry.contentType, body: await this.registry.metrics() };
  }
}
