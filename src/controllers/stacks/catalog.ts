import { classNameOf, parseStackId, type StackId } from '../../api/index.ts';
import { CapstanError, type Clock } from '../../machinery/index.ts';
import { type Chart, loadChart } from '../../template/index.ts';
import type { ReleaseFiles } from './release/documents.ts';
import { type AddonChart, readRelease, type StackRelease } from './release/release.ts';
import { StackReleaseError } from './release/release-error.ts';
import { soon } from './source/patience.ts';
import type { FetchChart, ReleaseSource } from './source/types.ts';

/** Releases available from the sources. */
export interface CatalogListing {
  readonly ids: readonly StackId[];
  /** tags that are not release ids, with their source */
  readonly ignored: readonly { readonly tag: string; readonly source: string }[];
  /** why some sources did not answer */
  readonly failures: readonly { readonly source: string; readonly error: unknown }[];
}

/** Releases from all sources. Slow operations throw SourcePendingError and succeed later. */
export interface StackCatalog {
  /** shortest useful poll interval; undefined if never */
  readonly pollMs: number | undefined;
  list(signal: AbortSignal): Promise<CatalogListing>;
  /** throws StackReleaseError for an unusable release; other errors if a source is unreachable */
  release(id: StackId, signal: AbortSignal): Promise<StackRelease>;
  /** an add-on chart with its dependencies */
  addonChart(release: StackRelease, chart: AddonChart, signal: AbortSignal): Promise<Chart>;
}

/** No source has the release; it may appear later. */
export class ReleaseNotFoundError extends CapstanError {
  constructor(id: StackId, sources: readonly string[]) {
    super('CAP_STACK_SOURCE', `no release ${classNameOf(id)} in ${sources.join(', ')}`, {
      hint: 'correct the version that is asked for, or publish it; it is looked for again',
    });
    this.name = 'ReleaseNotFoundError';
  }
}

/** Cache size; a release has some hundred kilobytes. */
const maxReleases = 64;

/** Asks sources in order; the first one with a release provides it. */
export function createStackCatalog(options: { sources: readonly ReleaseSource[]; clock: Clock }): StackCatalog {
  const { sources, clock } = options;
  const listings = new Map<ReleaseSource, { at: number; tags: Promise<readonly string[]> }>();
  const releases = new Map<string, Promise<StackRelease>>();
  const charts = new WeakMap<AddonChart, Promise<Chart>>();
  const origins = new WeakMap<StackRelease, ReleaseSource>();

  // fetches are shared by all callers, so they must outlive the first one
  const { signal: lasting } = new AbortController();

  const tagsOf = (source: ReleaseSource): Promise<readonly string[]> => {
    const known = listings.get(source);
    // many ClusterStacks ask at once
    if (known && (source.pollMs === undefined || clock.now() - known.at < source.pollMs / 2)) return known.tags;
    const tags = source.tags(lasting);
    listings.set(source, { at: clock.now(), tags });
    tags.catch(() => listings.delete(source));
    return tags;
  };

  const fetch = async (id: StackId): Promise<StackRelease> => {
    for (const source of sources) {
      const files = await source.files(id, lasting);
      if (files === undefined) continue;
      const release = readRelease(id, files, source);
      origins.set(release, source);
      return release;
    }
    throw new ReleaseNotFoundError(
      id,
      sources.map(({ name }) => name),
    );
  };

  return {
    pollMs: sources.reduce<number | undefined>(
      (least, { pollMs }) => (pollMs === undefined ? least : Math.min(pollMs, least ?? pollMs)),
      undefined,
    ),
    async list(signal) {
      const ids = new Map<string, StackId>();
      const ignored: { tag: string; source: string }[] = [];
      const failures: { source: string; error: unknown }[] = [];
      const answers = await Promise.allSettled(
        sources.map((source) => soon(tagsOf(source), { clock, signal, what: `the list of ${source.name}` })),
      );
      signal.throwIfAborted();
      answers.forEach((answer, i) => {
        const source = sources[i]?.name ?? '';
        if (answer.status === 'rejected') {
          failures.push({ source, error: answer.reason });
          return;
        }
        for (const tag of answer.value) {
          const id = parseStackId(tag);
          if (id === undefined) ignored.push({ tag, source });
          else ids.set(classNameOf(id), id);
        }
      });
      return { ids: [...ids.values()], ignored, failures };
    },
    release(id, signal) {
      const name = classNameOf(id);
      const fetching = remembered(releases, name, () => fetch(id));
      return soon(fetching, { clock, signal, what: `release ${name}` });
    },
    addonChart(release, chart, signal) {
      let loading = charts.get(chart);
      if (!loading) {
        const source = origins.get(release);
        loading = withDependencies(chart.files, source?.chart ?? noCharts, lasting);
        charts.set(chart, loading);
        loading.catch(() => charts.delete(chart));
      }
      return soon(loading, { clock, signal, what: `a chart that release ${classNameOf(release.id)} needs` });
    },
  };
}

const noCharts: FetchChart = async ({ name }) => {
  throw new StackReleaseError(`the chart ${name} is not part of the release`);
};

/** LRU cache; failures are not kept. */
function remembered<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const found = known.get(key);
  if (found) {
    known.delete(key);
    known.set(key, found);
    return found;
  }
  const made = make();
  known.set(key, made);
  made.catch(() => {
    if (known.get(key) === made) known.delete(key);
  });
  for (const oldest of known.keys()) {
    if (known.size <= maxReleases) break;
    known.delete(oldest);
  }
  return made;
}

/** Adds a chart's dependencies unless they are bundled. */
async function withDependencies(files: ReleaseFiles, fetchChart: FetchChart, signal: AbortSignal): Promise<Chart> {
  const alone = loaded(files);
  const all = new Map(files);
  for (const { name, version, repository } of alone.metadata.dependencies) {
    if (alone.subcharts.some(({ metadata }) => metadata.name === name) || repository.startsWith('file:')) continue;
    const needed = await fetchChart({ name, version, repository }, signal);
    for (const [path, content] of needed) all.set(`charts/${name}/${path}`, content);
  }
  return all.size === files.size ? alone : loaded(all);
}

function loaded(files: ReleaseFiles): Chart {
  const chart = loadChart(files);
  if (!chart.ok) throw new StackReleaseError(chart.error.message);
  return chart.value;
}
