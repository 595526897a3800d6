import { type Outcome, runProcess, unexpectedOutcome } from '../../support/process.ts';

/** Without a home, clients keep their caches of discovery in the directory they are started from. */
type ClientEnvironment = Readonly<Record<string, string>> & { readonly HOME: string };

/** Runs a client with the given environment; must succeed. Answers what it printed. */
export async function succeed(program: string, args: readonly string[], env: ClientEnvironment): Promise<string> {
  const outcome = await runWith(program, args, env);
  if (outcome.code !== 0) throw unexpectedOutcome('success', outcome);
  return outcome.stdout;
}

/** Runs a client that must refuse; answers what it says. */
export async function refuse(program: string, args: readonly string[], env: ClientEnvironment): Promise<string> {
  const outcome = await runWith(program, args, env);
  if (outcome.code === 0) throw unexpectedOutcome('a refusal', outcome);
  return outcome.stdout + outcome.stderr;
}

function runWith(program: string, args: readonly string[], env: ClientEnvironment): Promise<Outcome> {
  return runProcess(program, args, { env: { PATH: process.env['PATH'] ?? '', ...env } });
}

export function expectThat(holds: boolean, what: string, found: string): void {
  if (!holds) throw new Error(`expected ${what}, found:\n${found}`);
}
