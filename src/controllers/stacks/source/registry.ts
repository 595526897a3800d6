import { classNameOf, parseStackId, releaseNameOf, type StackId } from '../../../api/index.ts';
import { ArtifactError, type Registry } from '../../../artifacts/index.ts';
import type { ReleaseFiles } from '../release/documents.ts';
import { StackReleaseError } from '../release/release-error.ts';
import type { FetchChart, ReleaseSource } from './types.ts';

const pollMs = 5 * 60_000;
const titleAnnotation = 'org.opencontainers.image.title';
const maxBytes = 64 * 1024 * 1024;

/** Reads releases from an OCI repository: one tag per release, one layer per file. */
export function registrySource(name: string, registry: Registry, chart: FetchChart): ReleaseSource {
  return {
    name,
    pollMs,
    isPinned: true,
    chart,
    tags: (signal) => registry.tags(signal),
    async files(id, signal) {
      for (const tag of tagsFor(id)) {
        try {
          return await pull(registry, tag, signal);
        } catch (error) {
          if (!isMissing(error)) throw error;
        }
      }
      return undefined;
    },
  };
}

/** Tags have a dash, or a dot if written by hand. */
export const tagsFor = (id: StackId): string[] => [...new Set([releaseNameOf(id), classNameOf(id)])];

export const isMissing = (error: unknown): boolean => error instanceof ArtifactError && error.reason === 'notFound';

async function pull(registry: Registry, tag: string, signal: AbortSignal): Promise<ReleaseFiles> {
  const { layers } = await registry.pull(tag, signal);
  const total = layers.reduce((sum, { size }) => sum + size, 0);
  if (total > maxBytes) throw new StackReleaseError(`${tag} has ${total} bytes; at most ${maxBytes} are read`);
  const files = new Map<string, Uint8Array>();
  for (const layer of layers) {
    const title = layer.annotations[titleAnnotation];
    if (title === undefined) {
      throw new StackReleaseError(`${tag} is no release: a layer has no annotation ${titleAnnotation}`);
    }
    files.set(title.replace(/^\.\//, ''), await layer.read(signal));
  }
  if (parseStackId(tag) === undefined || files.size === 0) throw new StackReleaseError(`${tag} has no files`);
  return files;
}
