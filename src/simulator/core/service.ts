import type { Caller, Policy, PolicyLevel } from './caller.ts';
import type { RequestContext } from './http/context.ts';
import type { Refusal } from './refusal.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD';

/** Result of a handler. `body` is sent as JSON, `bytes` as is. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly bytes?: Uint8Array | string;
  /** content type of `bytes`; JSON uses the service's own */
  readonly contentType?: string;
}

export interface Route {
  readonly method: Method;
  /** path below the service's root, for example `/v2.1/servers/{id}` */
  readonly path: string;
  /** no authentication needed */
  readonly open?: boolean;
  /** default: any valid token */
  readonly policy?: Policy;
  /** first and last minor microversion of the route; the path is unknown in others */
  readonly since?: number;
  readonly until?: number;
  /** Runs in a transaction, which is rolled back if it throws. */
  handle(context: RequestContext): Answer;
}

/** Microversion negotiation of a service. */
export interface Microversions {
  /** service type in the `OpenStack-API-Version` header */
  readonly serviceType: string;
  readonly major: number;
  readonly max: number;
  readonly legacyHeader?: string;
  /** path prefix with microversions */
  readonly below: string;
}

/** One OpenStack service: its routes and the format of its answers. */
export interface ServiceDefinition {
  readonly type: string;
  readonly name: string;
  /** path of the service's root, for example `/compute` */
  readonly root: string;
  /** path the catalogue appends to the root, for example `/v2.1`; `{project}` is replaced */
  readonly catalogPath: string;
  readonly routes: readonly Route[];
  readonly jsonContentType: string;
  readonly microversions?: Microversions;
  /** Renders a refusal in the service's format. */
  renderRefusal(refusal: Refusal, context: RequestContext): Answer;
  /** answer to a missing or invalid token */
  renderUnauthenticated(context: RequestContext): Answer;
  renderUnknownPath(context: RequestContext): Answer;
  renderWrongMethod(context: RequestContext, allowed: readonly string[]): Answer;
  /** refusal of a policy */
  forbidden(policy: Policy, context: RequestContext): Refusal;
  /** refusal of a body that is not JSON */
  badJson(context: RequestContext): Refusal;
  /** whether the caller reaches a level; default: the usual meaning of the levels */
  allows?(caller: Caller, level: PolicyLevel): boolean;
  /** additional headers of every answer; may depend on the answer */
  headers?(context: RequestContext, answer: Answer): Record<string, string>;
}
