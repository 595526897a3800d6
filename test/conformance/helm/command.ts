// Compares charts rendered by the real helm and by this project, document by document.
//
//   npm run conformance:helm                                   the built-in test charts, one per rule
//   npm run conformance:helm -- --charts DIRECTORY             also all charts below a directory (may be repeated)
//   npm run conformance:helm -- --charts DIR --values FILE     with these values
//
// helm is built from its Go module if it is missing. CAPSTAN_CHARTS also names a directory of charts.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { findOrBuildGoProgram, MissingPrerequisite } from '../go-build.ts';
import { findCharts } from './charts.ts';
import { compare, isSameRefusal, type Verdict } from './compare.ts';
import { helmProgram } from './helm-program.ts';
import { type OwnChart, ownCharts } from './own-charts.ts';

const say = (line: string): void => void process.stderr.write(`helm: ${line}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      charts: { type: 'string', multiple: true, default: [] },
      values: { type: 'string', multiple: true, default: [] },
    },
  });
  const helm = await findOrBuildGoProgram(helmProgram, process.env, say);
  const scratch = await mkdtemp(join(tmpdir(), 'capstan-helm-'));
  const verdicts: { name: string; verdict: Verdict; isOwn: boolean }[] = [];
  try {
    for (const [index, own] of ownCharts.entries()) {
      const directory = join(scratch, String(index));
      const valuesFiles = await write(directory, own);
      const verdict = await compare(helm, { ...own, directory: join(directory, 'main'), valuesFiles });
      verdicts.push({ name: own.name, verdict, isOwn: true });
    }
    const given = [...values.charts, ...(process.env['CAPSTAN_CHARTS'] ? [process.env['CAPSTAN_CHARTS']] : [])];
    for (const root of given) {
      for (const directory of await findCharts(root)) {
        const verdict = await compare(helm, { directory, valuesFiles: values.values });
        verdicts.push({ name: directory, verdict, isOwn: false });
      }
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return report(verdicts);
}

async function write(directory: string, { files, values = [] }: OwnChart): Promise<string[]> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, 'main', path)), { recursive: true });
    await writeFile(join(directory, 'main', path), content);
  }
  const written = values.map((_text, index) => join(directory, `values-${index}.yaml`));
  for (const [index, text] of values.entries()) await writeFile(written[index]!, text);
  return written;
}

function report(verdicts: readonly { name: string; verdict: Verdict; isOwn: boolean }[]): number {
  let failures = 0;
  const counts = new Map<string, number>();
  for (const { name, verdict, isOwn } of verdicts) {
    // Error messages are compared only for the built-in charts. For others it suffices that both fail.
    const isGood = verdict.kind === 'agree' || (verdict.kind === 'both refuse' && (!isOwn || isSameRefusal(verdict)));
    if (!isGood) failures++;
    counts.set(verdict.kind, (counts.get(verdict.kind) ?? 0) + 1);
    const detail =
      verdict.kind === 'agree'
        ? `${verdict.documents} documents`
        : verdict.kind === 'both refuse'
          ? isGood
            ? verdict.ours
            : `helm: ${verdict.theirs}\nours: ${verdict.ours}`
          : verdict.detail;
    process.stdout.write(
      `${isGood ? 'ok    ' : 'DIFFER'}  ${name}\n          ${detail.replaceAll('\n', '\n          ')}\n`,
    );
  }
  process.stdout.write(`\n${[...counts].map(([kind, count]) => `${kind}: ${count}`).join(', ')}\n`);
  return failures === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof MissingPrerequisite)) throw error;
  say(error.message);
  process.exitCode = 2;
}
