// Plays the seeds it is sent; started by many.ts.
import { playHosted } from './hosted-play.ts';
import { playLattice } from './lattice-play.ts';
import type { Lives } from './many.ts';
import { play, playRke2, playTopology } from './play.ts';

const players = { lattice: playLattice, machines: play, hosted: playHosted, topology: playTopology, rke2: playRke2 };

process.on('message', ({ seed, lives }: { seed: number; lives: Lives }) => {
  void players[lives](seed).then((outcome) => process.send!(outcome));
});
