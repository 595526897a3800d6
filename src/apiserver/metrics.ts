import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, Registry as MetricRegistry } from 'prom-client';
import { must } from '../machinery/index.ts';
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
}

const bucketBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Counters of requests with the same labels, as plain numbers. A metrics library would hash the labels on every
 * request.
 */
interface RequestSeries {
  labels: RequestLabels;
  codes: Map<number, number>;
  buckets: number[];
  seconds: number;
  count: number;
}

/** Metrics of the server with upstream's names; one registry per server. */
export class ApiServerMetrics {
  readonly registry: MetricRegistry = new MetricRegistry();
  readonly #series = new Map<string, RequestSeries>();
  #mutating = 0;
  #reading = 0;
  #watches = 0;

  constructor(store: Store<StoredObject>, kinds: Registry) {
    const registers = [this.registry];
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
      name: 'process_cpu_seconds_total',
      help: 'Processor time used by the process, all threads.',
      registers,
      collect() {
        const { user, system } = process.cpuUsage();
        this.set((user + system) / 1e6);
      },
    });
    let delay: IntervalHistogram | undefined;
    new Gauge({
      name: 'nodejs_eventloop_lag_p99_seconds',
      help: 'How late the event loop came to its work since the last scrape, 99th percentile.',
      registers,
      collect() {
        // Starts on the first scrape, because the measurement wakes the process regularly.
        if (!delay) {
          delay = monitorEventLoopDelay({ resolution: 10 });
          delay.enable();
        }
        this.set(delay.count === 0 ? 0 : delay.percentile(99) / 1e9);
        delay.reset();
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
    if (mutating) this.#mutating++;
    else this.#reading++;
  }

  finished(mutating: boolean, labels: RequestLabels, code: number, seconds: number): void {
    if (mutating) this.#mutating--;
    else this.#reading--;
    const series = this.#count(labels, code);
    series.count++;
    series.seconds += seconds;
    const bucket = bucketBounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  }

  watchStarted(): void {
    this.#watches++;
  }

  watchFinished(labels: RequestLabels, code: number): void {
    this.#watches--;
    this.#count(labels, code);
  }

  #count(labels: RequestLabels, code: number): RequestSeries {
    const key = `${labels.verb} ${labels.group} ${labels.version} ${labels.resource} ${labels.subresource}`;
    let series = this.#series.get(key);
    if (!series) {
      // Clients choose the paths, so unknown ones must not fill the memory.
      const crowded = this.#series.size >= maxSeries;
      const kept = crowded ? { verb: labels.verb, group: '', version: '', resource: '', subresource: '' } : labels;
      series = { labels: kept, codes: new Map(), buckets: bucketBounds.map(() => 0), seconds: 0, count: 0 };
      if (!crowded) this.#series.set(key, series);
    }
    series.codes.set(code, (series.codes.get(code) ?? 0) + 1);
    return series;
  }

  async render(): Promise<{ contentType: string; body: string }> {
    const rest = await this.registry.metrics();
    return { contentType: this.registry.contentType, body: `${this.#renderRequests()}${rest}` };
  }

  #renderRequests(): string {
    const total: string[] = [];
    const duration: string[] = [];
    for (const { labels, codes, buckets, seconds, count } of this.#series.values()) {
      const text = formatLabels(labels);
      for (const [code, value] of codes) total.push(`apiserver_request_total{${text},code="${code}"} ${value}`);
      let sum = 0;
      bucketBounds.forEach((bound, index) => {
        sum += must(buckets[index], 'buckets[index]');
        duration.push(`apiserver_request_duration_seconds_bucket{${text},le="${bound}"} ${sum}`);
      });
      duration.push(
        `apiserver_request_duration_seconds_bucket{${text},le="+Inf"} ${count}`,
        `apiserver_request_duration_seconds_sum{${text}} ${seconds}`,
        `apiserver_request_duration_seconds_count{${text}} ${count}`,
      );
    }
    return `${[
      ...head('apiserver_request_total', 'counter', 'Requests served, by verb, kind and HTTP status code.'),
      ...total,
      ...head('apiserver_request_duration_seconds', 'histogram', 'Time to answer requests, watches left out.'),
      ...duration,
      ...head(
        'apiserver_current_inflight_requests',
        'gauge',
        'Requests being served, by whether they change anything.',
      ),
      `apiserver_current_inflight_requests{request_kind="mutating"} ${this.#mutating}`,
      `apiserver_current_inflight_requests{request_kind="readOnly"} ${this.#reading}`,
      ...head('apiserver_longrunning_requests', 'gauge', 'Watches and log streams being served.'),
      `apiserver_longrunning_requests ${this.#watches}`,
    ].join('\n')}\n`;
  }
}

const maxSeries = 5000;

function head(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function formatLabels(labels: RequestLabels): string {
  return Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${String(value).replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`,
    )
    .join(',');
}
