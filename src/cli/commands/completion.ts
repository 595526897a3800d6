import type { Command } from 'commander';
import { printableLine } from '../../machinery/index.ts';
import { candidates } from '../completion/candidates.ts';
import { liveValues } from '../completion/live-values.ts';
import { completionScripts } from '../completion/scripts.ts';
import type { CommandContext } from '../context.ts';

/** Prints the script that teaches a shell to complete. */
export async function completion({ stdout }: CommandContext, shell: string): Promise<number> {
  stdout(completionScripts[shell] ?? '');
  return 0;
}

/** What the scripts ask: the words up to the cursor, the last of them being written. */
export async function complete(program: Command, context: CommandContext, words: readonly string[]): Promise<number> {
  for (const word of await candidates(program, words, liveValues(context))) context.stdout(`${printableLine(word)}\n`);
  return 0;
}
