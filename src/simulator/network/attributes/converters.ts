import { pythonText } from '../../core/checks/python.ts';
import { parseCidr } from '../addressing/cidr.ts';
import { canonicalIp, formatIp } from '../addressing/ip.ts';
import { invalidInput } from '../refusals.ts';

/** Converts a given value to the stored one. Throws neutron's refusal if it is invalid. */
export type Convert = (value: unknown) => unknown;

const trueWords = new Set(['1', 't', 'true', 'on', 'y', 'yes']);
const falseWords = new Set(['0', 'f', 'false', 'off', 'n', 'no']);

export function toBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string' || typeof value === 'number') {
    const word = String(value).trim().toLowerCase();
    if (trueWords.has(word)) return true;
    if (falseWords.has(word)) return false;
  }
  throw invalidInput(`'${pythonText(value)}' cannot be converted to boolean`);
}

export function toBooleanOrNull(value: unknown): boolean | null {
  return value === null ? null : toBoolean(value);
}

export function toInteger(value: unknown): number {
  if (typeof value === 'number') return Math.trunc(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value)) return Number(value);
  throw invalidInput(`'${pythonText(value)}' is not an integer`);
}

export function nullToEmptyList(value: unknown): unknown {
  return value === null ? [] : value;
}

export function toLowerCase(value: unknown): string {
  if (typeof value !== 'string') throw invalidInput(`Input value ${pythonText(value)} must be string type`);
  return value.toLowerCase();
}

/** IPv6 addresses are stored canonically. Invalid values are left to the following check. */
export function toCanonicalIp(value: unknown): unknown {
  return typeof value === 'string' && value.includes(':') ? (canonicalIp(value) ?? value) : value;
}

/** Converts to `address/prefix`, keeping the host bits. */
export function toCanonicalCidr(value: unknown): string {
  const cidr = typeof value === 'string' ? parseCidr(value) : undefined;
  if (!cidr) throw invalidInput(`${pythonText(value)} is not in a CIDR format`);
  return `${formatIp({ version: cidr.version, value: cidr.ip })}/${cidr.prefix}`;
}
