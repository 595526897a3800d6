import type { Command } from 'commander';
import { printableLine } from '../../machinery/index.ts';
import { candidates } from '../completion/candidates.ts';
import { liveValues } from '../completion/live-values.ts';
import { completionScripts } from '../completion/scripts.ts';
import type { CommandContext } from '../context.ts';

export async function completion({ stdout }: CommandContext, shell: string): Promise<number> {
  stdout(completionScripts[shell] ?? '');
  return 0;
}

/** Handles completion requests of the scripts: the words up to the cursor, the last one incomplete. */
export async function complete(program: Command, context: CommandContext, words: readonly string[]): Promise<number> {
  for (const word of await candidates(program, words, liveValues(context))) context.stdout(`${printableLine(word)}\n`);
  return 0;
}
