import type { Artifacts, Credentials } from '../../../artifacts/index.ts';
import { isJsonObject, type JsonValue, parseJsonStrict, trimTrailing } from '../../../machinery/index.ts';
import { type ReleaseFiles, textOf } from '../release/documents.ts';
import { StackReleaseError } from '../release/release-error.ts';
import { isMissing, tagsFor } from './registry.ts';
import type { FetchChart, ReleaseSource } from './types.ts';

const pollMs = 5 * 60_000;
const perPage = 100;
const maxPages = 20;
const listBytes = 16 * 1024 * 1024;
const assetBytes = 64 * 1024 * 1024;
const maxAssets = 100;

export interface ReleasePageOptions {
  /** `https://github.com/ORG/REPOSITORY`, or the same on another host with GitHub's API */
  readonly url: string;
  readonly artifacts: Artifacts;
  readonly credentials?: Credentials;
  readonly chart: FetchChart;
}

/** Reads releases of a GitHub repository: one per tag, with the files as assets. */
export function releasePageSource({ url, artifacts, credentials, chart }: ReleasePageOptions): ReleaseSource {
  const api = apiOf(url);
  const read = async (path: string, signal: AbortSignal): Promise<JsonValue> => {
    const { bytes } = await artifacts.download(`${api}${path}`, {
      limit: listBytes,
      signal,
      ...(credentials && { credentials }),
    });
    return parseJsonStrict(textOf(bytes)).value;
  };
  return {
    name: `release pages of ${url}`,
    pollMs,
    isPinned: true,
    chart,
    async tags(signal) {
      const tags: string[] = [];
      for (let page = 1; page <= maxPages; page++) {
        const list = await read(`/releases?per_page=${perPage}&page=${page}`, signal);
        if (!Array.isArray(list)) throw new StackReleaseError(`${url} answers with something else than a list`);
        for (const release of list) {
          const tag = isJsonObject(release) && release['draft'] !== true ? release['tag_name'] : undefined;
          if (typeof tag === 'string') tags.push(tag);
        }
        if (list.length < perPage) break;
      }
      return tags;
    },
    async files(id, signal) {
      for (const tag of tagsFor(id)) {
        try {
          const release = await read(`/releases/tags/${encodeURIComponent(tag)}`, signal);
          return await assetsOf(release, tag, { url, artifacts, signal, ...(credentials && { credentials }) });
        } catch (error) {
          if (!isMissing(error)) throw error;
        }
      }
      return undefined;
    },
  };
}

/** The API of github.com has its own host; GitHub Enterprise serves it below a path. */
function apiOf(text: string): string {
  const url = new URL(text);
  const path = trimTrailing(url.pathname, '/').replace(/\.git$/, '');
  return url.host === 'github.com' ? `https://api.github.com/repos${path}` : `${url.origin}/api/v3/repos${path}`;
}

async function assetsOf(
  release: JsonValue,
  tag: string,
  options: { url: string; artifacts: Artifacts; signal: AbortSignal; credentials?: Credentials },
): Promise<ReleaseFiles> {
  const { artifacts, signal, credentials } = options;
  const { host } = new URL(options.url);
  const assets = isJsonObject(release) ? release['assets'] : undefined;
  if (!Array.isArray(assets) || assets.length === 0) throw new StackReleaseError(`${tag} has no assets`);
  if (assets.length > maxAssets) throw new StackReleaseError(`${tag} has more than ${maxAssets} assets`);
  const files = new Map<string, Uint8Array>();
  let left = assetBytes;
  for (const asset of assets) {
    const { name, browser_download_url: url, digest } = isJsonObject(asset) ? asset : {};
    if (typeof name !== 'string' || typeof url !== 'string') {
      throw new StackReleaseError(`${tag} has an asset without name or address`);
    }
    const sha256 = typeof digest === 'string' ? /^sha256:([0-9a-f]{64})$/.exec(digest)?.[1] : undefined;
    const { bytes } = await artifacts.download(url, {
      limit: left,
      signal,
      ...(sha256 !== undefined && { sha256 }),
      // security: a URL in a response must not receive the credentials of another host
      ...(credentials && URL.canParse(url) && new URL(url).host === host && { credentials }),
    });
    left -= bytes.length;
    files.set(name, bytes);
  }
  return files;
}
