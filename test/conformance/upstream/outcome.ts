import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Verdict = 'passed' | 'failed' | 'skipped';

/** Result of a third-party test. */
export interface Result {
  readonly service: string;
  /**
   * for example `compute/v2 TestServersCreateDestroy` or
   * `tempest.api.compute.test_versions.TestVersions.test_get_version_details`
   */
  readonly name: string;
  readonly verdict: Verdict;
  /** output of the test */
  readonly output: string;
  /** reason of the failure, on one line */
  readonly reason: string;
}

/** Tests that pass on the real cloud: names by service. */
export type Baseline = Readonly<Record<string, readonly string[]>>;

/** Formats a table, followed by the tests that pass only on the real cloud. */
export function formatResults(results: readonly Result[], baseline: Baseline): string {
  const services = [...new Set(results.map(({ service }) => service))];
  const rows = [['SERVICE', 'PASSED', 'FAILED', 'SKIPPED', 'OF THOSE THAT PASS ON ZED']];
  const lost: Result[] = [];
  for (const service of services) {
    const own = results.filter((result) => result.service === service);
    const count = (verdict: Verdict): string => String(own.filter((result) => result.verdict === verdict).length);
    const names = new Set(baseline[service] ?? []);
    const known = own.filter(({ name }) => names.has(name));
    const held = known.filter(({ verdict }) => verdict === 'passed');
    lost.push(...known.filter(({ verdict }) => verdict !== 'passed'));
    const share =
      known.length === 0 ? '-' : `${held.length} of ${known.length} (${percent(held.length, known.length)})`;
    rows.push([service, count('passed'), count('failed'), count('skipped'), share]);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const table = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
  const losses = lost.map(({ name, verdict, reason }) => `${verdict}  ${name}\n    ${reason}`);
  return `${[...table, ...(losses.length > 0 ? ['', 'Passes on the real cloud, not here:', ...losses] : [])].join('\n')}\n`;
}

function percent(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 100)} %`;
}

/** Writes the output of each test to a file whose name starts with the verdict. */
export async function keepOutput(directory: string, results: readonly Result[]): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  for (const { name, verdict, output } of results) {
    await writeFile(join(directory, `${verdict}-${name.replaceAll(/[/ ]/g, '_').slice(0, 230)}.txt`), output);
  }
}

export async function readBaseline(file: string): Promise<Baseline> {
  return JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as Baseline;
}

/** Updates the baseline after a run on the real cloud. Tests that did not run keep their entry. */
export function updatedBaseline(baseline: Baseline, results: readonly Result[]): Baseline {
  const run = new Set(results.map(({ name }) => name));
  const updated: Record<string, readonly string[]> = {};
  for (const service of new Set([...Object.keys(baseline), ...results.map((result) => result.service)])) {
    const kept = (baseline[service] ?? []).filter((name) => !run.has(name));
    const passed = results.filter((result) => result.service === service && result.verdict === 'passed');
    updated[service] = [...kept, ...passed.map(({ name }) => name)];
  }
  return updated;
}
