import { CapstanError } from '../machinery/index.ts';
import type { Connection } from './connection.ts';
import type { CommandContext } from './context.ts';

/** Asks the user at a terminal before a deletion. For scripts, prints the target and continues. */
export async function confirmDeletion(
  what: string,
  { where }: Connection,
  context: CommandContext,
  { yes = false }: { yes?: boolean },
): Promise<void> {
  if (yes || !context.confirm) {
    context.stderr(`deleting ${what} from ${where}\n`);
    return;
  }
  if (await context.confirm(`delete ${what} from ${where}?`)) return;
  throw new CapstanError('CAP_NOT_CONFIRMED', 'nothing was deleted', {
    hint: 'use --yes to delete without a question',
  });
}
