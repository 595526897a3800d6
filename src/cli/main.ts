import { run } from './run.ts';

// `capstan … | head` closes the pipe early. Nobody is left to tell; what goes on by itself stops through its context.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await run(process.argv.slice(2));
