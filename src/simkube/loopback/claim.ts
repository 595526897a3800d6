import { connect, createServer, type Server } from 'node:net';
import { CapstanError } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import { type LoopbackRange, lastLoopbackRange, rangesFrom } from './range.ts';

export interface RangeSpec {
  /** what the addresses are for, in messages: `simulated cloud` */
  readonly purpose: string;
  readonly usual: LoopbackRange;
  /** whether others count on addresses of the usual range already: it must be that one then */
  readonly isKept: boolean;
  readonly log: Logger;
}

/** A range that no other program on this computer gives addresses of. */
export interface ClaimedRange extends LoopbackRange {
  release(): Promise<void>;
}

/** All claims are sockets of the one address every system has; macOS has no other loopback address unless told. */
const claimHost = '127.0.0.1';
/** How long a holder may take to say who it is. */
const answerMs = 2_000;

/**
 * Takes a range for this process: the usual one, or the next that is free. A claim is a listening socket, so it ends with
 * the process, however that ends. Where claims cannot be made at all the usual range is used without one.
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
      // Whoever holds a range has other reasons to go on.
      server.unref();
      resolve({ release: () => close(server) });
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Outside of the ports that systems give to outgoing connections and Kubernetes to nodes. */
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

/** The process that holds a range, when it is one of ours and says so. */
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
