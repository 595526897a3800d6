import { type Outcome, runProcess, unexpectedOutcome } from './process.ts';
import { capstanEnvironment, capstanProgram } from './program.ts';

/** Runs `capstan` to its end, from the sources or CAPSTAN_PROGRAM. */
export function capstan(
  args: readonly string[],
  { env, ...options }: { input?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Outcome> {
  return runProcess(process.execPath, [...capstanProgram(), ...args], {
    ...capstanEnvironment(env),
    ...options,
  });
}

/** Returns the output of a command that must succeed. */
export async function capstanOk(args: readonly string[], options: { input?: string } = {}): Promise<string> {
  const outcome = await capstan(args, options);
  if (outcome.code !== 0) throw unexpectedOutcome('success', outcome);
  return outcome.stdout;
}
