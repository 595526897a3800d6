import { readFile } from 'node:fs/promises';
import type { JsonObject } from '../../../src/machinery/index.ts';
import {
  clone,
  deepEqual,
  isJsonObject,
  type JsonValue,
  parseYaml,
  systemRandom,
} from '../../../src/machinery/index.ts';
import { loadChart, mergeValues, renderChart } from '../../../src/template/index.ts';
import { runProcess } from '../../support/process.ts';
import { certificates } from './certificates.ts';
import { filesBelow } from './charts.ts';

export interface Case {
  readonly directory: string;
  readonly valuesFiles?: readonly string[];
  readonly kubeVersion?: string;
  readonly apiVersions?: readonly string[];
  readonly isUpgrade?: boolean;
}

export interface Document {
  readonly source: string;
  readonly object: JsonValue;
}

export type Verdict =
  | { readonly kind: 'agree'; readonly documents: number }
  | { readonly kind: 'both refuse'; readonly theirs: string; readonly ours: string }
  | { readonly kind: 'differ'; readonly detail: string };

export const releaseName = 'release-name';
export const namespace = 'some-namespace';
const defaultKubeVersion = '1.34.0';

/** Renders a chart with the real helm and with this project, and compares the documents. */
export async function compare(helm: string, wanted: Case): Promise<Verdict> {
  const theirs = await renderTheirs(helm, wanted);
  const ours = await renderOurs(wanted);
  if ('error' in theirs || 'error' in ours) {
    const [their, our] = [textOf(theirs), textOf(ours)];
    if ('error' in theirs && 'error' in ours) return { kind: 'both refuse', theirs: their, ours: our };
    return { kind: 'differ', detail: `helm: ${their}\nours: ${our}` };
  }
  let detail = difference(theirs.documents, ours.documents);
  if (detail === undefined) return { kind: 'agree', documents: ours.documents.length };
  // Differences between two runs of helm are random, so they are random here as well.
  const again = await renderTheirs(helm, wanted);
  if ('error' in again) return { kind: 'differ', detail };
  const [first, second] = mask(theirs.documents, again.documents, ours.documents);
  detail = difference(first, second);
  return detail === undefined ? { kind: 'agree', documents: first.length } : { kind: 'differ', detail };
}

type Rendered = { readonly documents: readonly Document[] } | { readonly error: string };
const textOf = (rendered: Rendered): string =>
  'error' in rendered ? rendered.error : `${rendered.documents.length} documents`;

async function renderTheirs(helm: string, wanted: Case): Promise<Rendered> {
  const args = ['template', releaseName, wanted.directory, '--namespace', namespace, '--include-crds'];
  args.push('--kube-version', wanted.kubeVersion ?? defaultKubeVersion);
  for (const version of wanted.apiVersions ?? []) args.push('--api-versions', version);
  for (const file of wanted.valuesFiles ?? []) args.push('--values', file);
  if (wanted.isUpgrade) args.push('--is-upgrade');
  const outcome = await runProcess(helm, args);
  if (outcome.code !== 0) {
    const error = outcome.stderr.replace(/^(?:WARNING|coalesce|warning|level=|[0-9/]+ [0-9:]+ ).*\n/gm, '');
    return { error: error.replace(/^Error: /, '').trim() };
  }
  return { documents: readOutput(outcome.stdout) };
}

/**
 * Parses the output of `helm template`, which puts a comment with the source before each document. The line break
 * before the next comment does not belong to the document. The last document is treated the same.
 */
function readOutput(stdout: string): Document[] {
  const documents: Document[] = [];
  let source = '';
  for (const text of stdout.replace(/\n$/, '').split(/(?:^|\n)---[ \t]*(?:\n|$)/)) {
    source = /^# Source: (.*)$/m.exec(text)?.[1] ?? source;
    const { value } = parseYaml(text, { largeIntegers: 'keep' });
    if (value === null) continue;
    const items = isJsonObject(value) && String(value['kind']).endsWith('List') ? value['items'] : undefined;
    for (const object of Array.isArray(items) ? items : [value]) documents.push({ source, object });
  }
  return documents;
}

