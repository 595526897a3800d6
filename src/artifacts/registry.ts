import { isJsonObject, type JsonObject, type JsonValue, printableLine } from '../machinery/index.ts';
import type { ContentCache } from './cache.ts';
import { basicAuthorization, type Credentials, scopeOf } from './credentials.ts';
import { checkDigest, type Digest, digestOf, isDigest, readDigest } from './digest.ts';
import { ArtifactError } from './errors.ts';
import type { Answer, Fetch, HttpFetcher } from './http.ts';
import { type RepositoryName, repositoryText, repositoryUrl, tagShape } from './reference.ts';
import { readUrl } from './url.ts';
import { type Challenge, readChallenges } from './www-authenticate.ts';

/** A repository of a registry with the OCI distribution API. */
export interface Registry {
  tags(signal?: AbortSignal): Promise<string[]>;
  /** Fetches a manifest by tag or digest. Layers are fetched when they are read. */
  pull(reference: string, signal?: AbortSignal): Promise<PulledArtifact>;
}

export interface PulledArtifact {
  readonly digest: Digest;
  readonly mediaType: string;
  /** empty if the manifest has none */
  readonly artifactType: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly config: ArtifactLayer | undefined;
  readonly layers: readonly ArtifactLayer[];
}

export interface ArtifactLayer {
  readonly mediaType: string;
  readonly digest: Digest;
  readonly size: number;
  readonly annotations: Readonly<Record<string, string>>;
  /** Fetches the content from the cache or the registry and verifies digest and size. */
  read(signal?: AbortSignal): Promise<Uint8Array>;
}

export interface RegistryLimits {
  readonly manifestBytes: number;
  readonly layerBytes: number;
  readonly layers: number;
  readonly tags: number;
  readonly pages: number;
}

export const registryLimits: RegistryLimits = {
  manifestBytes: 4 * 1024 * 1024,
  layerBytes: 256 * 1024 * 1024,
  layers: 1_000,
  tags: 50_000,
  pages: 1_000,
};

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
const accepted = [...manifestTypes, ...indexTypes].join(', ');
const tagsPerPage = 1_000;
const maxTokenBytes = 256 * 1024;

export interface RegistryOptions {
  readonly http: HttpFetcher;
  readonly cache: ContentCache;
  readonly repository: RepositoryName;
  readonly credentials?: Credentials | undefined;
  readonly limits?: Partial<RegistryLimits>;
}

export function openRegistry(options: RegistryOptions): Registry {
  return new DistributionRegistry(options);
}

class DistributionRegistry implements Registry {
  readonly #http: HttpFetcher;
  readonly #cache: ContentCache;
  readonly #repository: RepositoryName;
  readonly #credentials: Credentials | undefined;
  readonly #limits: RegistryLimits;
  readonly #name: string;
  readonly #base: URL;
  readonly #scope: string;
  /** last accepted Authorization header */
  #authorization: string | undefined;

  constructor({ http, cache, repository, credentials, limits }: RegistryOptions) {
    this.#http = http;
    this.#cache = cache;
    this.#repository = repository;
    this.#credentials = credentials;
    this.#limits = { ...registryLimits, ...limits };
    this.#name = repositoryText(repository);
    this.#base = new URL(`v2/${repository.path}/`, repositoryUrl(repository));
    this.#scope = scopeOf(this.#base.href, credentials);
  }

  async tags(signal?: AbortSignal): Promise<string[]> {
    const tags: string[] = [];
    let url: URL | undefined = new URL(`tags/list?n=${tagsPerPage}`, this.#base);
    for (let page = 0; url; page++) {
      if (page >= this.#limits.pages) throw this.#tooMany('pages of tags', this.#limits.pages);
      const answer: Answer = await this.#ask({
        url,
        what: `the tags of ${this.#name}`,
        limit: this.#limits.manifestBytes,
        signal,
      });
      const data = parseJson(answer.body, `the tags of ${this.#name}`);
      const found = data['tags'];
      for (const tag of Array.isArray(found) ? found : [])
        if (typeof tag === 'string' && tagShape.test(tag)) tags.push(tag);
      if (tags.length > this.#limits.tags) throw this.#tooMany('tags', this.#limits.tags);
      url = this.#nextPage(answer);
    }
    return tags;
  }

  #tooMany(what: string, limit: number): ArtifactError {
    return new ArtifactError('tooLarge', `${this.#name} has more than ${limit} ${what}`, {
      hint: 'name a version instead of a range, or clean up the repository',
    });
  }

