/**
 * Faults as data. A rule says when (selector, probability, how often) and what (effect). Effects on requests strike at
 * the HTTP level of any service; effects on outcomes strike where the cloud decides how an asynchronous step ends.
 */
export interface FaultRule {
  readonly id: string;
  readonly when: FaultSelector;
  /** 0 to 1, default 1 */
  readonly probability?: number;
  /** strikes so many times, then never again; default without end */
  readonly count?: number;
  /** lets so many matching occasions pass first */
  readonly after?: number;
  /** of the rule's own dice; default derived from its id */
  readonly seed?: number;
  readonly effect: FaultEffect;
}

/** All that is given must fit; `*` in a text stands for anything. */
export interface FaultSelector {
  /** service type: compute, network, image, volumev3, load-balancer, identity, placement */
  readonly service?: string;
  readonly method?: string;
  /** below the service's root: `/v2.1/servers*` */
  readonly path?: string;
  /** id or name */
  readonly project?: string;
  /** name of the resource, for outcomes */
  readonly name?: string;
  /** the step an outcome effect strikes at; see `outcomes` in the documentation */
  readonly operation?: string;
}

export type FaultEffect =
  /** answers later; then goes on as if nothing were */
  | { readonly kind: 'latency'; readonly ms: number | readonly [min: number, max: number] }
  /** refuses without doing the work; a body of its own, or the message in the service's shape */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly body?: string;
      readonly contentType?: string;
      readonly retryAfter?: number;
    }
  /** the connection breaks before (`false`) or after (`true`) the work was done */
  | { readonly kind: 'reset'; readonly workDone: boolean }
  /** no answer comes, the connection stays open for `holdMs` (10 minutes); the work was done or not */
  | { readonly kind: 'hang'; readonly workDone: boolean; readonly holdMs?: number }
  /** the work was done, a proxy answers 504 */
  | { readonly kind: 'gateway-timeout' }
  /** the token is refused once as if it had run out */
  | { readonly kind: 'expired-token' }
  /** the step ends in ERROR with this text */
  | { readonly kind: 'error'; readonly message?: string }
  /** the step never ends */
  | { readonly kind: 'stuck' }
  /** the step takes longer */
  | { readonly kind: 'slow'; readonly ms: number | readonly [min: number, max: number] }
  /** the quota is said to be exhausted */
  | { readonly kind: 'over-quota' };

export type OutcomeEffect = Extract<FaultEffect, { kind: 'error' | 'stuck' | 'slow' | 'over-quota' }>;
export type RequestEffect = Exclude<FaultEffect, OutcomeEffect>;

export function isOutcomeEffect(effect: FaultEffect): effect is OutcomeEffect {
  return effect.kind === 'error' || effect.kind === 'stuck' || effect.kind === 'slow' || effect.kind === 'over-quota';
}
