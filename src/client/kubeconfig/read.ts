import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { isJsonObject } from '../../machinery/index.ts';
import { errnoOf, kubeconfigError } from './errors.ts';
import type { KubeconfigFile, Located, MergedKubeconfig } from './types.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the files that kubectl reads: the given one, otherwise $KUBECONFIG, otherwise ~/.kube/config. */
export function kubeconfigPaths(options: { path?: string; env: Environment }): { paths: string[]; explicit: boolean } {
  if (options.path !== undefined && options.path !== '') return { paths: [options.path], explicit: true };
  const listed = (options.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return { paths: [...new Set(listed)], explicit: false };
  return { paths: [join(options.env['HOME'] ?? homedir(), '.kube', 'config')], explicit: false };
}

/** Reads and merges kubeconfigs. Missing files are skipped unless explicitly named; the first file wins per entry. */
export async function readKubeconfigs(options: { path?: string; env: Environment }): Promise<MergedKubeconfig> {
  const { paths, explicit } = kubeconfigPaths(options);
  const files: { path: string; content: KubeconfigFile }[] = [];
  for (const path of paths) {
    const content = await readOne(path, explicit);
    if (content) files.push({ path, content });
  }
  return mergeKubeconfigs(files);
}

async function readOne(path: string, required: boolean): Promise<KubeconfigFile | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') {
      throw kubeconfigError(
        'CAP_KUBECONFIG_UNREADABLE',
        `cannot read kubeconfig ${path}: ${error instanceof Error ? error.message : String(error)}`,
        'check the permissions of the file, or name another one with --kubeconfig',
        error,
      );
    }
    if (!required) return undefined;
    throw kubeconfigError(
      'CAP_KUBECONFIG_NOT_FOUND',
      `kubeconfig ${path} does not exist`,
      'check the path given with --kubeconfig',
      error,
    );
  }
  return parseKubeconfig(text, path);
}

/** Parses a kubeconfig; `file` is used only in errors. An empty text is an empty configuration. */
export function parseKubeconfig(text: string, file: string): KubeconfigFile {
  const invalid = (what: string, cause?: unknown): Error =>
    kubeconfigError(
      'CAP_KUBECONFIG_INVALID',
      `kubeconfig ${file} is not valid: ${what}`,
      'repair the file, or restore it from a backup',
      cause,
    );
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    // The yaml package quotes the invalid lines, which may contain a token, so only the first line of its message is
    // used.
    throw invalid(error instanceof Error ? (error.message.split('\n')[0] ?? 'not YAML') : 'not YAML');
  }
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) throw invalid('the top level must be a mapping');
  if (value['kind'] !== undefined && value['kind'] !== 'Config') {
    throw invalid(`kind is ${JSON.stringify(value['kind'])}, expected "Config"`);
  }
  for (const [list, field] of [
    ['clusters', 'cluster'],
    ['users', 'user'],
    ['contexts', 'context'],
  ] as const) {
    const entries = value[list];
    if (entries === undefined || entries === null) continue;
    if (!Array.isArray(entries)) throw invalid(`${list} must be a list`);
    entries.forEach((entry, index) => {
      if (!isJsonObject(entry) || typeof entry['name'] !== 'string') throw invalid(`${list}[${index}] has no name`);
      const body = entry[field];
      if (body !== undefined && body !== null && !isJsonObject(body)) {
        throw invalid(`${list}[${index}] ("${entry['name']}"): ${field} must be a mapping`);
      }
    });
  }
  return value as KubeconfigFile;
}

/** Merges files: for each entry and the current context, the first file wins. */
export function mergeKubeconfigs(files: readonly { path: string; content: KubeconfigFile }[]): MergedKubeconfig {
  const merged: MergedKubeconfig = {
    currentContext: undefined,
    clusters: new Map(),
    users: new Map(),
    contexts: new Map(),
    files: files.map(({ path }) => path),
  };
  const keepFirst = <T>(
    into: Map<string, Located<T>>,
    name: string,
    value: T | null | undefined,
    file: string,
  ): void => {
    if (!into.has(name)) into.set(name, { value: value ?? ({} as T), file });
  };
  for (const { path, content } of files) {
    const current = content['current-context'];
    if (merged.currentContext === undefined && current !== undefined && current !== '') merged.currentContext = current;
    for (const { name, cluster } of content.clusters ?? []) keepFirst(merged.clusters, name, cluster, path);
    for (const { name, user } of content.users ?? []) keepFirst(merged.users, name, user, path);
    for (const { name, context } of content.contexts ?? []) keepFirst(merged.contexts, name, context, path);
  }
  return merged;
}