  /** `Link: </v2/…?last=x>; rel="next"`; links to other hosts are ignored. */
  #nextPage(answer: Answer): URL | undefined {
    const link = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(answer.header('link') ?? '');
    if (!link) return undefined;
    const next = readUrl(link[1] ?? '', answer.url);
    return next.origin === this.#base.origin ? next : undefined;
  }

  async pull(reference: string, signal?: AbortSignal): Promise<PulledArtifact> {
    return this.#pull(reference, signal, 0);
  }

  async #pull(reference: string, signal: AbortSignal | undefined, depth: number): Promise<PulledArtifact> {
    const wanted = isDigest(reference) ? readDigest(reference, this.#name) : undefined;
    if (!wanted && !tagShape.test(reference)) {
      throw new ArtifactError(
        'invalid',
        `${JSON.stringify(reference.slice(0, 200))} is no tag or digest of ${this.#name}`,
      );
    }
    const what = `${this.#name}${wanted ? '@' : ':'}${reference}`;
    const { body, mediaType, digest } = await this.#manifest(what, reference, wanted, signal);
    const manifest = parseJson(body, what);
    if (indexTypes.includes(mediaType) || Array.isArray(manifest['manifests'])) {
      return this.#pull(this.#choice(manifest, what, depth), signal, depth + 1);
    }
    const layers = manifest['layers'];
    if (!Array.isArray(layers)) {
      throw new ArtifactError('invalid', `${what} has no layers: its manifest is a ${printableLine(mediaType)}`, {
        hint: 'push it as an OCI artifact, as helm push and oras push do',
      });
    }
    if (layers.length > this.#limits.layers) throw this.#tooMany('layers', this.#limits.layers);
    const config = manifest['config'];
    const artifactType = manifest['artifactType'];
    const read = (one: JsonValue): ArtifactLayer => this.#layer(one, what);
    return {
      digest,
      mediaType,
      artifactType: typeof artifactType === 'string' ? artifactType : '',
      annotations: annotationsOf(manifest['annotations']),
      config: isJsonObject(config) ? read(config) : undefined,
      layers: layers.map(read),
    };
  }

  async #manifest(
    what: string,
    reference: string,
    wanted: Digest | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ body: Uint8Array; mediaType: string; digest: Digest }> {
    const url = new URL(`manifests/${reference}`, this.#base);
    const answer = await this.#ask({ url, what, limit: this.#limits.manifestBytes, accept: accepted, signal });
    const digest = digestOf(answer.body);
    if (wanted) checkDigest(answer.body, wanted, what);
    else {
      const announced = answer.header('docker-content-digest');
      if (announced?.startsWith('sha256:')) checkDigest(answer.body, readDigest(announced, what), what);
    }
    const mediaType = ((answer.header('content-type') ?? '').split(';')[0] ?? '').trim();
    return { body: answer.body, mediaType, digest };
  }

  /** Selects a manifest of an index: the first without a platform, or the only one. */
  #choice(index: JsonObject, what: string, depth: number): string {
    const manifests = (Array.isArray(index['manifests']) ? index['manifests'] : []).filter(isJsonObject);
    const chosen =
      manifests.find((one) => one['platform'] === undefined) ?? (manifests.length === 1 ? manifests[0] : undefined);
    const digest = chosen?.['digest'];
    if (depth === 0 && typeof digest === 'string' && isDigest(digest)) return digest;
    throw new ArtifactError('invalid', `${what} is an index of ${manifests.length} images, not one artifact`, {
      hint: 'name the digest of the manifest that is meant',
    });
  }

  #layer(value: JsonValue, what: string): ArtifactLayer {
    const { digest, size, mediaType, annotations } = isJsonObject(value) ? value : {};
    if (typeof digest !== 'string' || typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
      throw new ArtifactError('invalid', `${what} has a layer without digest or size`);
    }
    const checked = readDigest(digest, what);
    return {
      mediaType: typeof mediaType === 'string' ? mediaType : '',
      digest: checked,
      size,
      annotations: annotationsOf(annotations),
      read: (signal) => this.#blob(checked, size, what, signal),
    };
  }

  async #blob(digest: Digest, size: number, what: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
    const { layerBytes } = this.#limits;
    if (size > layerBytes) {
      throw new ArtifactError('tooLarge', `${what} has a layer of ${size} bytes, at most ${layerBytes} are taken`);
    }
    const cached = await this.#cache.read(this.#scope, digest);
    if (cached) return cached;
    const name = `layer ${digest} of ${what}`;
    const { body } = await this.#ask({ url: new URL(`blobs/${digest}`, this.#base), what: name, limit: size, signal });
    checkDigest(body, digest, name);
    await this.#cache.write(this.#scope, digest, body);
    return body;
  }

  /** Sends a request with the last accepted authorization, and authenticates after a challenge. */
  async #ask(wanted: Fetch): Promise<Answer> {
    const first = await this.#http.fetch({ ...wanted, authorization: this.#authorization, expected: [401] });
    if (first.status !== 401) return first;
    const challenges = readChallenges(first.header('www-authenticate') ?? '');
    this.#authorization = await this.#authorize(challenges, wanted);
    return this.#http.fetch({ ...wanted, authorization: this.#authorization });
  }

  async #authorize(challenges: readonly Challenge[], { what, signal }: Fetch): Promise<string | undefined> {
    const credentials = this.#credentials;
    if (credentials?.token !== undefined) return `Bearer ${credentials.token}`;
    const bearer = challenges.find(({ scheme }) => scheme === 'bearer');
    if (bearer) return `Bearer ${await this.#token(bearer, what, signal)}`;
    const basic = credentials && basicAuthorization(credentials);
    if (basic !== undefined && challenges.some(({ scheme }) => scheme === 'basic')) return basic;
    throw new ArtifactError('refused', `${what}: ${this.#repository.host} wants credentials`, {
      hint: credentials ? 'give a name and a password' : 'give credentials that may read it',
    });
  }

  /** Fetches a token from the service that the registry names. */
  async #token(challenge: Challenge, what: string, signal: AbortSignal | undefined): Promise<string> {
    const realm = challenge.parameters.get('realm') ?? '';
    const url = readUrl(realm);
    if (this.#base.protocol === 'https:' && url.protocol !== 'https:') {
      throw new ArtifactError(
        'refused',
        `${what}: ${this.#repository.host} sends credentials to plain http at ${url.host}`,
      );
    }
    const service = challenge.parameters.get('service');
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', challenge.parameters.get('scope') ?? `repository:${this.#repository.path}:pull`);
    const { body } = await this.#http.fetch({
      url,
      what: `a token for ${this.#name}`,
      limit: maxTokenBytes,
      authorization: this.#credentials && basicAuthorization(this.#credentials),
      signal,
    });
    const data = parseJson(body, `a token for ${this.#name}`);
    const token = data['token'] ?? data['access_token'];
    if (typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) return token;
    throw new ArtifactError('invalid', `${url.host} gives no token for ${this.#name}`, {
      hint: 'check that it is the token service of the registry',
    });
  }
}

function parseJson(body: Uint8Array, what: string): JsonObject {
  try {
    const value = JSON.parse(Buffer.from(body).toString('utf8')) as JsonValue;
    if (isJsonObject(value)) return value;
  } catch {
    // The error below covers invalid JSON.
  }
  throw new ArtifactError('invalid', `${what}: the answer is no JSON object`, {
    hint: 'check that the address is that of a registry',
  });
}

function annotationsOf(value: JsonValue | undefined): Record<string, string> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
