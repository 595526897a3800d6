import { type Condition, getCondition, type KubeObject, parseRfc3339 } from '../../machinery/index.ts';
import type { Conditioned, ConditionStatus, Verdict } from './conditions.ts';
import { pluralOf } from './contract-names.ts';
import { controlPlaneLabel } from './names.ts';

/** Severity of a condition in a summary. */
export type Weight = 'issue' | 'unknown' | 'info';

export interface MergeReasons {
  issue: string;
  unknown: string;
  good: string;
}

/** A condition is an issue in its bad state. */
export function weigh(condition: Condition, negative: readonly string[]): Weight {
  if (condition.status === 'Unknown') return 'unknown';
  return (condition.status === 'True') === negative.includes(condition.type) ? 'issue' : 'info';
}

export interface SummaryOptions {
  /** in order of importance */
  of: readonly string[];
  /** types with negative polarity: True is bad */
  negative?: readonly string[];
  /** types that are ignored if absent; other absent types count as Unknown */
  optional?: readonly string[];
  reasons: MergeReasons;
  weigh?: (condition: Condition) => Weight;
  /** used instead of stored conditions */
  overrides?: readonly Condition[];
  transform?: (lines: string[]) => string[];
}

/** Summarizes several conditions of one object, with upstream's messages. */
export function summarize(object: Conditioned, options: SummaryOptions): Verdict {
  const { of, negative = [], optional = [], overrides = [] } = options;
  const weightOf = options.weigh ?? ((condition: Condition) => weigh(condition, negative));
  const considered: { condition: Condition; weight: Weight }[] = [];
  for (const type of of) {
    let condition: Condition | undefined = getCondition(object.status?.conditions, type);
    if (!condition) {
      if (optional.includes(type)) continue;
      condition = { type, status: 'Unknown', reason: 'NotYetReported', message: 'Condition not yet reported' };
    } else condition = overrides.find((override) => override.type === type) ?? condition;
    considered.push({ condition, weight: weightOf(condition) });
  }
  const worst = worstOf(considered.map(({ weight }) => weight));
  const lines: string[] = [];
  for (const { condition, weight } of considered) {
    if (weight === 'info' && (worst !== 'info' || !condition.message)) continue;
    lines.push(`* ${condition.type}:${condition.message ? indented(condition.message) : ` ${condition.reason ?? ''}`}`);
  }
  return {
    ...outcome(worst, options.reasons),
    message: (options.transform ? options.transform(lines) : lines).join('\n'),
  };
}

export interface AggregateOptions {
  negative?: readonly string[];
  reasons: MergeReasons;
  weigh?: (condition: Condition) => Weight;
}

/** Aggregates one condition of many objects. */
export function aggregate(
  objects: readonly (KubeObject & Conditioned)[],
  type: string,
  options: AggregateOptions,
): Verdict {
  const weightOf = options.weigh ?? ((condition: Condition) => weigh(condition, options.negative ?? []));
  const found = objects.map((object): Reported => {
    const condition = getCondition(object.status?.conditions, type) ?? {
      type,
      status: 'Unknown',
      reason: 'NotYetReported',
      message: `Condition ${type} not yet reported`,
    };
    return {
      kind: object.kind,
      name: object.metadata.name ?? '',
      leads: object.kind === 'Machine' && object.metadata.labels?.[controlPlaneLabel] !== undefined,
      condition,
      weight: weightOf(condition),
    };
  });
  return mergeReported(found, options.reasons);
}

/** A condition of one of many objects, possibly of several kinds. */
export interface Reported {
  kind: string;
  name: string;
  /** control plane machines are listed first */
  leads?: boolean;
  condition: Condition;
  weight: Weight;
}

export function mergeReported(found: readonly Reported[], reasons: MergeReasons): Verdict {
  const worst = worstOf(found.map(({ weight }) => weight));
  const told =
    worst === 'info'
      ? found.filter(({ condition }) => condition.message)
      : found.filter((one) => one.weight !== 'info');
  return { ...outcome(worst, reasons), message: describe(told).join('\n') };
}

