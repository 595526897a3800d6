import { humanDuration, parseRfc3339 } from '../../machinery/index.ts';
import type { Span, Tone } from '../output/colour.ts';
import { span } from '../output/colour.ts';
import { type Cell, renderTable } from '../output/table.ts';
import { type ConditionView, isBad, isPositive } from './conditions.ts';
import type { TreeNode } from './tree.ts';

/** Options of the drawing; ages are relative to `now`. */
export interface LayoutOptions {
  nowMs: number;
  colour: boolean;
  /** messages on one line of any length */
  wide?: boolean;
}

/** A table layout: its columns and their contents for an object and for a condition. */
interface Layout {
  header: readonly string[];
  object(node: TreeNode, options: LayoutOptions): Row;
  condition(condition: ConditionView, options: LayoutOptions): Row;
}

/** Cells after the name; further lines of the message follow below. */
interface Row {
  cells: Cell[];
  moreMessage: readonly string[];
}

const messageWidth = 100;

function messageLines(message: string, { wide = false }: LayoutOptions): string[] {
  return wide ? [message.replaceAll('\n', ' ')] : wrap(message, messageWidth);
}

/** NAME READY SEVERITY REASON SINCE MESSAGE, as in guides and in clusterctl before v1.11. */
const readinessLayout: Layout = {
  header: ['NAME', 'READY', 'SEVERITY', 'REASON', 'SINCE', 'MESSAGE'],
  object: ({ condition, members }, options) => readinessRow(condition, options, members),
  condition: (condition, options) => readinessRow(condition, options),
};

function readinessRow(condition: ConditionView | undefined, options: LayoutOptions, members?: readonly string[]): Row {
  const { status = '', message = '' } = condition ?? {};
  // Good v1beta2 conditions have a reason, too, but it carries no information.
  const reason = (condition && !isBad(condition) ? undefined : condition?.reason) ?? '';
  const severity = condition?.severity ?? (condition ? severityOf(condition) : '');
  const tone = readinessTone(condition, severity);
  const [first = '', ...moreMessage] = messageLines(message, options);
  return {
    cells: [
      [span(status, tone)],
      [span(severity, tone)],
      [span(reason, tone)],
      [span(age(condition, options))],
      messageCell(first, members),
    ],
    moreMessage,
  };
}

/** v1beta2 conditions have no severity: waiting is Info, faults are Warning. */
function severityOf({ type, status, reason = '' }: ConditionView): string {
  if (!isBad({ type, status })) return '';
  if (status === 'Unknown') return 'Info';
  return /^(?:Waiting|Provisioning|Scaling|Rolling|Deleting|NotUpToDate$)/.test(reason) ? 'Info' : 'Warning';
}

function readinessTone(condition: ConditionView | undefined, severity: string): Tone {
  if (condition && !isBad(condition)) return 'good';
  if (severity === 'Error') return 'bad';
  return severity === 'Warning' ? 'warning' : 'plain';
}

/** NAME REPLICAS AVAILABLE READY UP TO DATE STATUS REASON SINCE MESSAGE, as in clusterctl since v1.11. */
const replicasLayout: Layout = {
  header: ['NAME', 'REPLICAS', 'AVAILABLE', 'READY', 'UP TO DATE', 'STATUS', 'REASON', 'SINCE', 'MESSAGE'],
  object(node, options) {
    const { counters, members, shownConditions } = node;
    const { replicas = '', available, ready, upToDate } = counters;
    const number = (value: number | undefined): Cell => [span(value === undefined ? '' : String(value))];
    // With all conditions shown, the summary condition would be repeated.
    const isSaidBelow = shownConditions.some(({ type }) => type === node.condition?.type);
    const condition = isSaidBelow ? undefined : node.condition;
    const row = statusRow(condition, options, members);
    return {
      cells: [[span(replicas)], number(available), number(ready), number(upToDate), ...row.cells],
      moreMessage: row.moreMessage,
    };
  },
  condition(condition, options) {
    const row = statusRow(condition, options);
    return { cells: [[], [], [], [], ...row.cells], moreMessage: row.moreMessage };
  },
};

