import { FunctionError } from '../errors.ts';
import { comparePrereleases, Version } from './version.ts';

const versionShape =
  'v?([0-9|xX*]+)(\\.[0-9|xX*]+)?(\\.[0-9|xX*]+)?(-([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?(\\+([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*))?';
const operators = '=>|=<|!=|>=|<=|~>|=|>|<|~|\\^|';
const single = new RegExp(`^\\s*(${operators})\\s*(${versionShape})\\s*$`);
const range = new RegExp(`\\s*(${versionShape})\\s+-\\s+(${versionShape})\\s*`, 'g');
const each = new RegExp(`(${operators})\\s*(${versionShape})`, 'g');
const oneOf = `(?:${operators})\\s*(?:${versionShape.replaceAll(/\((?!\?)/g, '(?:')})\\s*`;
const valid = new RegExp(`^\\s*${oneOf}(?:(?:\\s+|,\\s*)${oneOf})*$`);
/** Limit for the backtracking expressions above. */
const maxLength = 512;

interface Condition {
  readonly operator: string;
  readonly version: Version;
  /** parts left open, as in `1.x` or `1` */
  readonly isDirty: boolean;
  readonly isMinorDirty: boolean;
  readonly isPatchDirty: boolean;
}

/** Reports whether a version satisfies a constraint such as `>=1.20 <2 || ^3`, by the rules of Masterminds/semver. */
export function fits(constraint: string, version: Version): boolean {
  return parseConstraint(constraint).some((conditions) => {
    const allowsPrerelease = conditions.some((condition) => condition.version.prerelease !== '');
    return conditions.every((condition) => holds(condition, version, allowsPrerelease));
  });
}

function parseConstraint(text: string): Condition[][] {
  if (text.length > maxLength) throw new FunctionError('improper constraint: too long');
  const rewritten = text.replace(range, (...groups: string[]) => `>= ${groups[1]}, <= ${groups[9]} `);
  return rewritten.split('||').map((part) => {
    if (!valid.test(part)) throw new FunctionError(`improper constraint: ${part}`);
    return [...part.matchAll(each)].map(([one]) => parseCondition(one));
  });
}

const isOpen = (part: string | undefined): boolean => part === undefined || /^\.?[xX*]?$/.test(part);

function parseCondition(text: string): Condition {
  const found = single.exec(text);
  if (!found) throw new FunctionError(`improper constraint: ${text}`);
  const [, operator = '', whole = '', major, minor, patch, prerelease = ''] = found;
  const make = (version: string, dirt: Partial<Condition> = {}): Condition => ({
    operator,
    version: readVersion(version),
    isDirty: false,
    isMinorDirty: false,
    isPatchDirty: false,
    ...dirt,
  });
  if (isOpen(major)) return make(`0.0.0${prerelease}`, { isDirty: true });
  if (isOpen(minor)) return make(`${major}.0.0${prerelease}`, { isDirty: true, isMinorDirty: true });
  if (isOpen(patch)) return make(`${major}${minor}.0${prerelease}`, { isDirty: true, isPatchDirty: true });
  return make(whole);
}

function readVersion(text: string): Version {
  try {
    return new Version(text);
  } catch {
    throw new FunctionError('constraint parser error');
  }
}

function holds(condition: Condition, version: Version, allowsPrerelease: boolean): boolean {
  if (version.prerelease !== '' && !allowsPrerelease) return false;
  const { version: wanted, isDirty } = condition;
  switch (condition.operator) {
    case '':
    case '=':
      return isDirty ? tilde(condition, version) : version.compare(wanted) === 0;
    case '!=':
      return differs(condition, version);
    case '>':
      return greater(condition, version);
    case '<':
      return version.compare(wanted) < 0;
    case '>=':
    case '=>':
      return version.compare(wanted) >= 0;
    case '<=':
    case '=<':
      if (!isDirty) return version.compare(wanted) <= 0;
      if (version.major > wanted.major) return false;
      return !(version.major === wanted.major && version.minor > wanted.minor && !condition.isMinorDirty);
    case '^':
      return caret(condition, version);
    default:
      return tilde(condition, version);
  }
}

function differs({ version: wanted, isDirty, isMinorDirty, isPatchDirty }: Condition, version: Version): boolean {
  if (!isDirty) return version.compare(wanted) !== 0;
  if (wanted.major !== version.major) return true;
  if (wanted.minor !== version.minor && !isMinorDirty) return true;
  if (isMinorDirty) return false;
  if (wanted.patch !== version.patch && !isPatchDirty) return true;
  if (isPatchDirty) {
    if (version.prerelease === '' && wanted.prerelease === '') return false;
    return comparePrereleases(version.prerelease, wanted.prerelease) !== 0;
  }
  return version.compare(wanted) !== 0;
}

function greater({ version: wanted, isDirty, isMinorDirty, isPatchDirty }: Condition, version: Version): boolean {
  if (!isDirty) return version.compare(wanted) > 0;
  if (version.major !== wanted.major) return version.major > wanted.major;
  if (isMinorDirty) return false;
  if (isPatchDirty) return version.minor > wanted.minor;
  return version.compare(wanted) > 0;
}

function tilde({ version: wanted, isMinorDirty, isPatchDirty }: Condition, version: Version): boolean {
  if (version.compare(wanted) < 0) return false;
  // ~0.0.0 and * match everything.
  const isZero = wanted.major === 0n && wanted.minor === 0n && wanted.patch === 0n;
  if (isZero && !isMinorDirty && !isPatchDirty) return true;
  return version.major === wanted.major && (version.minor === wanted.minor || isMinorDirty);
}

function caret({ version: wanted, isMinorDirty, isPatchDirty }: Condition, version: Version): boolean {
  if (version.compare(wanted) < 0) return false;
  if (wanted.major > 0n || isMinorDirty) return version.major === wanted.major;
  if (version.major > 0n) return false;
  if (wanted.minor > 0n || isPatchDirty) return version.minor === wanted.minor;
  return version.minor === 0n && version.patch === wanted.patch;
}
