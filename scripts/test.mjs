// The tests, in lanes that leave each other alone: those through the real entrances and those of whole clusters, which both
// wait a lot, and beside them the unit tests and then whole installations from seeds, which need a core for minutes. Exit code
// 0 when all hold.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';

const seeds = process.env.CAPSTAN_SIMULATION_SEEDS ?? '50';
const hostedSeeds = process.env.CAPSTAN_SIMULATION_HOSTED_SEEDS ?? '30';
const first = process.env.CAPSTAN_SIMULATION_FIRST ?? '1';
const lowPriority = 10;

const vitest = (project, ...more) => ['node_modules/vitest/vitest.mjs', 'run', '--project', project, ...more];
const simulation = (...more) => [
  ...['--import', 'tsx', 'test/simulation/command.ts', '--workers', '1', '--first', first],
  ...more,
];

/** Parts of a lane come one after the other. What is not shown at once is shown in one piece, when it has ended. */
const lanes = [
  [{ name: 'tests through the entrances', args: vitest('e2e'), isShown: true }],
  [{ name: 'tests of whole clusters', args: vitest('clusters') }],
  [
    { name: 'unit tests', args: vitest('unit', '--reporter', 'dot'), isPatient: true },
    { name: 'simulated installations (npm run simulate)', args: simulation('--seeds', seeds), isPatient: true },
    {
      name: 'simulated control planes in Pods (npm run simulate -- --hosted)',
      args: simulation('--hosted', '--seeds', hostedSeeds),
      isPatient: true,
    },
  ],
];

/** @returns {Promise<{ name: string, held: boolean }>} */
function run({ name, args, isShown = false, isPatient = false }) {
  const stdio = isShown ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, args, { stdio: ['ignore', stdio, stdio] });
  if (isPatient && child.pid !== undefined) setPriority(child.pid, lowPriority);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    const end = (code, more = '') => {
      if (!isShown) process.stdout.write(`\n${name}:\n${output}${more}`);
      resolve({ name, held: code === 0 });
    };
    child.on('error', (error) => end(1, `${error.message}\n`));
    child.on('close', (code) => end(code ?? 1));
  });
}

async function runLane(parts) {
  const outcomes = [];
  for (const part of parts) outcomes.push(await run(part));
  return outcomes;
}

const outcomes = (await Promise.all(lanes.map(runLane))).flat();
process.stdout.write('\n');
for (const { name, held } of outcomes) process.stdout.write(`${held ? 'passed' : 'FAILED'}  ${name}\n`);
process.exit(outcomes.every(({ held }) => held) ? 0 : 1);
