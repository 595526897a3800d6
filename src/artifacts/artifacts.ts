import { type Clock, type PeerPolicy, trimTrailing } from '../machinery/index.ts';
import { chartFiles, defaultChartLimits, readArchive } from '../template/index.ts';
import { type ContentCache, directoryCache, memoryCache } from './cache.ts';
import { chooseVersion, indexEntries } from './chart-index.ts';
import { authorizationOf, type Credentials, scopeOf } from './credentials.ts';
import { checkDigest, type Digest, digestOf, readDigest } from './digest.ts';
import { ArtifactError } from './errors.ts';
import { HttpFetcher } from './http.ts';
import { readRepository, repositoryText } from './reference.ts';
import { openRegistry, type Registry } from './registry.ts';
import { asDirectory, readUrl, shownUrl } from './url.ts';

export interface ArtifactsOptions {
  /** content cache: a directory or process memory */
  readonly cache:
    | { readonly directory: string; readonly maxBytes?: number }
    | { readonly memory: true; readonly maxBytes?: number };
  readonly clock: Clock;
  /** policy for addresses, because tenants choose the URLs */
  readonly peers?: PeerPolicy;
  /** PEM of additional trusted CAs */
  readonly ca?: string;
  readonly userAgent?: string;
}

export interface ChartRequest {
  /** `https://charts.example.com` with an index.yaml, or `oci://registry/path`; absent if `chart` is a full URL */
  readonly repository?: string;
  /** a name, or a full chart URL: `oci://registry/path/name`, `https://host/name-1.2.3.tgz` */
  readonly chart: string;
  /** a version, or a range such as `~1.2`; empty for the newest */
  readonly version: string;
  readonly credentials?: Credentials;
  /** use http for an `oci://` registry; only for operators, because traffic is readable */
  readonly plainHttp?: boolean;
  readonly signal?: AbortSignal;
}

export interface FetchedChart {
  /** keyed by path in the chart, for loadChart */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly digest: Digest;
  /** version in the repository; empty for a full chart URL */
  readonly version: string;
}

export interface DownloadOptions {
  /** 64 hexadecimal digits */
  readonly sha256?: string;
  readonly limit: number;
  readonly credentials?: Credentials;
  readonly signal?: AbortSignal;
}

export interface Download {
  readonly bytes: Uint8Array;
  readonly digest: Digest;
}

/** Fetches charts, artifacts and files. Failures are ArtifactErrors. */
export interface Artifacts {
  chart(request: ChartRequest): Promise<FetchedChart>;
  /** Opens a repository of an OCI registry: `oci://host/path`, or `http://host/path` without TLS. */
  registry(url: string, credentials?: Credentials): Registry;
  download(url: string, options: DownloadOptions): Promise<Download>;
  close(): Promise<void>;
}

const maxIndexBytes = 64 * 1024 * 1024;
/** Age at which an index is requested again; it is transferred only if it changed. */
const indexFreshMs = 30_000;
const maxIndexes = 8;
const chartLayers = ['application/vnd.cncf.helm.chart.content.v1.tar+gzip', 'application/tar+gzip'];

export function createArtifacts({ cache, clock, ...http }: ArtifactsOptions): Artifacts {
  const bounds = cache.maxBytes === undefined ? {} : { maxBytes: cache.maxBytes };
  const contents = 'directory' in cache ? directoryCache(cache.directory, { clock, ...bounds }) : memoryCache(bounds);
  return new FetchingArtifacts(new HttpFetcher({ clock, ...http }), contents, clock);
}

interface KnownIndex {
  readonly text: string;
  readonly tag: string | undefined;
  readonly checkedMs: number;
}

class FetchingArtifacts implements Artifacts {
  readonly #http: HttpFetcher;
  readonly #cache: ContentCache;
  readonly #clock: Clock;
  readonly #indexes = new Map<string, KnownIndex>();

