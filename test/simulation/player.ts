// Plays the seeds it is sent; started by many.ts.
import { play } from './play.ts';

process.on('message', (seed: number) => {
  void play(seed).then((outcome) => process.send!(outcome));
});
