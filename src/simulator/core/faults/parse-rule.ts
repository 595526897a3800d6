import { must } from '../../../machinery/index.ts';
import type { FaultEffect, FaultRule, FaultSelector } from './rule.ts';

/** An invalid rule. The message names the field. */
export class FaultRuleError extends Error {
  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.name = 'FaultRuleError';
  }
}

type Fields = Readonly<Record<string, unknown>>;

function objectAt(value: unknown, field: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new FaultRuleError(field, 'must be an object');
  return value as Fields;
}

function mustKnow(fields: Fields, known: readonly string[], where: string): void {
  for (const key in fields) {
    if (!known.includes(key)) throw new FaultRuleError(`${where}${key}`, `is not known; known are ${known.join(', ')}`);
  }
}

function optional<T>(fields: Fields, key: string, is: (value: unknown) => value is T, what: string): T | undefined {
  const value = fields[key];
  if (value === undefined) return undefined;
  if (!is(value)) throw new FaultRuleError(key, `must be ${what}`);
  return value;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;
const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;
const isDuration = (value: unknown): value is number => typeof value === 'number' && value >= 0;
const isStatus = (value: unknown): value is number => isCount(value) && value >= 200 && value <= 599;
const isSpan = (value: unknown): value is number | [number, number] =>
  isDuration(value) ||
  (Array.isArray(value) &&
    value.length === 2 &&
    value.every(isDuration) &&
    must(value[0], 'the first of value') <= must(value[1], 'value[1]'));

const selectorKeys = ['service', 'method', 'path', 'project', 'name', 'operation'] as const;

/** Parses a rule from JSON. Throws `FaultRuleError`. */
export function parseFaultRule(value: unknown, id?: string): FaultRule {
  const fields = objectAt(value, 'rule');
  mustKnow(fields, ['id', 'when', 'probability', 'count', 'after', 'seed', 'effect'], '');
  const ownId = id ?? optional(fields, 'id', isText, 'text');
  if (ownId === undefined || ownId === '') throw new FaultRuleError('id', 'is missing');
  const probability = optional(fields, 'probability', isShare, 'a number from 0 to 1');
  const count = optional(fields, 'count', isCount, 'a whole number');
  const after = optional(fields, 'after', isCount, 'a whole number');
  const seed = optional(fields, 'seed', isCount, 'a whole number');
  return {
    id: ownId,
    when: parseSelector(fields['when'] ?? {}),
    ...(probability !== undefined && { probability }),
    ...(count !== undefined && { count }),
    ...(after !== undefined && { after }),
    ...(seed !== undefined && { seed }),
    effect: parseEffect(fields['effect']),
  };
}

function parseSelector(value: unknown): FaultSelector {
  const fields = objectAt(value, 'when');
  mustKnow(fields, selectorKeys, 'when.');
  const selector: { -readonly [K in keyof FaultSelector]: string } = {};
  for (const key of selectorKeys) {
    const text = optional(fields, key, isText, 'text');
    if (text !== undefined) selector[key] = text;
  }
  return selector;
}

function parseEffect(value: unknown): FaultEffect {
  const fields = objectAt(value, 'effect');
  const span = (): number | [number, number] => {
    const ms = optional(fields, 'ms', isSpan, 'milliseconds, or [least, most]');
    if (ms === undefined) throw new FaultRuleError('effect.ms', 'is missing');
    return ms;
  };
  const workDone = (): boolean => optional(fields, 'workDone', isFlag, 'true or false') ?? false;
  const known = (...keys: string[]): void => mustKnow(fields, ['kind', ...keys], 'effect.');
  const kind = fields['kind'];
  switch (kind) {
    case 'latency':
    case 'slow':
      known('ms');
      return { kind, ms: span() };
    case 'status':
      known('status', 'message', 'body', 'contentType', 'retryAfter');
      return parseStatus(fields);
    case 'reset':
      known('workDone');
      return { kind, workDone: workDone() };
    case 'hang': {
      known('workDone', 'holdMs');
      const holdMs = optional(fields, 'holdMs', isDuration, 'milliseconds');
      return { kind, workDone: workDone(), ...(holdMs !== undefined && { holdMs }) };
    }
    case 'error': {
      known('message');
      const message = optional(fields, 'message', isText, 'text');
      return { kind, ...(message !== undefined && { message }) };
    }
    case 'gateway-timeout':
    case 'expired-token':
    case 'stuck':
    case 'over-quota':
      known();
      return { kind };
    default:
      throw new FaultRuleError(
        'effect.kind',
        'must be one of latency, status, reset, hang, gateway-timeout, expired-token, error, stuck, slow, over-quota',
      );
  }
}

function parseStatus(fields: Fields): FaultEffect {
  const status = optional(fields, 'status', isStatus, 'an HTTP status');
  if (status === undefined) throw new FaultRuleError('effect.status', 'is missing');
  const message = optional(fields, 'message', isText, 'text');
  const body = optional(fields, 'body', isText, 'text');
  const contentType = optional(fields, 'contentType', isText, 'text');
  const retryAfter = optional(fields, 'retryAfter', isDuration, 'seconds');
  return {
    kind: 'status',
    status,
    ...(message !== undefined && { message }),
    ...(body !== undefined && { body }),
    ...(contentType !== undefined && { contentType }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}
