import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Outcome, runProcess, unexpectedOutcome } from './process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs `capstan` to its end, from the sources or CAPSTAN_PROGRAM. */
export function capstan(
  args: readonly string[],
  { env, ...options }: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Outcome> {
  const script = process.env['CAPSTAN_PROGRAM'];
  const program = script ? [script] : ['--import', 'tsx', join(root, 'src/cli/main.ts')];
  return runProcess(process.execPath, [...program, ...args], {
    cwd: root,
    env: { ...(process.env as Record<string, string>), NO_COLOR: '1', ...env },
    ...options,
  });
}

/** Returns the output of a command that must succeed. */
export async function capstanOk(args: readonly string[], options: { input?: string } = {}): Promise<string> {
  const outcome = await capstan(args, options);
  if (outcome.code !== 0) throw unexpectedOutcome('success', outcome);
  return outcome.stdout;
}
