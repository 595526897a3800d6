// The tests, in two lanes that leave each other alone: those through the real entrances, which wait a lot, and beside them
// the unit tests and then whole installations from seeds, which need a core for minutes. Exit code 0 when all hold.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';

const seeds = process.env.CAPSTAN_SIMULATION_SEEDS ?? '50';
const hostedSeeds = process.env.CAPSTAN_SIMULATION_HOSTED_SEEDS ?? '30';
const first = process.env.CAPSTAN_SIMULATION_FIRST ?? '1';
const lowPriority = 10;

const vitest = ['node_modules/vitest/vitest.mjs', 'run'];
const simulation = ['--import', 'tsx', 'test/simulation/command.ts', '--workers', '1'];

/**
 * Runs one part; what the second lane says is shown in one piece, when it has ended.
 * @returns {Promise<boolean>} whether it held
 */
function run(name, args, { aside }) {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', aside ? 'pipe' : 'inherit', aside ? 'pipe' : 'inherit'],
  });
  if (aside && child.pid !== undefined) setPriority(child.pid, lowPriority);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    const end = (code, more = '') => {
      if (aside) process.stdout.write(`\n${name}:\n${output}${more}`);
      resolve(code === 0);
    };
    child.on('error', (error) => end(1, `${error.message}\n`));
    child.on('close', (code) => end(code ?? 1));
  });
}

const [entrances, units, lives, planes] = await Promise.all([
  run('Tests through the entrances', [...vitest, '--project', 'e2e'], { aside: false }),
  ...chain(
    () => run('Unit tests', [...vitest, '--project', 'unit', '--reporter', 'dot'], { aside: true }),
    () =>
      run('Simulated installations (npm run simulate)', [...simulation, '--seeds', seeds, '--first', first], {
        aside: true,
      }),
    () =>
      run(
        'Simulated control planes in Pods (npm run simulate -- --hosted)',
        [...simulation, '--hosted', '--seeds', hostedSeeds, '--first', first],
        { aside: true },
      ),
  ),
]);
for (const [held, name] of [
  [units, 'unit tests'],
  [entrances, 'tests through the entrances'],
  [lives, 'simulated installations'],
  [planes, 'simulated control planes in Pods'],
]) {
  process.stdout.write(`${held ? 'passed' : 'FAILED'}  ${name}\n`);
}
process.exit(units && entrances && lives && planes ? 0 : 1);

/** One after the other. */
function chain(one, ...others) {
  const begun = [one()];
  for (const other of others) begun.push(begun.at(-1).then(other));
  return begun;
}