async function renderOurs(wanted: Case): Promise<Rendered> {
  const chart = loadChart(await filesBelow(wanted.directory));
  if (!chart.ok) return { error: chart.error.message };
  let values: JsonObject = {};
  for (const file of wanted.valuesFiles ?? []) {
    const { value } = parseYaml(await readFile(file, 'utf8'));
    if (isJsonObject(value)) values = mergeValues(values, value);
  }
  const rendered = renderChart({
    chart: chart.value,
    values,
    release: { name: releaseName, namespace, isUpgrade: wanted.isUpgrade ?? false },
    capabilities: { kubeVersion: wanted.kubeVersion ?? defaultKubeVersion, apiVersions: wanted.apiVersions ?? [] },
    includeCrds: true,
    random: systemRandom,
    certificates,
  });
  if (!rendered.ok) return { error: rendered.error.message };
  const { objects, hooks } = rendered.value;
  return { documents: [...objects, ...hooks].map(({ source, object }) => ({ source, object: object as JsonValue })) };
}

function difference(theirs: readonly Document[], ours: readonly Document[]): string | undefined {
  for (let i = 0; i < Math.max(theirs.length, ours.length); i++) {
    const [their, our] = [theirs[i], ours[i]];
    if (!their || !our) {
      return `document ${i}: helm ${name(their)}, ours ${name(our)} (${theirs.length} and ${ours.length} documents)`;
    }
    if (name(their) !== name(our)) return `document ${i}: helm ${name(their)}, ours ${name(our)}`;
    const path = firstDifference(their.object, our.object, '');
    if (path !== undefined) return `${name(their)}: ${path}`;
  }
  return undefined;
}

function name(document: Document | undefined): string {
  if (!document) return 'nothing';
  const object = isJsonObject(document.object) ? document.object : {};
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  return `${document.source} ${String(object['kind'])}/${String(metadata['name'])}`;
}

function firstDifference(their: JsonValue | undefined, our: JsonValue | undefined, path: string): string | undefined {
  if (deepEqual(their, our)) return undefined;
  if (isJsonObject(their) && isJsonObject(our)) {
    for (const key of new Set([...Object.keys(their), ...Object.keys(our)])) {
      const found = firstDifference(their[key], our[key], `${path}.${key}`);
      if (found !== undefined) return found;
    }
  }
  if (Array.isArray(their) && Array.isArray(our)) {
    for (let i = 0; i < Math.max(their.length, our.length); i++) {
      const found = firstDifference(their[i], our[i], `${path}[${i}]`);
      if (found !== undefined) return found;
    }
  }
  return `${path}:\n  helm: ${shown(their)}\n  ours: ${shown(our)}`;
}

const shown = (value: JsonValue | undefined): string => (JSON.stringify(value) ?? 'absent').slice(0, 2_000);

/** Masks the positions where the first two differ, in the first and the third. */
function mask(
  first: readonly Document[],
  second: readonly Document[],
  third: readonly Document[],
): [readonly Document[], readonly Document[]] {
  const [one, other] = [first.map((document) => clone(document)), third.map((document) => clone(document))];
  const walk = (
    a: JsonValue | undefined,
    b: JsonValue | undefined,
    set: ((value: JsonValue) => void)[],
    c: JsonValue | undefined,
  ): void => {
    if (deepEqual(a, b)) return;
    if (isJsonObject(a) && isJsonObject(b)) {
      for (const key of Object.keys(a)) {
        const ours = isJsonObject(c) ? c : {};
        walk(
          a[key],
          b[key],
          [
            (value) => {
              a[key] = value;
            },
            (value) => {
              ours[key] = value;
            },
          ],
          ours[key],
        );
      }
    } else if (Array.isArray(a) && Array.isArray(b)) {
      for (let i = 0; i < a.length; i++) {
        const ours = Array.isArray(c) ? c : [];
        walk(
          a[i],
          b[i],
          [
            (value) => {
              a[i] = value;
            },
            (value) => {
              ours[i] = value;
            },
          ],
          ours[i],
        );
      }
    } else for (const put of set) put('random');
  };
  for (const [i, document] of one.entries()) walk(document.object, second[i]?.object, [], other[i]?.object);
  return [one, other];
}

/** Reports whether both errors are equal, ignoring helm's hints for terminal users. */
export function isSameRefusal({ theirs, ours }: Extract<Verdict, { kind: 'both refuse' }>): boolean {
  const bare = (text: string): string =>
    text
      .replace(/\n\nUse --debug flag.*$/s, '')
      .replace(/^An error occurred while checking for chart dependencies\. .*?: (?=found in)/, '')
      .replace(/^chart \S+: (?=found in)/, '')
      .trim();
  // The order of schema errors is random.
  const sorted = (text: string): string => (text.startsWith('values don') ? text.split('\n').sort().join('\n') : text);
  return sorted(bare(theirs)) === sorted(bare(ours));
}