function worstOf(weights: readonly Weight[]): Weight {
  return weights.includes('issue') ? 'issue' : weights.includes('unknown') ? 'unknown' : 'info';
}

function outcome(worst: Weight, reasons: MergeReasons): { status: ConditionStatus; reason: string } {
  if (worst === 'issue') return { status: 'False', reason: reasons.issue };
  if (worst === 'unknown') return { status: 'Unknown', reason: reasons.unknown };
  return { status: 'True', reason: reasons.good };
}

const maxMessages = 3;
const maxNames = 3;
const weights: readonly Weight[] = ['issue', 'unknown', 'info'];
const restOf: Record<Weight, string> = {
  issue: 'with other issues',
  unknown: 'with status unknown',
  info: 'with additional info',
};

interface Group {
  message: string;
  members: Reported[];
  leads: boolean;
  weight: Weight;
}

/** Merges objects of one kind with the same message into a line; only the most important lines are spelled out. */
function describe(found: readonly Reported[]): string[] {
  const lines: string[] = [];
  let left = maxMessages;
  for (const kind of [...new Set(found.map((one) => one.kind))].sort()) {
    const groups = new Map<string, Group>();
    for (const one of found) {
      if (one.kind !== kind) continue;
      const message = one.condition.message ?? '';
      const group = groups.get(message) ?? { message, members: [], leads: false, weight: one.weight };
      group.members.push(one);
      group.leads ||= one.leads === true;
      group.weight = worstOf([group.weight, one.weight]);
      groups.set(message, group);
    }
    const sorted = [...groups.values()];
    for (const group of sorted) group.members.sort(byImportance);
    sorted.sort(
      (a, b) =>
        Number(b.leads) - Number(a.leads) ||
        weights.indexOf(a.weight) - weights.indexOf(b.weight) ||
        b.members.length - a.members.length ||
        (namesOf(a) < namesOf(b) ? -1 : 1),
    );
    const rest = new Map<Weight, number>();
    for (const group of sorted) {
      if (left === 0) {
        rest.set(group.weight, (rest.get(group.weight) ?? 0) + group.members.length);
        continue;
      }
      left--;
      const names = group.members.map(({ name }) => name);
      const more = names.length > maxNames ? `, ... (${names.length - maxNames} more)` : '';
      const subject = names.length === 1 ? kind : kindPlural(kind);
      lines.push(`* ${subject} ${names.slice(0, maxNames).join(', ')}${more}:${indented(group.message)}`);
    }
    for (const weight of weights) {
      const count = rest.get(weight);
      if (count !== undefined) lines.push(`And ${count} ${count === 1 ? kind : kindPlural(kind)} ${restOf[weight]}`);
    }
  }
  return lines;
}

function kindPlural(kind: string): string {
  const plural = pluralOf(kind);
  const lower = kind.toLowerCase();
  let same = 0;
  while (same < lower.length && lower[same] === plural[same]) same++;
  return kind.slice(0, same) + plural.slice(same);
}

const namesOf = (group: Group): string => group.members.map(({ name }) => name).join(',');

function byImportance(a: Reported, b: Reported): number {
  return Number(b.leads === true) - Number(a.leads === true) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

const bullet = /\*\s/;

/** Places multi-line texts below their heading as nested bullets. */
function indented(message: string): string {
  if (!message.includes('\n') && !bullet.test(message)) return ` ${message}`;
  const lines = message.split('\n');
  const mixed = lines.some((line) => !bullet.test(line));
  return `\n${lines.map((line) => `  ${mixed ? (bullet.test(line) ? '  ' : '* ') : ''}${line}`).join('\n')}`;
}

/** Returns the latest of RFC 3339 times, in milliseconds. */
export function latestOf(...times: readonly (string | undefined)[]): number {
  let latest = 0;
  for (const time of times) latest = Math.max(latest, time === undefined ? 0 : (parseRfc3339(time) ?? 0));
  return latest;
}
