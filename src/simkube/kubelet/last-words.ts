import type { Container } from '../../api/index.ts';
import type { ContainerExit, RunningContainer } from '../containers/types.ts';

type LastWordsSpec = Pick<Container, 'terminationMessagePolicy' | 'terminationMessagePath'>;

/** What a kubelet takes of a log at most. */
const maxLines = 80;
const maxCharacters = 2_048;

/** What a kubelet takes of the file a container leaves its message in. */
const maxMessage = 4_096;
const usualPath = '/dev/termination-log';

/**
 * The message a container left in the file that is meant for it; where its spec asks for it, one that failed and left none
 * says what its log ended with.
 */
export function withLastWords(
  exit: ContainerExit,
  { terminationMessagePolicy, terminationMessagePath }: LastWordsSpec,
  container: Pick<RunningContainer, 'logs' | 'readFile'>,
): ContainerExit {
  const left = container.readFile?.(terminationMessagePath || usualPath);
  if (exit.message === undefined && left) return { ...exit, message: left.slice(0, maxMessage) };
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