  constructor(http: HttpFetcher, cache: ContentCache, clock: Clock) {
    this.#http = http;
    this.#cache = cache;
    this.#clock = clock;
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  registry(url: string, credentials?: Credentials): Registry {
    return openRegistry({ http: this.#http, cache: this.#cache, repository: readRepository(url), credentials });
  }

  async chart(request: ChartRequest): Promise<FetchedChart> {
    const { repository = '', chart } = request;
    if (chart.startsWith('oci://')) return this.#ociChart(chart, request);
    if (repository.startsWith('oci://')) return this.#ociChart(`${trimTrailing(repository, '/')}/${chart}`, request);
    if (/^https?:\/\//.test(chart)) {
      return this.#archiveAt(readUrl(chart), { what: `chart ${shownUrl(readUrl(chart))}`, version: '', request });
    }
    if (repository === '') {
      throw new ArtifactError('invalid', `chart ${JSON.stringify(chart)} has no repository`, {
        hint: 'name its repository, or the whole address of the chart',
      });
    }
    return this.#indexedChart(asDirectory(readUrl(repository)), request);
  }

  async #indexedChart(repository: URL, request: ChartRequest): Promise<FetchedChart> {
    const { chart, version } = request;
    const where = shownUrl(repository);
    const entries = indexEntries(await this.#index(repository, request), chart, where);
    const entry = chooseVersion(entries, version);
    if (!entry) {
      const some = entries.slice(0, 5).map((one) => one.version);
      throw new ArtifactError('notFound', `chart ${chart} has no version ${JSON.stringify(version)} in ${where}`, {
        hint: some.length > 0 ? `it has ${some.join(', ')}${entries.length > some.length ? ', …' : ''}` : 'publish one',
      });
    }
    const what = `chart ${chart} ${entry.version} of ${where}`;
    const [address] = entry.urls;
    if (address === undefined) throw new ArtifactError('invalid', `${what} has no URL in the index`);
    const url = readUrl(address, repository);
    const digest = entry.digest === '' ? undefined : readDigest(entry.digest, what);
    // Credentials of a repository are not sent to other hosts named in its index.
    const { credentials: given, ...open } = request;
    const isSame = url.origin === repository.origin;
    const own = isSame && given ? { ...open, credentials: given } : open;
    return this.#archiveAt(url, { what, version: entry.version, digest, request: own });
  }

  async #index(repository: URL, { credentials, signal }: ChartRequest): Promise<string> {
    const key = scopeOf(repository.href, credentials);
    const known = this.#indexes.get(key);
    if (known && this.#clock.now() - known.checkedMs < indexFreshMs) return known.text;
    const url = new URL('index.yaml', repository);
    url.search = repository.search;
    const answer = await this.#http.fetch({
      url,
      what: `the index of ${shownUrl(repository)}`,
      limit: maxIndexBytes,
      authorization: authorizationOf(credentials),
      knownTag: known?.tag,
      signal,
      expected: known ? [304] : [],
    });
    const text = known && answer.status === 304 ? known.text : Buffer.from(answer.body).toString('utf8');
    this.#indexes.delete(key);
    this.#indexes.set(key, { text, tag: answer.header('etag') ?? known?.tag, checkedMs: this.#clock.now() });
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= maxIndexes) break;
      this.#indexes.delete(oldest);
    }
    return text;
  }

  async #archiveAt(
    url: URL,
    wanted: { what: string; version: string; digest?: Digest | undefined; request: ChartRequest },
  ): Promise<FetchedChart> {
    const { what, version, digest, request } = wanted;
    const bytes = await this.#content(url, {
      what,
      limit: defaultChartLimits.archiveBytes,
      digest,
      credentials: request.credentials,
      signal: request.signal,
    });
    return unpacked(bytes, what, version);
  }

  async #ociChart(address: string, { version, credentials, plainHttp, signal }: ChartRequest): Promise<FetchedChart> {
    const [, repositoryPart = '', tag = '', pinned = ''] = /^(oci:\/\/[^/]+\/[^:@]*)(?::([^@]*))?(?:@(.*))?$/.exec(
      address,
    ) ?? [undefined, address];
    const repository = readRepository(plainHttp ? repositoryPart.replace(/^oci:/, 'http:') : repositoryPart);
    const registry = openRegistry({ http: this.#http, cache: this.#cache, repository, credentials });
    const name = `chart ${repositoryText(repository)}`;
    const reference = pinned || tag || (await this.#ociTag(registry, version, name, signal));
    const artifact = await registry.pull(reference, signal);
    const layer = artifact.layers.find(({ mediaType }) => chartLayers.includes(mediaType));
    if (!layer) {
      throw new ArtifactError(
        'invalid',
        `${name}:${reference} is no chart: it has no layer of type ${chartLayers[0]}`,
        {
          hint: 'push it with helm push',
        },
      );
    }
    if (layer.size > defaultChartLimits.archiveBytes) {
      throw new ArtifactError(
        'tooLarge',
        `${name}:${reference} is larger than ${defaultChartLimits.archiveBytes} bytes`,
      );
    }
    return unpacked(await layer.read(signal), `${name}:${reference}`, pinned ? '' : reference.replaceAll('_', '+'));
  }

  /** Tags cannot contain the `+` of versions; helm replaces it by `_`. */
  async #ociTag(registry: Registry, version: string, name: string, signal: AbortSignal | undefined): Promise<string> {
    if (/^v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+][0-9A-Za-z.+-]+)?$/.test(version)) return version.replaceAll('+', '_');
    const tags = await registry.tags(signal);
    const found = chooseVersion(
      tags.map((tag) => ({ tag, version: tag.replaceAll('_', '+') })),
      version,
    );
    if (found) return found.tag;
    throw new ArtifactError('notFound', `${name} has no version ${JSON.stringify(version)}`, {
      hint: tags.length > 0 ? `it has ${tags.slice(0, 5).join(', ')}${tags.length > 5 ? ', …' : ''}` : 'push one',
    });
  }

  async download(url: string, { sha256, limit, credentials, signal }: DownloadOptions): Promise<Download> {
    const address = readUrl(url);
    const what = shownUrl(address);
    const digest = sha256 === undefined ? undefined : readDigest(sha256, what);
    const bytes = await this.#content(address, { what, limit, digest, credentials, signal });
    return { bytes, digest: digest ?? digestOf(bytes) };
  }

  /** Fetches a URL; content with a known digest is looked up in the cache first. */
  async #content(
    url: URL,
    wanted: {
      what: string;
      limit: number;
      digest: Digest | undefined;
      credentials: Credentials | undefined;
      signal: AbortSignal | undefined;
    },
  ): Promise<Uint8Array> {
    const { what, limit, digest, credentials, signal } = wanted;
    const scope = scopeOf(url.href, credentials);
    const cached = digest && (await this.#cache.read(scope, digest));
    if (cached && cached.length <= limit) return cached;
    const { body } = await this.#http.fetch({ url, what, limit, authorization: authorizationOf(credentials), signal });
    if (digest) {
      checkDigest(body, digest, what);
      await this.#cache.write(scope, digest, body);
    }
    return body;
  }
}

function unpacked(bytes: Uint8Array, what: string, version: string): FetchedChart {
  const archive = readArchive(bytes);
  const files = archive.ok ? chartFiles(archive.value) : archive;
  if (files.ok) return { files: files.value, digest: digestOf(bytes), version };
  const { message, isLimit } = files.error;
  throw new ArtifactError(isLimit ? 'tooLarge' : 'invalid', `${what} cannot be unpacked: ${message}`, {
    hint: 'package it with helm package',
    cause: files.error,
  });
}
