import type { Writable } from 'node:stream';
import { statusError } from '../../machinery/index.ts';
import { parseServiceAccountUsername, serviceAccountGroups, systemGroups, type UserInfo } from '../auth/index.ts';
import { FairPool, type FlowUser } from './fair-pool.ts';
import { TurnQueue, type TurnQueueOptions } from './turn-queue.ts';

/** How much there is for all senders together. */
export interface FlowLimits {
  /** bytes of request bodies, from when they are announced until the request has been answered */
  bodyBytes: number;
  /** bytes of answers that wait for slow readers */
  answerBytes: number;
  /** writes whose body has been read */
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

/** what a body takes besides its bytes, and what is counted for one of which nothing has come yet */
const bodyOverheadBytes = 16 * 1024;
/** answers up to this size are in the hands of the operating system soon enough */
const smallAnswerBytes = 64 * 1024;

/** Shares what the server has among those who ask for it: see FairPool and TurnQueue. */
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

  /** The share of one request; `requestor` is who sent it, whomever they act as. */
  begin(requestor: UserInfo): RequestFlow {
    return new RequestFlow(this.#pools, this.#turns, flowUser(requestor));
  }
}

const systemTurns: TurnQueueOptions = { now: () => performance.now(), defer: (callback) => setImmediate(callback) };

/** What one request has taken. */
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

  /** A body of so many bytes at most is about to be read. */
  expectBody(bytes: number): void {
    this.#take('bodyBytes', bytes + bodyOverheadBytes);
  }

  /** The body is there. A write without one comes here at once. */
  beginWrite(): Promise<void> | undefined {
    this.#take('writes', 1);
    return this.#turns.wait(this.#user);
  }

  beginRead(): Promise<void> | undefined {
    this.#take('reads', 1);
    // Who does not fetch what was asked for gets no more of it.
    if (!this.#pools.answerBytes.take(this.#user, 1)) throw tooManyRequests();
    this.#pools.answerBytes.giveBack(this.#user, 1);
    return this.#turns.wait(this.#user);
  }

  beginWatch(): Promise<void> | undefined {
    this.#take('watches', 1);
    return this.#turns.wait(this.#user);
  }

  /** The request has been answered, though the answer may still wait for its reader. */
  end(output: Writable): void {
    for (const [pool, amount] of this.#taken.splice(0)) pool.giveBack(this.#user, amount);
    const waiting = output.destroyed ? 0 : output.writableLength;
    if (waiting <= smallAnswerBytes) return;
    const pool = this.#pools.answerBytes;
    // Counted even beyond the limit: the bytes are there. The next request is refused for them.
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

/** Accounts of one namespace count as one: whoever may make them there could make any number. */
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
