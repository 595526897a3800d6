import { type Outcome, runProcess, unexpectedOutcome } from '../../support/process.ts';

/** Without HOME, clients store their discovery caches in the working directory. */
type ClientEnvironment = Readonly<Record<string, string>> & { readonly HOME: string };

/** Runs a client that must succeed. Returns its output. */
export async function succeed(program: string, args: readonly string[], env: ClientEnvironment): Promise<string> {
  const outcome = await runWith(program, args, env);
  if (outcome.code !== 0) throw unexpectedOutcome('success', outcome);
  return outcome.stdout;
}

/** Runs a client that must fail. Returns its output. */
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
