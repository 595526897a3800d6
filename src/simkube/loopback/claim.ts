import { connect, createServer, type Server } from 'node:net';
import { CapstanError } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import { type LoopbackRange, lastLoopbackRange, rangesFrom } from './range.ts';

export interface RangeSpec {
  /** purpose of the addresses for messages: `simulated cloud` */
  readonly purpose: string;
  readonly usual: LoopbackRange;
  /** whether others already rely on addresses of the usual range, so that it must be used */
  readonly isKept: boolean;
  readonly log: Logger;
}

/** A range that no other program on this computer uses. */
export interface ClaimedRange extends LoopbackRange {
  release(): Promise<void>;
}

/** All claims are sockets of the one address every system has. macOS has no other loopback address by default. */
const claimHost = '127.0.0.1';
/** Timeout for a holder to identify itself. */
const answerMs = 2_000;

/**
 * Claims a range for this process: the usual one, or the next free one. A claim is a listening socket, so it ends with
 * the process in any case. If claims are impossible, the usual range is used without one.
 */
export async function claimLoopbackRange(desired: RangeSpec): Promise<ClaimedRange> {
  const { usual, isKept, log, purpose } = desired;
  for (const range of isKept ? [usual] : rangesFrom(usual)) {
    const held = await hold(range);
    if (held === 'taken') continue;
    if ('problem' in held) {
      log.warn('Addresses cannot be kept from other programs on this computer', {
        purpose,
        range: range.cidr,
        error: held.problem.message,
      });
      return { ...range, release: async () => {} };
    }
    if (range.number !== usual.number) {
      log.info('Another program has the usual addresses; others are used here', {
        purpose,
        range: range.cidr,
        usual: usual.cidr,
      });
    }
    return { ...range, release: held.release };
  }
  throw isKept ? await takenError(desired) : allTakenError(desired);
}

type Held = { release(): Promise<void> } | { readonly problem: Error } | 'taken';

function hold(range: LoopbackRange): Promise<Held> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`capstan ${process.pid}\n`);
  });
  return new Promise((resolve) => {
    server.on('error', (problem: NodeJS.ErrnoException) =>
      resolve(problem.code === 'EADDRINUSE' ? 'taken' : { problem }),
    );
    server.listen({ host: claimHost, port: claimPort(range), exclusive: true }, () => {
      // The claim must not keep the process alive.
      server.unref();
      resolve({ release: () => close(server) });
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Outside of the ports for outgoing connections and for Kubernetes node ports. */
function claimPort({ number }: LoopbackRange): number {
  return 12_700 + number;
}

async function takenError({ usual, purpose }: RangeSpec): Promise<CapstanError> {
  const pid = await holderOf(usual);
  const holder = pid === undefined ? 'another program' : `the capstan process ${pid}`;
  const socket = `${claimHost}:${claimPort(usual)}`;
  return new CapstanError(
    'CAP_ADDRESSES_TAKEN',
    `${usual.cidr} is in use by ${holder}, and addresses of the ${purpose} were given out of it before`,
    {
      hint:
        pid === undefined
          ? `stop the program that listens on ${socket}, or use another data directory`
          : `stop process ${pid} first, or use another data directory`,
    },
  );
}

function allTakenError({ usual, purpose }: RangeSpec): CapstanError {
  return new CapstanError(
    'CAP_ADDRESSES_TAKEN',
    `no addresses are left for the ${purpose}: other programs have all ranges from ${usual.cidr} to 127.${lastLoopbackRange}.0.0/16`,
    { hint: `stop some of them; each listens on a port of ${claimHost} from ${claimPort(usual)} on` },
  );
}

/** Returns the pid of the process that holds a range, if it is a Capstan process and answers. */
function holderOf(range: LoopbackRange): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ host: claimHost, port: claimPort(range) });
    socket.setTimeout(answerMs, () => socket.destroy());
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      if (text.length > 100) socket.destroy();
    });
    socket.once('error', () => socket.destroy());
    socket.once('close', () => {
      const pid = /^capstan (\d+)\n$/.exec(text)?.[1];
      resolve(pid === undefined ? undefined : Number(pid));
    });
  });
}
