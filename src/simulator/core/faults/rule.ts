/**
 * A fault as data. A rule defines when (selector, probability, count) and what (effect). Request effects apply at the
 * HTTP level of any service. Outcome effects apply when the cloud decides how an asynchronous step ends.
 */
export interface FaultRule {
  readonly id: string;
  readonly when: FaultSelector;
  /** 0 to 1, default 1 */
  readonly probability?: number;
  /** maximum number of strikes; default: unlimited */
  readonly count?: number;
  /** number of matches to skip first */
  readonly after?: number;
  /** seed of the rule's random generator; default: derived from its id */
  readonly seed?: number;
  readonly effect: FaultEffect;
}

/** All given fields must match. `*` in a text matches anything. */
export interface FaultSelector {
  /** service type: compute, network, image, volumev3, load-balancer, identity, placement */
  readonly service?: string;
  readonly method?: string;
  /** path below the service's root, for example `/v2.1/servers*` */
  readonly path?: string;
  /** id or name */
  readonly project?: string;
  /** name of the resource, for outcomes */
  readonly name?: string;
  /** step that an outcome effect applies to; see `outcomes` in the documentation */
  readonly operation?: string;
}

export type FaultEffect =
  /** answers after a delay */
  | { readonly kind: 'latency'; readonly ms: number | readonly [min: number, max: number] }
  /** refuses without doing the work, with the given body, or with the message in the service's format */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly message?: string;
      readonly body?: string;
      readonly contentType?: string;
      readonly retryAfter?: number;
    }
  /** the connection breaks before (`false`) or after (`true`) the work */
  | { readonly kind: 'reset'; readonly workDone: boolean }
  /** never answers; the connection stays open for `holdMs` (10 minutes), with or without doing the work */
  | { readonly kind: 'hang'; readonly workDone: boolean; readonly holdMs?: number }
  /** does the work, but a proxy answers 504 */
  | { readonly kind: 'gateway-timeout' }
  /** refuses the token once, as if it had expired */
  | { readonly kind: 'expired-token' }
  /** the step ends in ERROR with this message */
  | { readonly kind: 'error'; readonly message?: string }
  /** the step never finishes */
  | { readonly kind: 'stuck' }
  /** the step takes longer */
  | { readonly kind: 'slow'; readonly ms: number | readonly [min: number, max: number] }
  /** reports the quota as exhausted */
  | { readonly kind: 'over-quota' };

export type OutcomeEffect = Extract<FaultEffect, { kind: 'error' | 'stuck' | 'slow' | 'over-quota' }>;
export type RequestEffect = Exclude<FaultEffect, OutcomeEffect>;

export function isOutcomeEffect(effect: FaultEffect): effect is OutcomeEffect {
  return effect.kind === 'error' || effect.kind === 'stuck' || effect.kind === 'slow' || effect.kind === 'over-quota';
}
