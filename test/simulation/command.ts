// Runs simulated installations; see `--help`.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type Lives, playMany } from './many.ts';

const usage = `usage: npm run simulate -- [options]

  --seeds N      how many installations, each from a seed of its own (default 100)
  --first N      the first of these seeds (default 1)
  --seed N       this one only, and tell its story
  --hosted       control planes in Pods instead of on machines
  --topology     clusters made from a ClusterClass
  --rke2         control planes and machines of rke2
  --lattice      clusters that take over their own objects
  --http         HTTP between controllers and management API in all of them, not only in every fourth (not with --lattice)
  --workers N    so many at a time (default: one per core)

Ends with 1 when a promise was broken, and tells how to play that seed again.`;

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    seeds: { type: 'string', default: '100' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    hosted: { type: 'boolean', default: false },
    topology: { type: 'boolean', default: false },
    rke2: { type: 'boolean', default: false },
    lattice: { type: 'boolean', default: false },
    http: { type: 'boolean', default: false },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const kinds = ['hosted', 'topology', 'rke2', 'lattice'] as const;
const lives: Lives = kinds.find((kind) => values[kind]) ?? 'machines';

if (values.help) {
  say(usage);
  process.exit(0);
}

if (values.seed !== undefined) {
  // Imported lazily: parallel runs load it in their worker processes.
  const { play, playRke2, playTopology } = await import('./play.ts');
  const onMachines = values.topology ? playTopology : values.rke2 ? playRke2 : play;
  const player = values.hosted
    ? (await import('./hosted-play.ts')).playHosted
    : values.lattice
      ? (await import('./lattice-play.ts')).playLattice
      : onMachines;
  const { problem, simulatedSeconds } = await player(Number(values.seed), { onTell: say, overHttp: values.http });
  say(problem ?? `every promise was kept for ${simulatedSeconds} simulated s`);
  process.exit(problem === undefined ? 0 : 1);
}

const began = performance.now();
let done = 0;
const failed: number[] = [];
await playMany({
  first: Number(values.first),
  count: Number(values.seeds),
  lives,
  overHttp: values.http,
  workers: Number(values.workers),
  onOutcome({ seed, problem }) {
    done++;
    if (done % 100 === 0) say(`${done} seeds played`);
    if (problem === undefined) return;
    failed.push(seed);
    say(
      `seed ${seed} failed: ${problem.split('\n')[0]}\n  replay: npm run simulate -- --seed ${seed}${lives === 'machines' ? '' : ` --${lives}`}${values.http ? ' --http' : ''}`,
    );
  },
});
const seconds = Math.round((performance.now() - began) / 1_000);
say(`${done} seeds in ${seconds} s, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(', ')}` : ''}`);
process.exit(failed.length === 0 ? 0 : 1);
