import type { Container } from '../../api/index.ts';
import type { ContainerExit, RunningContainer } from '../containers/types.ts';

/** What a kubelet takes of a log at most. */
const maxLines = 80;
const maxCharacters = 2_048;

/** Where its spec asks for it, a container that failed and left no message says what its log ended with. */
export function withLastWords(
  exit: ContainerExit,
  { terminationMessagePolicy }: Pick<Container, 'terminationMessagePolicy'>,
  container: Pick<RunningContainer, 'logs'>,
): ContainerExit {
  const isWanted = terminationMessagePolicy === 'FallbackToLogsOnError' && exit.exitCode !== 0;
  if (!isWanted || exit.message !== undefined) return exit;
  const lines = container.logs().slice(-maxLines);
  if (lines.length === 0) return exit;
  return {
    ...exit,
    message: lines
      .map(({ text }) => `${text}\n`)
      .join('')
      .slice(-maxCharacters),
  };
}
