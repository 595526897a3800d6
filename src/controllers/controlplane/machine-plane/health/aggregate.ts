import type { Machine } from '../../../../api/index.ts';
import {
  conditionOf,
  type LegacyVerdict,
  legacyConditionOf,
  legacyFalse,
  legacyTrue,
  type Verdict,
} from '../../../shared/index.ts';

export interface GroupedConditions {
  /** condition types of machines */
  of: readonly string[];
  /** faults that concern no single machine */
  problems: readonly string[];
  /** short name of the aspect, for messages */
  note: string;
}

const maxNames = 3;

/** Aggregates conditions of machines into one of the control plane; reports only what is False or Unknown. */
export function aggregateHealth(machines: readonly Machine[], { of, problems, note }: GroupedConditions): Verdict {
  const byMessage = new Map<string, string[]>();
  let ill = problems.length > 0;
  let unknown = false;
  let seen = false;
  for (const machine of machines) {
    const conditions = of.flatMap((type) => conditionOf(machine, type) ?? []);
    if (conditions.length > 0) seen = true;
    const told = conditions.filter(
      // a machine without a server is not expected to report anything
      ({ status }) => status === 'False' || (status === 'Unknown' && machine.spec.providerID),
    );
    if (told.length === 0) continue;
    ill ||= told.some(({ status }) => status === 'False');
    unknown ||= told.some(({ status }) => status === 'Unknown');
    const texts = new Set(conditions.map(({ message }) => message));
    const message =
      conditions.length > 1 && texts.size === 1
        ? `  * Control plane components: ${[...texts][0]}`
        : told.map(({ type, status, message: text }) => `  * ${type}: ${text || `condition is ${status}`}`).join('\n');
    byMessage.set(message, [...(byMessage.get(message) ?? []), machine.metadata.name ?? '']);
  }
  const message = [...groups(byMessage), ...problems.map((problem) => `* ${problem}`)].join('\n');
  if (ill) return { status: 'False', reason: 'NotHealthy', message };
  if (unknown) return { status: 'Unknown', reason: 'HealthUnknown', message };
  if (seen) return { status: 'True', reason: 'Healthy' };
  return { status: 'Unknown', reason: 'HealthUnknown', message: `No Machines reporting ${note} status` };
}

function groups(byMessage: ReadonlyMap<string, string[]>): string[] {
  return [...byMessage]
    .map(([message, names]) => ({ message, names: [...names].sort() }))
    .sort((a, b) => b.names.length - a.names.length || (a.names.join() < b.names.join() ? -1 : 1))
    .map(({ message, names }) => {
      const more = names.length > maxNames ? `, ... (${names.length - maxNames} more)` : '';
      return `* Machine${names.length > 1 ? 's' : ''} ${names.slice(0, maxNames).join(', ')}${more}:\n${message}`;
    });
}

/** Aggregates deprecated v1beta1 conditions; undefined while no machine has any. */
export function aggregateLegacyHealth(
  machines: readonly Machine[],
  { of, problems, note }: GroupedConditions,
  reasons: { ill: string; unknown: string },
): LegacyVerdict | undefined {
  const having = (test: (status: string, severity: string | undefined) => boolean): string[] =>
    machines
      .filter((machine) =>
        of.some((type) => {
          const condition = legacyConditionOf(machine, type);
          return condition !== undefined && test(condition.status, condition.severity);
        }),
      )
      .map(({ metadata }) => metadata.name ?? '')
      .sort();
  const told = (what: string, names: readonly string[]): string =>
    `Following Machines are reporting ${note} ${what}: ${names.join(', ')}`;
  const errors = having((status, severity) => status === 'False' && severity === 'Error');
  if (errors.length > 0 || problems.length > 0) {
    const all = [...problems, ...(errors.length > 0 ? [told('errors', errors)] : [])];
    return legacyFalse(reasons.ill, 'Error', all.join('; '));
  }
  for (const [severity, what] of [
    ['Warning', 'warnings'],
    ['Info', 'info'],
  ] as const) {
    const names = having((status, found) => status === 'False' && found === severity);
    if (names.length > 0) return legacyFalse(reasons.ill, severity, told(what, names));
  }
  if (having((status) => status === 'True').length > 0) return legacyTrue;
  const unknown = having((status) => status === 'Unknown');
  if (unknown.length === 0) return undefined;
  const message = `Following Machines are reporting unknown ${note} status: ${unknown.join(', ')}`;
  return { status: 'Unknown', reason: reasons.unknown, message };
}
