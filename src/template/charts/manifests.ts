import { errorMessage, isJsonObject, type JsonObject, type JsonValue, parseYaml } from '../../machinery/index.ts';
import { TemplateError } from '../errors.ts';
import { compareStrings } from '../values/index.ts';

/** A rendered document. */
export interface Manifest {
  /** path of its template */
  readonly source: string;
  readonly kind: string;
  readonly value: JsonObject;
}

/** Helm's installation order of kinds. All others follow, by name. */
const installOrder: ReadonlyMap<string, number> = new Map(
  [
    ...['PriorityClass', 'Namespace', 'NetworkPolicy', 'ResourceQuota', 'LimitRange', 'PodSecurityPolicy'],
    ...['PodDisruptionBudget', 'ServiceAccount', 'Secret', 'SecretList', 'ConfigMap', 'StorageClass'],
    ...['PersistentVolume', 'PersistentVolumeClaim', 'CustomResourceDefinition', 'ClusterRole', 'ClusterRoleList'],
    ...['ClusterRoleBinding', 'ClusterRoleBindingList', 'Role', 'RoleList', 'RoleBinding', 'RoleBindingList'],
    ...['Service', 'DaemonSet', 'Pod', 'ReplicationController', 'ReplicaSet', 'Deployment'],
    ...['HorizontalPodAutoscaler', 'StatefulSet', 'Job', 'CronJob', 'IngressClass', 'Ingress', 'APIService'],
  ].map((kind, index) => [kind, index]),
);

/** Sorts by kind, keeping the order within a kind. */
export function inInstallOrder<T extends { readonly kind: string }>(manifests: readonly T[]): T[] {
  return manifests.toSorted((a, b) => {
    const first = installOrder.get(a.kind);
    const second = installOrder.get(b.kind);
    if (first !== undefined && second !== undefined) return first - second;
    if (first !== undefined || second !== undefined) return first !== undefined ? -1 : 1;
    return compareStrings(a.kind, b.kind);
  });
}

interface TextDocument {
  readonly text: string;
  /** first line in its file, starting at 1 */
  readonly line: number;
}

/** Splits a rendered file like Helm: at `---`, even if text follows on the same line. */
export function splitDocuments(file: string): TextDocument[] {
  const leading = file.length - file.trimStart().length;
  const text = file.trim();
  const documents: TextDocument[] = [];
  let line = 1 + lineBreaks(file, 0, leading);
  let counted = 0;
  const add = (from: number, to: number): void => {
    const part = text.slice(from, to);
    const trimmed = part.trim();
    if (trimmed === '') return;
    const start = from + part.length - part.trimStart().length;
    line += lineBreaks(text, counted, start);
    counted = start;
    documents.push({ text: trimmed, line });
  };
  let from = 0;
  for (let at = text.indexOf('---'); at >= 0; at = text.indexOf('---', at)) {
    // A line break consumed by the previous separator does not start another one.
    const isSeparator = at === 0 || (text[at - 1] === '\n' && at - 1 >= from);
    if (!isSeparator) {
      at += 3;
      continue;
    }
    add(from, at);
    at += 3;
    while (isSpace(text.charCodeAt(at))) at++;
    from = at;
  }
  add(from, text.length);
  return documents;
}

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b);

function lineBreaks(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** Splits a file that is not a template, without trimming, like the YAML reader of Kubernetes. */
function wholeDocuments(file: string): TextDocument[] {
  const documents: TextDocument[] = [];
  let line = 1;
  for (const text of file.split(/^---(?:[ \t][^\n]*)?$/m)) {
    documents.push({ text, line });
    line += lineBreaks(text, 0, text.length);
  }
  return documents;
}

/** Returns the objects of a file below `crds/`. */
export const readDefinitions = (source: string, file: string): Manifest[] => objectsOf(source, wholeDocuments(file));

/** Parses a rendered file into objects. Empty documents are skipped and lists are expanded, as on apply. */
export const readManifests = (source: string, file: string): Manifest[] => objectsOf(source, splitDocuments(file));

function objectsOf(source: string, documents: readonly TextDocument[]): Manifest[] {
  const manifests: Manifest[] = [];
  for (const { text, line } of documents) {
    const value = readDocument(source, text, line);
    if (value === null) continue;
    const where = `${source}:${line}`;
    if (!isJsonObject(value)) throw new TemplateError(`${where}: the document is no object`);
    const { kind } = value;
    if (typeof kind !== 'string' || kind === '') {
      if (Object.keys(value).length === 0) continue;
      throw new TemplateError(`${where}: Object 'Kind' is missing`);
    }
    if (kind.endsWith('List') && Array.isArray(value['items'])) {
      for (const item of value['items']) manifests.push(asManifest(source, item, where, kind));
    } else manifests.push(asManifest(source, value, where, kind));
  }
  return manifests;
}

function asManifest(source: string, value: JsonValue, where: string, sortedAs: string): Manifest {
  if (!isJsonObject(value)) throw new TemplateError(`${where}: an item of the list is no object`);
  for (const field of ['apiVersion', 'kind']) {
    const given = value[field];
    if (typeof given !== 'string' || given === '') throw new TemplateError(`${where}: ${field} is missing`);
  }
  const { metadata } = value;
  if (metadata !== undefined && metadata !== null && !isJsonObject(metadata)) {
    throw new TemplateError(`${where}: metadata is no object`);
  }
  return { source, kind: sortedAs, value };
}

function readDocument(source: string, text: string, line: number): JsonValue {
  try {
    return parseYaml(text, { largeIntegers: 'keep' }).value;
  } catch (error) {
    const message = errorMessage(error);
    const found = /^yaml: line (\d+): (.*)$/s.exec(message);
    const detail = found ? `yaml: line ${Number(found[1]) + line - 1}: ${found[2]}` : message;
    throw new TemplateError(`YAML parse error on ${source}: error converting YAML to JSON: ${detail}`, {
      place: source,
    });
  }
}
