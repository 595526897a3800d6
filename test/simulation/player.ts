// Runs the seeds it receives; started by many.ts.
import { playHosted } from './hosted-play.ts';
import { playLattice } from './lattice-play.ts';
import type { Lives } from './many.ts';
import { play, playRke2, playTopology } from './play.ts';

const players = { lattice: playLattice, machines: play, hosted: playHosted, topology: playTopology, rke2: playRke2 };

process.on('message', ({ seed, lives, overHttp }: { seed: number; lives: Lives; overHttp: boolean }) => {
  void players[lives](seed, { overHttp }).then((outcome) => process.send!(outcome));
});
