import type { Container } from '../../api/index.ts';
import type { ContainerExit, RunningContainer } from '../containers/types.ts';

type LastWordsSpec = Pick<Container, 'terminationMessagePolicy' | 'terminationMessagePath'>;

/** A kubelet's limits for log excerpts. */
const maxLines = 80;
const maxCharacters = 2_048;

/** A kubelet's limit for the termination message file. */
const maxMessage = 4_096;
const usualPath = '/dev/termination-log';

/**
 * Adds the termination message from the container's file. If the spec asks for it, a failed container without a message
 * gets the end of its log.
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
