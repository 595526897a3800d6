import type { UserInfo } from '../auth/index.ts';
import { Pace } from '../flow/index.ts';
import type { Caller } from '../service/types.ts';
import type { Exchange } from './exchange.ts';

/** The caller of a request over HTTP. */
export class HttpCaller implements Caller {
  readonly user: UserInfo;
  readonly #exchange: Exchange;
  #pace: Pace | undefined;

  constructor(exchange: Exchange, user: UserInfo) {
    this.user = user;
    this.#exchange = exchange;
  }

  get userAgent(): string {
    return this.#exchange.header('user-agent') ?? '';
  }

  /** Created on demand, because most requests end before anything needs it. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  warn(text: string): void {
    this.#exchange.warn(text);
  }

  pause(): Promise<void> | undefined {
    this.#pace ??= new Pace();
    return this.#pace.pause();
  }
}
