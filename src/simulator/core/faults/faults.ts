import { must, type Random, seededRandom } from '../../../machinery/index.ts';
import { type FaultEffect, type FaultRule, isOutcomeEffect, type OutcomeEffect, type RequestEffect } from './rule.ts';

/** Properties of a request that rules match, known before it is handled. */
export interface RequestTraits {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly projectId: string | undefined;
  readonly projectName: string | undefined;
}

/** Properties of an asynchronous step that rules match. */
export interface OutcomeTraits {
  readonly operation: string;
  readonly projectId: string;
  readonly projectName?: string | undefined;
  readonly name: string;
}

type Matcher = (text: string) => boolean;

interface Armed {
  readonly rule: FaultRule;
  readonly dice: Random;
  readonly matches: {
    readonly path: Matcher | undefined;
    readonly name: Matcher | undefined;
    readonly operation: Matcher | undefined;
  };
  seen: number;
  struck: number;
}

/** Active fault rules. Each rule has a random generator of its own, so adding a rule does not affect the others. */
export class Faults {
  readonly #requests = new Map<string, Armed>();
  readonly #outcomes = new Map<string, Armed>();

  constructor(rules: readonly FaultRule[] = []) {
    for (const rule of rules) this.set(rule);
  }

  /** Adds a rule, or replaces the rule with the same id and resets its counters. */
  set(rule: FaultRule): void {
    this.delete(rule.id);
    const { path, name, operation } = rule.when;
    const armed: Armed = {
      rule,
      dice: seededRandom(rule.seed ?? hash(rule.id)),
      matches: { path: matcher(path), name: matcher(name), operation: matcher(operation) },
      seen: 0,
      struck: 0,
    };
    (isOutcomeEffect(rule.effect) ? this.#outcomes : this.#requests).set(rule.id, armed);
  }

  delete(id: string): boolean {
    return this.#requests.delete(id) || this.#outcomes.delete(id);
  }

  clear(): void {
    this.#requests.clear();
    this.#outcomes.clear();
  }

  /** Lists all rules with the number of matches and of strikes. */
  list(): { rule: FaultRule; seen: number; struck: number }[] {
    return [...this.#requests.values(), ...this.#outcomes.values()].map(({ rule, seen, struck }) => ({
      rule,
      seen,
      struck,
    }));
  }

  get anyForRequests(): boolean {
    return this.#requests.size > 0;
  }

  get anyForOutcomes(): boolean {
    return this.#outcomes.size > 0;
  }

  /** Returns the effects of all matching rules, in the order the rules were set. */
  forRequest(traits: RequestTraits): RequestEffect[] {
    const effects: RequestEffect[] = [];
    for (const armed of this.#requests.values()) {
      const { when } = armed.rule;
      if (when.service !== undefined && when.service !== traits.service) continue;
      if (when.method !== undefined && when.method.toUpperCase() !== traits.method) continue;
      if (armed.matches.path && !armed.matches.path(traits.path)) continue;
      if (when.project !== undefined && when.project !== traits.projectId && when.project !== traits.projectName)
        continue;
      const effect = strike(armed);
      if (effect) effects.push(effect as RequestEffect);
    }
    return effects;
  }

  /** Returns the effect on this step, or undefined if it proceeds normally. */
  forOutcome(traits: OutcomeTraits): OutcomeEffect | undefined {
    for (const armed of this.#outcomes.values()) {
      const { when } = armed.rule;
      if (armed.matches.operation && !armed.matches.operation(traits.operation)) continue;
      if (armed.matches.name && !armed.matches.name(traits.name)) continue;
      if (when.project !== undefined && when.project !== traits.projectId && when.project !== traits.projectName)
        continue;
      const effect = strike(armed);
      if (effect) return effect as OutcomeEffect;
    }
    return undefined;
  }

  /** Returns a duration, random within a range. */
  duration(ms: number | readonly [min: number, max: number]): number {
    return typeof ms === 'number' ? ms : ms[0] + this.#spread.next() * (ms[1] - ms[0]);
  }

  readonly #spread: Random = seededRandom(1);
}

function strike(armed: Armed): FaultEffect | undefined {
  const { rule } = armed;
  if (rule.count !== undefined && armed.struck >= rule.count) return undefined;
  armed.seen++;
  if (armed.seen <= (rule.after ?? 0)) return undefined;
  if (rule.probability !== undefined && armed.dice.next() >= rule.probability) return undefined;
  armed.struck++;
  return rule.effect;
}

/** Builds a matcher of a pattern with `*`, precompiled for speed. */
function matcher(pattern: string | undefined): Matcher | undefined {
  if (pattern === undefined || pattern === '*') return undefined;
  const pieces = pattern.split('*');
  if (pieces.length === 1) return (text) => text === pattern;
  const first = must(pieces[0], 'the first of pieces');
  const last = must(pieces.at(-1), 'the last of pieces');
  const middle = pieces.slice(1, -1);
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    const end = text.length - last.length;
    for (const piece of middle) {
      const found = text.indexOf(piece, at);
      if (found < 0 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}

/** FNV-1a hash, so equal names give equal random sequences. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
