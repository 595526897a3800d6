import { fileURLToPath } from 'node:url';
import { describeOutcome, runProcess } from '../../support/process.ts';
import type { SuiteRun } from '../upstream/command.ts';
import type { Result, Verdict } from '../upstream/outcome.ts';

const runner = fileURLToPath(new URL('./run_tests.py', import.meta.url));

/** A service and its Python test packages. */
export interface PythonSuite {
  readonly service: string;
  readonly packages: readonly string[];
}

export interface PythonRun extends SuiteRun {
  readonly python: string;
  readonly suites: readonly PythonSuite[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** number of parallel processes; a class is never split */
  readonly workers: number;
}

interface Line {
  readonly name: string;
  readonly verdict: Verdict;
  readonly output: string;
}

export async function runPythonTests(run: PythonRun): Promise<Result[]> {
  const services = new Map<string, string>();
  const pattern = new RegExp(run.pattern);
  for (const { service, packages } of run.suites) {
    const outcome = await runProcess(run.python, [runner, 'list', ...packages], { env: run.env, cwd: run.cwd });
    if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
    for (const name of outcome.stdout.split('\n')) {
      if (name !== '' && pattern.test(name)) services.set(name, service);
    }
  }
  const shares = shareOut([...services.keys()], run.workers);
  const lines = (await Promise.all(shares.map((names) => runShare(run, names)))).flat();
  const byName = new Map(lines.map((line) => [line.name, line]));
  return [...services].map(([name, service]) => {
    const { verdict, output } = byName.get(name) ?? { verdict: 'failed', output: 'the process ended before this test' };
    return { service, name, verdict, output, reason: reasonOf(output) };
  });
}

/** Runs a share of the tests in one process. Its other output is for people. */
async function runShare(run: PythonRun, names: readonly string[]): Promise<Line[]> {
  const lines: Line[] = [];
  let rest = '';
  const onStdout = (text: string): void => {
    const parts = (rest + text).split('\n');
    rest = parts.pop()!;
    for (const part of parts) {
      const line = JSON.parse(part) as Line;
      lines.push(line);
      run.say(`${line.verdict.padEnd(7)} ${line.name}${line.verdict === 'failed' ? `: ${reasonOf(line.output)}` : ''}`);
    }
  };
  const input = `${names.join('\n')}\n`;
  const outcome = await runProcess(run.python, [runner, 'run'], { env: run.env, cwd: run.cwd, input, onStdout });
  if (outcome.code !== 0) run.say(`a worker ended with ${outcome.code ?? 'a signal'}: ${outcome.stderr.slice(-2000)}`);
  return lines;
}

/** Distributes whole classes, because their setup runs once. Each goes to the worker with the fewest tests. */
export function shareOut(names: readonly string[], workers: number): string[][] {
  const classes = new Map<string, string[]>();
  for (const name of names) {
    const owner = name.slice(0, name.lastIndexOf('.'));
    classes.set(owner, [...(classes.get(owner) ?? []), name]);
  }
  const shares: string[][] = Array.from({ length: workers }, () => []);
  for (const members of classes.values()) {
    shares.reduce((least, share) => (share.length < least.length ? share : least)).push(...members);
  }
  return shares.filter((share) => share.length > 0);
}

/** Returns the last exception: the text after the last traceback, whose lines are indented. */
export function reasonOf(output: string): string {
  const stack = Math.max(output.lastIndexOf('Traceback (most recent call last)'), 0);
  const [first = '', ...lines] = output.slice(stack).split('\n');
  const raised = lines.findIndex((line) => /^\S/.test(line));
  return (raised === -1 ? [first] : lines.slice(raised))
    .map((line) => line.trim())
    .join(' ')
    .trim()
    .slice(0, 300);
}
