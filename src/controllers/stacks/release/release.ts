import { createHash } from 'node:crypto';
import { classNameOf, familyName, type StackId } from '../../../api/index.ts';
import { type Chart, chartFiles, loadChart, readArchive } from '../../../template/index.ts';
import { addonConfigFile, readAddonConfig, type StagesByHook } from './addon-config.ts';
import { type ReleaseFiles, textOf } from './documents.ts';
import { metadataFile, type ReleaseMetadata, readMetadata } from './metadata.ts';
import { StackReleaseError } from './release-error.ts';

/** An add-on chart before its dependencies are added. */
export interface AddonChart {
  readonly files: ReleaseFiles;
  /** Go template for values that depend on the Cluster */
  readonly overwrite: string | undefined;
}

/** Add-ons in stages (clusteraddon.yaml), or in one chart as in older stacks. */
export type ReleaseAddons =
  | { readonly kind: 'stages'; readonly hooks: StagesByHook; readonly charts: ReadonlyMap<string, AddonChart> }
  | { readonly kind: 'chart'; readonly chart: AddonChart };

/** A parsed and verified release of a cluster stack. */
export interface StackRelease {
  readonly id: StackId;
  readonly metadata: ReleaseMetadata;
  /** renders the ClusterClass and its templates */
  readonly classChart: Chart;
  readonly addons: ReleaseAddons;
  /** node-images.yaml, for stacks with own images */
  readonly nodeImages: string | undefined;
  /** digest of all files, for pinned releases */
  readonly digest: string | undefined;
}

const addonValuesFile = 'cluster-addon-values.yaml';
const overwriteFile = 'overwrite.yaml';

/** Parses a release in its published form, or with unpacked charts. */
export function readRelease(id: StackId, files: ReleaseFiles, options: { isPinned: boolean }): StackRelease {
  const metadata = readMetadata(neededText(files, metadataFile), id);
  const family = familyName(id);
  const classFiles = packedOrPlain(files, `${family}-cluster-class-${classNameOf(id).slice(family.length + 1)}`, {
    folder: 'cluster-class',
    isChart: true,
  });
  const config = files.get(addonConfigFile);
  const addonFiles = packedOrPlain(files, `${family}-cluster-addon-${metadata.addonVersion}`, {
    folder: 'cluster-addon',
    isChart: config === undefined,
  });
  const classChart = loadChart(classFiles);
  if (!classChart.ok) throw new StackReleaseError(`chart of the ClusterClass: ${classChart.error.message}`);
  return {
    id,
    metadata,
    classChart: classChart.value,
    addons:
      config === undefined
        ? { kind: 'chart', chart: { files: addonFiles, overwrite: optionalText(files, addonValuesFile) } }
        : { kind: 'stages', hooks: readAddonConfig(textOf(config)), charts: stageCharts(addonFiles) },
    nodeImages: optionalText(files, 'node-images.yaml'),
    digest: options.isPinned ? digestOf(files) : undefined,
  };
}

function neededText(files: ReleaseFiles, name: string): string {
  const content = files.get(name);
  if (content === undefined) throw new StackReleaseError(`${name} is missing`);
  return textOf(content);
}

function optionalText(files: ReleaseFiles, name: string): string | undefined {
  const content = files.get(name);
  return content && textOf(content);
}

/** Returns the content of an archive, or of the folder in its place. */
function packedOrPlain(
  files: ReleaseFiles,
  archive: string,
  { folder, isChart }: { folder: string; isChart: boolean },
): ReleaseFiles {
  const plain = below(files, `${folder}/`);
  if (plain.size > 0) return plain;
  const packed = files.get(`${archive}.tgz`);
  if (packed === undefined) throw new StackReleaseError(`neither ${archive}.tgz nor ${folder}/ is in the release`);
  const unpacked = readArchive(packed);
  const read = unpacked.ok && isChart ? chartFiles(unpacked.value) : unpacked;
  if (!read.ok) throw new StackReleaseError(`${archive}.tgz: ${read.error.message}`);
  return read.value;
}

function below(files: ReleaseFiles, prefix: string): ReleaseFiles {
  const found = new Map<string, Uint8Array>();
  for (const [path, content] of files) if (path.startsWith(prefix)) found.set(path.slice(prefix.length), content);
  return found;
}

/** One folder per stage. */
function stageCharts(files: ReleaseFiles): ReadonlyMap<string, AddonChart> {
  const names = new Set<string>();
  for (const path of files.keys()) if (path.includes('/')) names.add(path.slice(0, path.indexOf('/')));
  const charts = new Map<string, AddonChart>();
  for (const name of names) {
    const own = below(files, `${name}/`);
    if (own.has('Chart.yaml')) charts.set(name, { files: own, overwrite: optionalText(own, overwriteFile) });
  }
  return charts;
}

/** Digest of names and contents of all files, independent of their order. */
function digestOf(files: ReleaseFiles): string {
  const hash = createHash('sha256');
  for (const [path, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${createHash('sha256').update(content).digest('hex')}  ${path}\n`);
  }
  return `sha256:${hash.digest('hex')}`;
}
