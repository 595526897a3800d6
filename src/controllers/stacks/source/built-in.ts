import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  classNameOf,
  compareStackVersions,
  familyName,
  formatStackVersion,
  parseKubernetesVersion,
  parseStackVersion,
  type StackId,
} from '../../../api/index.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseYaml } from '../../../machinery/index.ts';
import { type ReleaseFiles, readMapping, readText, textOf } from '../release/documents.ts';
import { metadataFile } from '../release/metadata.ts';
import { StackReleaseError } from '../release/release-error.ts';
import { readFolder } from './read-folder.ts';
import type { FetchChart, ReleaseSource } from './types.ts';

// Bundled stacks. All releases of a stack share one source: `<provider>/<name>/` overlays `<provider>/shared/`, with
// the versions in releases.yaml.

const releasesFile = 'releases.yaml';
const sharedFolder = 'shared';

interface BuiltInRelease {
  readonly id: StackId;
  readonly kubernetes: string;
  readonly components: JsonObject;
  /** version of each chart dependency of the add-ons */
  readonly charts: JsonObject;
  readonly files: ReleaseFiles;
}

export function builtInSource(folder: string, chart: FetchChart): ReleaseSource {
  let releases: Promise<ReadonlyMap<string, BuiltInRelease>> | undefined;
  const load = (signal: AbortSignal): Promise<ReadonlyMap<string, BuiltInRelease>> => {
    releases ??= readStacks(folder, signal).catch((error) => {
      releases = undefined;
      throw error;
    });
    return releases;
  };
  return {
    name: 'the stacks that come with Capstan',
    pollMs: undefined,
    isPinned: false,
    chart,
    tags: async (signal) => [...(await load(signal)).keys()],
    files: async (id, signal) => {
      const release = (await load(signal)).get(classNameOf(id));
      return release && assemble(release);
    },
  };
}

async function readStacks(folder: string, signal: AbortSignal): Promise<ReadonlyMap<string, BuiltInRelease>> {
  const found: BuiltInRelease[] = [];
  for (const provider of await folders(folder)) {
    const shared = await readFolder(join(folder, provider, sharedFolder), signal);
    for (const name of await folders(join(folder, provider))) {
      if (name === sharedFolder) continue;
      const files = new Map([...shared, ...(await readFolder(join(folder, provider, name), signal))]);
      found.push(...releasesOf(provider, name, files));
    }
  }
  found.sort((a, b) => compareStackVersions(a.id.version, b.id.version));
  return new Map(found.map((release) => [classNameOf(release.id), release]));
}

async function folders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function releasesOf(provider: string, name: string, files: ReleaseFiles): BuiltInRelease[] {
  const list = parseYaml(textOf(files.get(releasesFile) ?? new Uint8Array())).value;
  if (!Array.isArray(list)) throw new StackReleaseError(`${provider}/${name}: ${releasesFile} must be a list`);
  return list.map((entry) => releaseOf(provider, name, entry, files));
}

function releaseOf(provider: string, name: string, entry: JsonValue, files: ReleaseFiles): BuiltInRelease {
  const mapping = isJsonObject(entry) ? entry : {};
  const version = parseStackVersion(readText(releasesFile, mapping, 'version') ?? '');
  const kubernetes = readText(releasesFile, mapping, 'kubernetes') ?? '';
  const parsed = parseKubernetesVersion(kubernetes);
  const { components, charts } = mapping;
  if (!version || !parsed || !isJsonObject(components) || !isJsonObject(charts)) {
    throw new StackReleaseError(
      `${provider}/${name}: ${releasesFile} has an entry without version, kubernetes or charts`,
    );
  }
  const id = { provider, name, kubernetesVersion: `${parsed.major}.${parsed.minor}`, version };
  return { id, kubernetes, components, charts, files };
}

/** Builds the files of a release as the upstream build tool does, with unpacked charts. */
function assemble({ id, kubernetes, components, charts, files }: BuiltInRelease): ReleaseFiles {
  const version = formatStackVersion(id.version);
  const made = new Map<string, Uint8Array>();
  for (const [path, content] of files) {
    if (path === releasesFile) continue;
    made.set(path, path.endsWith('/Chart.yaml') ? stamped(path, content, { id, version, charts }) : content);
  }
  made.set(
    metadataFile,
    document({
      apiVersion: 'metadata.clusterstack.x-k8s.io/v1alpha1',
      versions: { clusterStack: version, kubernetes, components },
    }),
  );
  made.set(
    'csctl.yaml',
    document({
      apiVersion: 'csctl.clusterstack.x-k8s.io/v1alpha1',
      config: {
        clusterStackName: id.name,
        kubernetesVersion: kubernetes,
        provider: { apiVersion: `${id.provider}.csctl.clusterstack.x-k8s.io/v1alpha1`, type: id.provider },
      },
    }),
  );
  return made;
}

/** JSON is valid YAML */
const document = (value: JsonObject): Uint8Array =>
  new TextEncoder().encode(`${JSON.stringify(value, undefined, 2)}\n`);

function stamped(
  path: string,
  content: Uint8Array,
  { id, version, charts }: { id: StackId; version: string; charts: JsonObject },
): Uint8Array {
  const chart = readMapping(path, textOf(content));
  if (path === 'cluster-class/Chart.yaml') {
    return document({ ...chart, name: `${familyName(id)}-cluster-class`, version });
  }
  const { dependencies } = chart;
  if (!Array.isArray(dependencies)) return content;
  return document({
    ...chart,
    version,
    dependencies: dependencies.map((dependency) => {
      const name = isJsonObject(dependency) ? dependency['name'] : undefined;
      const pinned = typeof name === 'string' ? charts[name] : undefined;
      if (typeof pinned !== 'string')
        throw new StackReleaseError(`${releasesFile} has no version of the chart ${name}`);
      return { ...(dependency as JsonObject), version: pinned };
    }),
  });
}
