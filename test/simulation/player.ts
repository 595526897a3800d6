// Plays the seeds it is sent; started by many.ts.
import { playHosted } from './hosted-play.ts';
import { play } from './play.ts';

process.on('message', ({ seed, hosted }: { seed: number; hosted: boolean }) => {
  void (hosted ? playHosted(seed) : play(seed)).then((outcome) => process.send!(outcome));
});
