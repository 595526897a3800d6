import type { Caller, Policy, PolicyLevel } from './caller.ts';
import type { RequestContext } from './http/context.ts';
import type { Refusal } from './refusal.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

/** What a handler answers. `body` becomes JSON; `bytes` goes out as it is. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly bytes?: Uint8Array | string;
  /** of `bytes`; JSON has the service's own */
  readonly contentType?: string;
}

export interface Route {
  readonly method: Method;
  /** below the service's root: `/v2.1/servers/{id}` */
  readonly path: string;
  /** needs no token */
  readonly open?: boolean;
  /** absent: anybody with a valid token */
  readonly policy?: Policy;
  /** minor microversions that have it; otherwise the path is unknown */
  readonly since?: number;
  readonly until?: number;
  /** Runs in a transaction: what it changed is undone when it throws. */
  handle(context: RequestContext): Answer;
}

/** How a service negotiates microversions. */
export interface Microversions {
  /** word in the `OpenStack-API-Version` header */
  readonly serviceType: string;
  readonly major: number;
  readonly max: number;
  readonly legacyHeader?: string;
  /** paths below this take part */
  readonly below: string;
}

/** One OpenStack service: its routes and the manners of its answers. */
export interface ServiceDefinition {
  /** type in the catalogue */
  readonly type: string;
  /** name in the catalogue */
  readonly name: string;
  /** path of its root: `/compute` */
  readonly root: string;
  /** what the catalogue adds to the root, `{project}` is filled in: `/v2.1` */
  readonly catalogPath: string;
  readonly routes: readonly Route[];
  readonly jsonContentType: string;
  readonly microversions?: Microversions;
  /** Gives a refusal the service's shape. */
  renderRefusal(refusal: Refusal, context: RequestContext): Answer;
  /** a missing or bad token */
  renderUnauthenticated(context: RequestContext): Answer;
  renderUnknownPath(context: RequestContext): Answer;
  renderWrongMethod(context: RequestContext, allowed: readonly string[]): Answer;
  /** the refusal of a policy, in the service's words */
  forbidden(policy: Policy, context: RequestContext): Refusal;
  /** the refusal of a body that is not JSON */
  badJson(context: RequestContext): Refusal;
  /** whether a level is reached; the usual meaning when absent */
  allows?(caller: Caller, level: PolicyLevel): boolean;
  /** headers of every answer besides content type and length; may be given per answer */
  headers?(context: RequestContext, answer: Answer): Record<string, string>;
}
