import { allowManyWaitersOnSignals } from './quiet-signals.ts';
import { run } from './run.ts';

allowManyWaitersOnSignals();

// `capstan … | head` closes the pipe early. Nobody is left to tell; what goes on by itself stops through its context.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const code = await run(process.argv.slice(2));
// Connections that wait for another use would keep the program for half a minute after it has done its work.
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()));
await Promise.all([written(process.stdout), written(process.stderr)]);
process.exit(code);
