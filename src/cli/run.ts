import { CommanderError } from 'commander';
import { ApiStatusError, CapstanError, errorMessage, printable } from '../machinery/index.ts';
import { spellOutBooleans } from './boolean-flags.ts';
import { asInvoked } from './invocation.ts';
import { optionsBehindVerb } from './leading-options.ts';
import { buildProgram } from './program.ts';

/** Exit codes scripts can rely on: 0 fine, 1 failed, 2 wrong usage. */
const exitFailure = 1;
const exitUsage = 2;

/** Runs one command line and returns its exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const line = optionsBehindVerb(argv);
  const program = buildProgram(
    (code) => {
      exitCode = code;
    },
    // `capstan upgrade` has a --version of its own
    { versionFlag: !line.includes('upgrade') },
  );
  try {
    await program.parseAsync(spellOutBooleans(line, program), { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage;
    process.stderr.write(asInvoked(printable(formatFailure(error)), process.env));
    return error instanceof CapstanError && error.code === 'CAP_USAGE' ? exitUsage : exitFailure;
  }
}

/** A file that is not there, a port nobody listens on: the message says it all. */
function isSystemError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** What went wrong and what to do about it, without a stack trace unless asked for. */
function formatFailure(error: unknown): string {
  const lines = [`capstan: ${errorMessage(error)}`];
  if (error instanceof CapstanError) {
    if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`);
    if (error.code !== 'CAP_USAGE') lines.push(`  code: ${error.code}`);
  } else if (error instanceof Error && error.stack && !(error instanceof ApiStatusError) && !isSystemError(error)) {
    // Not one of ours: a bug, and the trace is what its report needs.
    lines.push(error.stack.split('\n').slice(1).join('\n'));
  }
  return `${lines.join('\n')}\n`;
}
