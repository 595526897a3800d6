import { describe, expect, it } from 'vitest';
import { seededRandom, systemClock } from '../../machinery/index.ts';
import { nullLogger } from '../../runtime/index.ts';
import { simulatedProgram } from '../programs/index.ts';
import { SimulatedKubernetes } from '../programs/kubernetes.ts';
import { startContainer } from './container.ts';
import { idleProgram } from './idle-program.ts';
import type { RunningContainer } from './types.ts';

const clock = systemClock;
const kubernetes = new SimulatedKubernetes({ clock, random: seededRandom(1), log: nullLogger });
const files = new Map<string, string>();

function running(): RunningContainer {
  return startContainer({
    program: idleProgram([]),
    process: {
      argv: ['busybox'],
      env: { GREETING: 'hello' },
      image: 'busybox:1',
      hostname: 'pod',
      namespace: 'default',
      address: '10.0.0.1',
      files: {
        read: (path) => files.get(path),
        write: (path, content) => void files.set(path, content),
        remove: (path) => void files.delete(path),
        list: (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)).sort(),
      },
      clock,
      random: seededRandom(2),
      resolve: () => [],
      dial: () => {
        throw new Error('there is no network');
      },
    },
    commands: (argv) => simulatedProgram('busybox:1', argv, kubernetes),
    execMs: 0,
    listen: () => () => {},
    ended: () => {},
  });
}

async function* typed(...pieces: string[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** Output and exit code of a command in the container, as a user sees them. */
async function seen(
  command: readonly string[],
  { tty = false, stdin }: { tty?: boolean; stdin?: readonly string[] } = {},
): Promise<{ screen: string; exitCode: number }> {
  let screen = '';
  const { exitCode } = await running().exec(command, new AbortController().signal, {
    ...(stdin && { stdin: typed(...stdin) }),
    tty,
    out: (text) => {
      screen += text;
    },
  });
  return { screen, exitCode };
}

describe('a session in front of a command', () => {
  it.each([
    ['a script on the input', ['sh'], ['echo one\n', 'ec', 'ho $GREETING; exit 3\n'], 'one\nhello\n', 3],
    ['a command that reads', ['cat'], ['a\n', 'b\n'], 'a\nb\n', 0],
    ['a script that reads', ['sh', '-c', 'read x; echo got $x'], ['value\n'], 'got value\n', 0],
    ['nothing to read', ['echo', 'two words'], undefined, 'two words\n', 0],
    ['what is not there', ['frobnicate'], undefined, expect.stringContaining('frobnicate: command not found'), 127],
    ['what kubectl cp runs', ['tar', 'xmf', '-'], undefined, expect.stringContaining('cannot be copied'), 1],
  ])('shows the expected screen for %s', async (_, command, stdin, screen, exitCode) => {
    expect(await seen(command, stdin ? { stdin } : {})).toEqual({ screen, exitCode });
  });

  it('has a terminal that echoes input, allows corrections and ends lines its own way', async () => {
    const stdin = ['ecj', '\u007fho hi', '\r', 'false\r', 'exit\r', 'never\r'];
    expect(await seen(['sh'], { tty: true, stdin })).toEqual({
      screen: '/ # ecj\b \bho hi\r\nhi\r\n/ # false\r\n/ # exit\r\n',
      exitCode: 1,
    });
  });

  it('leaves a shell at the end of the input and a line with an interrupt', async () => {
    expect(await seen(['sh'], { tty: true, stdin: ['oops\u0003', 'echo ü\r', '\u0004'] })).toEqual({
      screen: '/ # oops^C\r\n/ # echo ü\r\nü\r\n/ # ',
      exitCode: 0,
    });
  });
});
