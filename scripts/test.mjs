// The tests, in lanes that leave each other alone: those through the real entrances and those of whole clusters, which both
// wait a lot, and beside them the unit tests. Lanes that are done continue with whole installations from seeds, which need all
// cores for minutes, in portions until none is left or time is up. Exit code 0 when all hold; how many seeds of the plan were
// left out is printed, and fails the run where that is limited.
import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { stripVTControlCharacters } from 'node:util';

const seeds = Number(process.env.CAPSTAN_SIMULATION_SEEDS ?? '300');
const hostedSeeds = Number(process.env.CAPSTAN_SIMULATION_HOSTED_SEEDS ?? '300');
const topologySeeds = Number(process.env.CAPSTAN_SIMULATION_TOPOLOGY_SEEDS ?? '300');
const rke2Seeds = Number(process.env.CAPSTAN_SIMULATION_RKE2_SEEDS ?? '100');
const latticeSeeds = Number(process.env.CAPSTAN_SIMULATION_LATTICE_SEEDS ?? '50');
const first = Number(process.env.CAPSTAN_SIMULATION_FIRST ?? '1');
const seedsPerPortion = 25;
/** Portions are begun within so many minutes. */
const minutes = Number(process.env.CAPSTAN_TEST_MINUTES ?? '27');
/** Seeds of the plan that may be left out for want of time. Unless said, any number: how many is always printed. */
const skippableSeeds = Number(process.env.CAPSTAN_SKIPPED_SEEDS ?? 'Infinity');
const lowPriority = 10;
const mostComplaints = 20;

/** The program as people install it, which `npm test` has just built; it also starts faster than the sources. */
const program = { CAPSTAN_PROGRAM: process.env.CAPSTAN_PROGRAM ?? 'bin/capstan.js' };

const vitest = (project, ...more) => ['node_modules/vitest/vitest.mjs', 'run', '--project', project, ...more];

/** The program of the current LTS line, which people are told to use; the rest runs on the oldest line that works. */
const ltsNode = process.env.CAPSTAN_NODE_LTS;
/** What a line of Node can break: files, cryptography, sockets, processes, a native module. */
const roomsByNode = ['src/machinery/', 'src/store/', 'src/pki/', 'src/client/', 'src/runtime/', 'src/cli/'];
const onLts = ltsNode
  ? [
      {
        name: 'unit tests on the current LTS line of Node',
        node: ltsNode,
        args: vitest('unit', '--reporter', 'dot', ...roomsByNode),
        isPatient: true,
      },
    ]
  : [];

/** Parts of a lane come one after the other. What is not shown at once is shown in one piece, when it has ended. */
const lanes = [
  [{ name: 'tests through the entrances', args: vitest('e2e'), env: program, isShown: true }],
  [{ name: 'tests of whole clusters', args: vitest('clusters'), env: program }],
  [{ name: 'unit tests', args: vitest('unit', '--reporter', 'dot'), isPatient: true }, ...onLts],
];

/** Portions of seeds, for whichever lane is free. */
function portions(name, count, ...more) {
  const all = [];
  for (let done = 0; done < count; done += seedsPerPortion) {
    const from = first + done;
    const size = Math.min(seedsPerPortion, count - done);
    const which = ['--workers', '1', '--first', String(from), '--seeds', String(size)];
    all.push({
      name: `${name}, seeds ${from} to ${from + size - 1}`,
      seeds: size,
      args: ['--import', 'tsx', 'test/simulation/command.ts', ...which, ...more],
      isPatient: true,
    });
  }
  return all;
}

const hosted = portions('simulated control planes in Pods (npm run simulate -- --hosted)', hostedSeeds, '--hosted');
const onMachines = portions('simulated installations (npm run simulate)', seeds);
const fromClasses = portions(
  'clusters made from a class (npm run simulate -- --topology)',
  topologySeeds,
  '--topology',
);
const ofRke2 = portions('simulated installations of rke2 (npm run simulate -- --rke2)', rke2Seeds, '--rke2');
const ofLattice = portions(
  'clusters that take over their own objects (npm run simulate -- --lattice)',
  latticeSeeds,
  '--lattice',
);
/** Of all kinds in turn: whatever time there is, each has its share of it. */
const kinds = [hosted, onMachines, fromClasses, ofRke2, ofLattice];
const installations = [];
while (kinds.some((portion) => portion.length > 0)) installations.push(...kinds.flatMap((kind) => kind.splice(0, 1)));
const lastBeginMs = performance.now() + minutes * 60_000;

/** @returns {Promise<{ name: string, held: boolean, output: string }>} */
function run({ name, args, node = process.execPath, env = {}, isShown = false, isPatient = false }) {
  const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  if (isPatient && child.pid !== undefined) setPriority(child.pid, lowPriority);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (isShown) process.stdout.write(text);
    });
  }
  return new Promise((resolve) => {
    const end = (code, more = '') => {
      output += more;
      if (!isShown) process.stdout.write(`\n${name}:\n${output}`);
      resolve({ name, held: code === 0, output });
    };
    child.on('error', (error) => end(1, `${error.message}\n`));
    child.on('close', (code) => end(code ?? 1));
  });
}

async function runLane(parts) {
  const outcomes = [];
  for (const part of parts) outcomes.push(await run(part));
  while (installations.length > 0 && performance.now() < lastBeginMs) outcomes.push(await run(installations.shift()));
  return outcomes;
}

/** What went wrong, short enough for the end of a long log: names of tests, and the first line of each error. */
function complaintsOf(output) {
  const isTelling = /^\s*(FAIL |Unhandled|Serialized Error|seed \d+ failed|\w*Error: )/;
  const lines = stripVTControlCharacters(output).split('\n');
  const telling = lines.filter((line) => isTelling.test(line)).map((line) => `  ${line.trim().slice(0, 300)}`);
  return [...new Set(telling)].slice(0, mostComplaints);
}

const outcomes = (await Promise.all(lanes.map(runLane))).flat();
process.stdout.write('\n');
for (const { name, held, output } of outcomes) {
  process.stdout.write(`${held ? 'passed' : 'FAILED'}  ${name}\n`);
  if (!held) for (const line of complaintsOf(output)) process.stdout.write(`${line}\n`);
}
if (!ltsNode)
  process.stdout.write('skipped unit tests on the current LTS line of Node: CAPSTAN_NODE_LTS names no program\n');
for (const { name } of installations) {
  process.stdout.write(`skipped ${name}: more than ${minutes} minutes had passed (CAPSTAN_TEST_MINUTES)\n`);
}
const skipped = installations.reduce((sum, { seeds: size }) => sum + size, 0);
const tooMany = skipped > skippableSeeds;
const planned = seeds + hostedSeeds + topologySeeds + rke2Seeds + latticeSeeds;
process.stdout.write(`seeds: ${planned} planned, ${planned - skipped} played, ${skipped} skipped\n`);
if (tooMany) {
  process.stdout.write(`FAILED  ${skipped} seeds were skipped, ${skippableSeeds} may be (CAPSTAN_SKIPPED_SEEDS)\n`);
}
process.exit(outcomes.every(({ held }) => held) && !tooMany ? 0 : 1);
