import { allowManyWaitersOnSignals } from './quiet-signals.ts';
import { run } from './run.ts';

allowManyWaitersOnSignals();

// `capstan … | head` closes the pipe early. Running work stops through its context.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const code = await run(process.argv.slice(2));
// Idle keep-alive connections would delay the exit by half a minute.
const written = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()));
await Promise.all([written(process.stdout), written(process.stderr)]);
process.exit(code);
