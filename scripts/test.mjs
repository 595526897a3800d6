// The tests: vitest, and beside it whole installations from seeds. Those need a core for minutes and nothing of what the
// others wait for, so they are played meanwhile, at low priority. Exit code 0 when both hold.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';

const seeds = process.env.CAPSTAN_SIMULATION_SEEDS ?? '50';
const first = process.env.CAPSTAN_SIMULATION_FIRST ?? '1';
const lowPriority = 10;

/** @returns {Promise<{ code: number, output: string }>} */
function run(args, { quiet }) {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  });
  if (quiet && child.pid !== undefined) setPriority(child.pid, lowPriority);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 1, output: `${output}${error.message}\n` }));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

const [tests, lives] = await Promise.all([
  run(['node_modules/vitest/vitest.mjs', 'run'], { quiet: false }),
  run(['--import', 'tsx', 'test/simulation/command.ts', '--seeds', seeds, '--first', first, '--workers', '2'], {
    quiet: true,
  }),
]);
process.stdout.write(`\nSimulated installations (npm run simulate):\n${lives.output}`);
process.exit(tests.code === 0 && lives.code === 0 ? 0 : 1);
