import { CommanderError } from 'commander';
import { ApiStatusError, CapstanError, errorMessage, printable } from '../machinery/index.ts';
import { spellOutBooleans } from './boolean-flags.ts';
import { asInvoked } from './invocation.ts';
import { optionsBehindVerb } from './leading-options.ts';
import { buildProgram } from './program.ts';

/** Exit codes for scripts: 0 success, 1 failure, 2 usage error. */
const exitFailure = 1;
const exitUsage = 2;

export async function run(argv: readonly string[]): Promise<number> {
  let exitCode = 0;
  const line = optionsBehindVerb(argv);
  const program = buildProgram(
    (code) => {
      exitCode = code;
    },
    // `capstan upgrade` has its own --version option.
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

/** System errors such as a missing file or an unused port need no stack trace. */
function isSystemError(error: Error): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** Formats an error and its hint; with a stack trace only on request. */
function formatFailure(error: unknown): string {
  const lines = [`capstan: ${errorMessage(error)}`];
  if (error instanceof CapstanError) {
    if (error.hint !== undefined) lines.push(`  hint: ${error.hint}`);
    if (error.code !== 'CAP_USAGE') lines.push(`  code: ${error.code}`);
  } else if (error instanceof Error && error.stack && !(error instanceof ApiStatusError) && !isSystemError(error)) {
    // An unexpected error is a bug, whose report needs the stack trace.
    lines.push(error.stack.split('\n').slice(1).join('\n'));
  }
  return `${lines.join('\n')}\n`;
}