function statusRow(condition: ConditionView | undefined, options: LayoutOptions, members?: readonly string[]): Row {
  const [first = '', ...moreMessage] = messageLines(condition?.message ?? '', options);
  return {
    cells: [
      [span(condition?.status ?? '', condition && statusTone(condition))],
      [span(condition?.reason ?? '')],
      [span(age(condition, options))],
      messageCell(first, members),
    ],
    moreMessage,
  };
}

function statusTone({ type, status }: ConditionView): Tone {
  if (status === 'Unknown') return 'warning';
  return (status === 'True') === isPositive(type) ? 'good' : 'bad';
}

function age(condition: ConditionView | undefined, { nowMs }: LayoutOptions): string {
  const since = condition?.lastTransitionTime === undefined ? undefined : parseRfc3339(condition.lastTransitionTime);
  return since === undefined ? '' : humanDuration(nowMs - since);
}

/** Lists the members of a group and their common message. */
function messageCell(message: string, members: readonly string[] | undefined): Cell {
  if (!members) return [span(message)];
  const names = `See ${members.slice(0, 2).join(', ')}${members.length > 2 ? ', ...' : ''}`;
  return message === '' ? [span(names, 'faint')] : [span(`${names}: `, 'faint'), span(message)];
}

/** Wraps a message at spaces; line breaks are kept, and bullet points are indented. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const lead = /^ */.exec(line)?.[0] ?? '';
    const indent = line.trimStart().startsWith('* ') ? `${lead}  ` : lead;
    let current = lead;
    for (const word of line.split(/\s+/).filter((part) => part !== '')) {
      if (current.trim() !== '' && current.length + word.length >= width) {
        lines.push(current);
        current = indent + word;
      } else {
        current += current.trim() === '' ? word : ` ${word}`;
      }
    }
    lines.push(current);
  }
  return lines;
}

/** Renders the tree as text, in the older table with severities or the newer one with replica counts. */
export function renderTree(root: TreeNode, form: 'readiness' | 'replicas', options: LayoutOptions): string {
  const layout = form === 'readiness' ? readinessLayout : replicasLayout;
  const rows: Cell[][] = [];
  const addRow = (name: Cell, row: Row, below: string): void => {
    rows.push([name, ...row.cells]);
    const blanks = row.cells.slice(1).map((): Cell => []);
    for (const line of row.moreMessage) rows.push([[span(below, 'faint')], ...blanks, [span(line)]]);
  };
  /** `branch` is the prefix of the line itself, `trunk` the prefix of all lines below it */
  const visit = (node: TreeNode, branch: string, trunk: string): void => {
    const stem = node.children.length > 0 ? `${trunk}│ ` : `${trunk}  `;
    addRow([span(branch, 'faint'), ...titleSpans(node)], layout.object(node, options), stem.trimEnd());
    node.shownConditions.forEach((condition, index) => {
      const last = index === node.shownConditions.length - 1;
      const indent = stem + conditionIndent;
      addRow(
        [span(`${indent}${last ? '└─' : '├─'}`, 'faint'), span(condition.type, 'accent')],
        layout.condition(condition, options),
        last ? stem.trimEnd() : `${indent}│`,
      );
    });
    node.children.forEach((child, index) => {
      const last = index === node.children.length - 1;
      visit(child, `${trunk}${last ? '└─' : '├─'}`, `${trunk}${last ? '  ' : '│ '}`);
    });
  };
  visit(root, '', '');
  return renderTable(layout.header, rows, { colour: options.colour });
}

const conditionIndent = ' '.repeat(10);

/** Highlights the name of an object against its kind and role. */
function titleSpans(node: TreeNode): Span[] {
  const { title, object, role, deleting, members } = node;
  if (members) return [span(title, 'strong')];
  if (!object) return [span(title)];
  const name = object.metadata.name ?? '';
  const spans = [span(`${object.kind}/`, role === undefined ? 'plain' : 'faint'), span(name, 'strong')];
  if (role !== undefined) spans.unshift(span(`${role} - `));
  if (deleting) spans.unshift(span('!! DELETED !!', 'bad'), span(' '));
  return spans;
}
