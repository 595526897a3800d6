import { cpus, loadavg } from 'node:os';

/** Whether higher or lower values are better. */
export type Direction = 'higher' | 'lower';

export interface FigureKey {
  figure: string;
  /** measured server: `capstan`, or the name given to another kubeconfig */
  target: string;
  protocol?: string;
  kind?: string;
}

export interface FigureMeaning {
  unit: string;
  better: Direction;
  /** target value */
  aim?: number;
  /** describes how reliable the other figures are and not the server, so it gets no ratio */
  isContext?: boolean;
}

interface Series extends FigureMeaning {
  key: FigureKey;
  runs: number[];
}

export interface FigureSummary extends FigureKey, FigureMeaning {
  /** median of the runs */
  value: number;
  best: number;
  runs: number[];
  /** whether the median reaches the aim */
  met?: boolean;
}

/** Collects the results of all runs and prints them: a table, and one JSON line per figure for programs. */
export class Figures {
  readonly #series = new Map<string, Series>();

  add(key: FigureKey, value: number, meaning: FigureMeaning): void {
    const id = JSON.stringify([key.figure, key.kind, key.protocol, key.target]);
    const known = this.#series.get(id);
    if (known) known.runs.push(value);
    else this.#series.set(id, { key, ...meaning, runs: [value] });
  }

  summaries(): FigureSummary[] {
    return [...this.#series.values()].map(summarise);
  }

  print(write: (text: string) => void = (text) => process.stdout.write(text)): void {
    const summaries = this.summaries();
    write(`\n${formatTable(withRatios(summaries))}\n`);
    const [oneMinute = 0] = loadavg();
    for (const summary of summaries) {
      const { runs, ...rest } = summary;
      write(`${JSON.stringify({ ...rest, runs: runs.map(round), cores: cpus().length, load: round(oneMinute) })}\n`);
    }
  }
}

function summarise(series: Series): FigureSummary {
  const { key, runs, unit, better, aim, isContext } = series;
  const value = percentile(runs, 0.5);
  const best = better === 'higher' ? Math.max(...runs) : Math.min(...runs);
  const met = aim === undefined ? undefined : better === 'higher' ? value >= aim : value <= aim;
  return {
    ...key,
    value: round(value),
    best: round(best),
    runs,
    unit,
    better,
    ...(aim !== undefined && { aim }),
    ...(met !== undefined && { met }),
    ...(isContext && { isContext }),
  };
}

/** Returns the `p` quantile of the samples. */
export function percentile(samples: readonly number[], p: number): number {
  if (samples.length === 0) return Number.NaN;
  const sorted = [...samples].sort((a, b) => a - b);
  const position = p * (sorted.length - 1);
  const below = sorted[Math.floor(position)]!;
  const above = sorted[Math.ceil(position)]!;
  return below + (above - below) * (position - Math.floor(position));
}

export function round(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const digits = Math.max(0, 3 - Math.ceil(Math.log10(Math.abs(value))));
  return Number(value.toFixed(Math.min(digits, 6)));
}

type Row = string[];

/** Puts the medians of all targets side by side, with the ratio of capstan to each as "times better". */
function withRatios(summaries: readonly FigureSummary[]): Row[] {
  const targets = [...new Set(summaries.map(({ target }) => target))];
  const [first, ...others] = targets;
  const rows: Row[] = [
    [
      'figure',
      'unit',
      ...targets.flatMap((name) => [name, 'best']),
      'aim',
      '',
      ...others.map((name) => `${first} vs ${name}`),
    ],
  ];
  const groups = new Map<string, Map<string, FigureSummary>>();
  for (const summary of summaries) {
    const name = [summary.figure, summary.kind, summary.protocol].filter((part) => part !== undefined).join(' ');
    const group = groups.get(name) ?? new Map<string, FigureSummary>();
    group.set(summary.target, summary);
    groups.set(name, group);
  }
  for (const [name, group] of groups) {
    const [any] = group.values();
    const ours = group.get(first!);
    const values = targets.flatMap((target) => {
      const summary = group.get(target);
      return summary ? [format(summary.value), format(summary.best)] : ['', ''];
    });
    const ratios = others.map((target) => ratio(ours, group.get(target)));
    const mark = ours?.met === undefined ? '' : ours.met ? 'met' : 'MISSED';
    rows.push([name, any!.unit, ...values, any!.aim === undefined ? '' : format(any!.aim), mark, ...ratios]);
  }
  return rows;
}

function ratio(ours: FigureSummary | undefined, theirs: FigureSummary | undefined): string {
  if (!ours || !theirs || ours.isContext) return '';
  const times = ours.better === 'higher' ? ours.value / theirs.value : theirs.value / ours.value;
  return Number.isFinite(times) ? `${times.toFixed(2)}x` : '';
}

function format(value: number): string {
  return value.toLocaleString('en-US', {
    maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0,
  });
}

function formatTable(rows: readonly Row[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
    .concat('\n');
}
