import type { Writable } from 'node:stream';
import { statusError } from '../../machinery/index.ts';
import { parseServiceAccountUsername, serviceAccountGroups, systemGroups, type UserInfo } from '../auth/index.ts';
import { FairPool, type FlowUser } from './fair-pool.ts';
import { TurnQueue, type TurnQueueOptions } from './turn-queue.ts';

/** Limits for all senders together. */
export interface FlowLimits {
  /** bytes of request bodies, from their announcement until the response */
  bodyBytes: number;
  /** bytes of responses that wait for slow readers */
  answerBytes: number;
  /** writes with a complete body */
  writes: number;
  reads: number;
  watches: number;
}

const mebibyte = 1024 * 1024;

export const defaultFlowLimits: FlowLimits = {
  bodyBytes: 512 * mebibyte,
  answerBytes: 1024 * mebibyte,
  writes: 2000,
  reads: 4000,
  watches: 8000,
};

/** Overhead of each body, also counted for an announced body without data. */
const bodyOverheadBytes = 16 * 1024;
/** The operating system sends responses up to this size without much delay. */
const smallAnswerBytes = 64 * 1024;

/** Shares the capacity of the server among its users, see FairPool and TurnQueue. */
export class FlowControl {
  readonly #pools: Readonly<Record<keyof FlowLimits, FairPool>>;
  readonly #turns: TurnQueue;

  constructor(limits: Partial<FlowLimits> = {}, turns: TurnQueueOptions = systemTurns) {
    const all = { ...defaultFlowLimits, ...limits };
    this.#pools = {
      bodyBytes: new FairPool(all.bodyBytes),
      answerBytes: new FairPool(all.answerBytes),
      writes: new FairPool(all.writes),
      reads: new FairPool(all.reads),
      watches: new FairPool(all.watches),
    };
    this.#turns = new TurnQueue(turns);
  }

  /** Starts tracking one request. `requestor` is the authenticated user, regardless of impersonation. */
  begin(requestor: UserInfo): RequestFlow {
    return new RequestFlow(this.#pools, this.#turns, flowUser(requestor));
  }
}

const systemTurns: TurnQueueOptions = { now: () => performance.now(), defer: (callback) => setImmediate(callback) };

/** The amounts that one request holds. */
export class RequestFlow {
  readonly #pools: Readonly<Record<keyof FlowLimits, FairPool>>;
  readonly #turns: TurnQueue;
  readonly #user: FlowUser;
  readonly #taken: [FairPool, number][] = [];

  constructor(pools: Readonly<Record<keyof FlowLimits, FairPool>>, turns: TurnQueue, user: FlowUser) {
    this.#pools = pools;
    this.#turns = turns;
    this.#user = user;
  }

  /** Reserves space for a body of at most this many bytes. */
  expectBody(bytes: number): void {
    this.#take('bodyBytes', bytes + bodyOverheadBytes);
  }

  /** Called when the body is complete; immediately for a write without body. */
  beginWrite(): Promise<void> | undefined {
    this.#take('writes', 1);
    return this.#turns.wait(this.#user);
  }

  beginRead(): Promise<void> | undefined {
    this.#take('reads', 1);
    // Clients that do not read their responses get no further ones.
    if (!this.#pools.answerBytes.take(this.#user, 1)) throw tooManyRequests();
    this.#pools.answerBytes.giveBack(this.#user, 1);
    return this.#turns.wait(this.#user);
  }

  beginWatch(): Promise<void> | undefined {
    this.#take('watches', 1);
    return this.#turns.wait(this.#user);
  }

  /** Called when the response is written, although it may still wait for its reader. */
  end(output: Writable): void {
    for (const [pool, amount] of this.#taken.splice(0)) pool.giveBack(this.#user, amount);
    const waiting = output.destroyed ? 0 : output.writableLength;
    if (waiting <= smallAnswerBytes) return;
    const pool = this.#pools.answerBytes;
    // Counted even beyond the limit, because the bytes are already in memory. The next request is refused instead.
    pool.hold(this.#user, waiting);
    output.once('close', () => pool.giveBack(this.#user, waiting));
  }

  #take(what: keyof FlowLimits, amount: number): void {
    const pool = this.#pools[what];
    if (!pool.take(this.#user, amount)) throw tooManyRequests();
    this.#taken.push([pool, amount]);
  }
}

function tooManyRequests(): Error {
  return statusError.tooManyRequests('Too many requests, please try again later.');
}

const systemPrefix = 'system:';
const bootstrapPrefix = 'system:bootstrap:';
const nodePrefix = 'system:node:';
const controllersNamespace = 'kube-system';

/**
 * All service accounts of a namespace count as one user, because whoever may create accounts there could create any
 * number.
 */
function flowUser({ name, groups }: UserInfo): FlowUser {
  if (groups.includes(systemGroups.masters)) return { key: name, class: 'exempt' };
  const account = parseServiceAccountUsername(name);
  if (account) {
    const [, key = name] = serviceAccountGroups(account.namespace);
    return { key, class: account.namespace === controllersNamespace ? 'system' : 'ordinary' };
  }
  const component =
    name.startsWith(systemPrefix) &&
    !name.startsWith(bootstrapPrefix) &&
    !name.startsWith(nodePrefix) &&
    !groups.includes(systemGroups.unauthenticated);
  return { key: name, class: component ? 'system' : 'ordinary' };
}
