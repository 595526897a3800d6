import { hoursPerMonth } from '../../controllers/index.ts';
import { span } from '../output/colour.ts';
import { renderTable } from '../output/table.ts';
import { typeNames } from './describe-change.ts';
import type { ClusterPlan, Plan, PlannedChange, PlannedMachines } from './types.ts';

const signs = { create: '+', change: '~', delete: '-' } as const;

/** Renders the plan for people: changes of each cluster, quotas, problems and costs. */
export function renderPlan(plan: Plan, { colour }: { colour: boolean }): string {
  const parts = plan.clusters.map(renderCluster);
  if (plan.quotas.length > 0) parts.push(renderQuotas(plan, { colour }));
  parts.push(renderProblems(plan), renderCosts(plan));
  for (const note of plan.notes) parts.push(`note: ${note}\n`);
  return parts.filter((part) => part !== '').join('\n');
}

function renderCluster({ namespace, name, exists, clouds, changes, machines }: ClusterPlan): string {
  const where = clouds.length === 0 ? '' : ` in ${clouds.join(' and ')}`;
  const lines = [`cluster ${namespace}/${name}${exists ? '' : ' (new)'}${where}`];
  const drift = changes.filter(({ cause }) => cause === 'drift');
  if (drift.length > 0) {
    lines.push('  the cloud differs from what is desired already; the controllers would put right:');
    lines.push(...linesOf(drift));
  }
  const edits = changes.filter(({ cause }) => cause === 'edit');
  if (edits.length > 0 && drift.length > 0) lines.push('  the edit brings:');
  lines.push(...linesOf(edits));
  if (changes.length === 0) lines.push('  nothing would change in the cloud');
  for (const one of machines) lines.push(`  ${machinesText(one)}`);
  if (changes.length > 0) lines.push(`  ${summary(changes)}`);
  return `${lines.join('\n')}\n`;
}

function machinesText({ object, create, delete: gone, replace, because }: PlannedMachines): string {
  const parts = [
    ...(replace > 0
      ? [`replaces ${count(replace, 'machine')}${because.length > 0 ? ` (${because.join('; ')})` : ''}`]
      : []),
    ...(create > replace ? [`adds ${count(create - replace, 'machine')}`] : []),
    ...(gone > replace ? [`removes ${count(gone - replace, 'machine')}`] : []),
  ];
  return `-/+ ${object} ${parts.join(', ')}`.replace('-/+', replace > 0 ? '-/+' : create > 0 ? '+' : '-');
}

/** Groups equal changes in the order of their first occurrence. */
function linesOf(changes: readonly PlannedChange[]): string[] {
  const groups = new Map<string, { change: PlannedChange; amount: number }>();
  const newGroups = new Set(
    changes.filter(({ action, type }) => action === 'create' && type === 'securityGroup').map(({ name }) => name),
  );
  for (const one of changes) {
    // Rules of a new group are summarized; they matter only in changes of existing groups.
    const isOfNewGroup = one.type === 'securityGroupRule' && newGroups.has(one.name);
    const change = isOfNewGroup ? { ...one, detail: '' } : one;
    const key = lineOf(change, '');
    const known = groups.get(key);
    if (known) known.amount++;
    else groups.set(key, { change, amount: 1 });
  }
  return [...groups.values()].map(({ change, amount }) => lineOf(change, amount === 1 ? '' : ` (${amount})`));
}

function lineOf({ action, type, name, detail, fields, id }: PlannedChange, amount: string): string {
  const more = [detail, ...(action === 'change' ? [`changes ${fields.join(', ')}`] : [])].filter((text) => text !== '');
  const which = name === '' && id !== undefined ? ` ${id}` : name === '' ? '' : ` ${name}`;
  return `  ${signs[action]} ${typeNames[type]}${which}${amount}${more.length > 0 ? `: ${more.join(', ')}` : ''}`;
}

function summary(changes: readonly PlannedChange[]): string {
  const of = (action: PlannedChange['action']): number => changes.filter((change) => change.action === action).length;
  return `${of('create')} to create, ${of('change')} to change, ${of('delete')} to delete`;
}

function renderQuotas({ quotas }: Plan, { colour }: { colour: boolean }): string {
  const several = new Set(quotas.map(({ cloud }) => cloud)).size > 1;
  const rows = quotas.map(({ cloud, resource, needed, left, enough }) => [
    ...(several ? [cloud] : []),
    resource,
    String(needed),
    left === undefined ? 'not told' : left === null ? 'unlimited' : String(left),
    enough ? '' : 'too few: delete some, or ask the operator of the cloud for more',
  ]);
  const header = [...(several ? ['CLOUD'] : []), 'QUOTA', 'NEEDED', 'LEFT', ''];
  return renderTable(
    header,
    rows.map((row) => row.map((text) => [span(text)])),
    { colour },
  );
}

function renderProblems({ problems }: Plan): string {
  return problems.map(({ object, message, severity }) => `${severity}: ${object}: ${message}\n`).join('');
}

function renderCosts({ costs: { before, after, currency, unpriced } }: Plan): string {
  if (before === 0 && after === 0) {
    return unpriced.length === 0
      ? ''
      : `cost: not known: no price for ${unpriced.join(', ')}; give a table with --prices\n`;
  }
  const both = (perHour: number): string =>
    `${perHour.toFixed(4)} ${currency} per hour, ${(perHour * hoursPerMonth).toFixed(2)} per month`;
  const lines = [before === 0 ? `cost: ${both(after)}` : `cost: ${both(after)}; now ${both(before)}`];
  if (unpriced.length > 0)
    lines.push(`cost: no price for ${unpriced.join(', ')}: not in the sums; give a table with --prices`);
  return `${lines.join('\n')}\n`;
}

const count = (amount: number, one: string): string => `${amount} ${one}${amount === 1 ? '' : 's'}`;

/** Tells whether nothing prevents the plan from working. */
export function canWork({ problems, quotas }: Plan): boolean {
  return problems.every(({ severity }) => severity !== 'error') && quotas.every(({ enough }) => enough);
}
