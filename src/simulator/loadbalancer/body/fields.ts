import { pythonText } from '../../core/checks/python.ts';
import { formatCidr, parseCidr } from '../../network/addressing/cidr.ts';
import { parseIp } from '../../network/addressing/ip.ts';
import { NotAllowed, Unreadable } from './faults.ts';
import { type Read, readShape, type Shape } from './shape.ts';

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const trueWords = new Set(['true', 't', 'yes', 'y', 'on', '1']);
const falseWords = new Set(['false', 'f', 'no', 'n', 'off', '0']);

export function text(maxLength?: number, pattern?: RegExp): Read {
  return (value) => {
    if (typeof value !== 'string') throw new NotAllowed('Value should be string');
    if (maxLength !== undefined && value.length > maxLength) {
      throw new NotAllowed(`Value should have a maximum character requirement of ${maxLength}`);
    }
    if (pattern && !pattern.test(value)) throw new NotAllowed(`Value should match the pattern ${pattern.source}`);
    return value;
  };
}

export const uuid: Read = (value) => {
  if (typeof value !== 'string' || !uuidPattern.test(value)) throw new NotAllowed('Value should be UUID format');
  return value;
};

export const boolean: Read = (value) => {
  if (typeof value === 'boolean') return value;
  const word = String(value).trim().toLowerCase();
  if (trueWords.has(word)) return true;
  if (falseWords.has(word)) return false;
  throw new Unreadable(`Value not an unambiguous boolean: ${pythonText(value)}`);
};

export function integer(min?: number, max?: number): Read {
  return (value) => {
    if (typeof value === 'string' && !/^\s*[+-]?\d+\s*$/.test(value)) {
      throw new Unreadable(`invalid literal for int() with base 10: '${value}'`);
    }
    const number = Number(value);
    if (!Number.isInteger(number) || typeof value === 'object') throw new NotAllowed('Value should be an integer');
    if (min !== undefined && number < min) throw new NotAllowed(`Value should be greater or equal to ${min}`);
    if (max !== undefined && number > max) throw new NotAllowed(`Value should be lower or equal to ${max}`);
    return number;
  };
}

export function oneOf(allowed: readonly (string | number)[]): Read {
  return (value) => {
    // Numbers may be strings in any notation: `1.0` equals 1.
    const isSame = (each: string | number): boolean =>
      each === value ||
      (typeof each === 'number' && typeof value === 'string' && /^\s*[\d.]+\s*$/.test(value) && Number(value) === each);
    const found = allowed.find(isSame);
    if (found === undefined) throw new NotAllowed(`Value should be one of: ${allowed.join(', ')}`);
    return found;
  };
}

export const ip: Read = (value) => {
  if (typeof value !== 'string' || !parseIp(value)) throw new NotAllowed('Value should be IPv4 or IPv6 format');
  return value;
};

export const cidr: Read = (value) => {
  const parsed = typeof value === 'string' ? parseCidr(value) : undefined;
  if (!parsed) throw new NotAllowed('Value should be IPv4 or IPv6 CIDR format');
  return formatCidr(parsed);
};

export const urlPath: Read = (value) => {
  if (typeof value !== 'string' || !/^\/[^\s]*$/.test(value)) {
    throw new NotAllowed('Value must be a valid URL Path string');
  }
  return value;
};

export const url: Read = (value) => {
  if (typeof value !== 'string' || !/^https?:\/\/[^\s/]+/.test(value)) {
    throw new NotAllowed('Value must be a valid URL string');
  }
  return value;
};

export function list(read: Read): Read {
  return (value) => {
    if (!Array.isArray(value)) throw new Unreadable(`Value not a valid list: ${pythonText(value)}`);
    return value.map((item) => read(item));
  };
}

/** Tags are stored sorted and without duplicates. */
export const tags: Read = (value) => {
  const given = list(text(255))(value) as string[];
  return [...new Set(given)].sort();
};

export const headers: Read = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Unreadable(`Value not a valid dict: ${pythonText(value)}`);
  }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, text(255)(each)]));
};

/** Reads a nested object. */
export function nested(shape: Shape): Read {
  return (value) => readShape(value, shape);
}
