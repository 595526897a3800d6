import { isIP } from 'node:net';
import { must, PatternError } from '../../../machinery/index.ts';
import type { Tool } from '../state.ts';
import { toPattern } from './sed.ts';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats a time like strftime. The time zone is always UTC. */
function formatDate(ms: number, format: string): string {
  const time = new Date(ms);
  const iso = time.toISOString();
  const fields: Readonly<Record<string, string>> = {
    Y: iso.slice(0, 4),
    m: iso.slice(5, 7),
    d: iso.slice(8, 10),
    e: String(time.getUTCDate()).padStart(2),
    H: iso.slice(11, 13),
    I: two(((time.getUTCHours() + 11) % 12) + 1),
    M: iso.slice(14, 16),
    S: iso.slice(17, 19),
    N: `${iso.slice(20, 23)}000000`,
    y: iso.slice(2, 4),
    s: String(Math.floor(ms / 1000)),
    F: iso.slice(0, 10),
    T: iso.slice(11, 19),
    R: iso.slice(11, 16),
    D: `${iso.slice(5, 7)}/${iso.slice(8, 10)}/${iso.slice(2, 4)}`,
    a: must(days[time.getUTCDay()], 'days[time.getUTCDay()]').slice(0, 3),
    A: must(days[time.getUTCDay()], 'days[time.getUTCDay()]'),
    b: must(months[time.getUTCMonth()], 'months[time.getUTCMonth()]').slice(0, 3),
    B: must(months[time.getUTCMonth()], 'months[time.getUTCMonth()]'),
    j: String(Math.floor((ms - Date.UTC(time.getUTCFullYear(), 0, 1)) / 86_400_000) + 1).padStart(3, '0'),
    u: String(time.getUTCDay() || 7),
    w: String(time.getUTCDay()),
    p: time.getUTCHours() < 12 ? 'AM' : 'PM',
    Z: 'UTC',
    z: '+0000',
    n: '\n',
    t: '\t',
    '%': '%',
  };
  return format.replace(/%[-:]?([A-Za-z%])/g, (all, field: string) => fields[field] ?? all);
}

const date: Tool = ({ state, streams }, args) => {
  let now = state.host.now();
  let format = '%a %b %e %H:%M:%S UTC %Y';
  for (let i = 0; i < args.length; i++) {
    const arg = must(args[i], 'args[i]');
    if (arg.startsWith('+')) format = arg.slice(1);
    else if (arg === '-R') format = '%a, %d %b %Y %H:%M:%S +0000';
    else if (/^(?:-I|--iso-8601=?)s(?:econds)?$/.test(arg)) format = '%Y-%m-%dT%H:%M:%S+00:00';
    else if (arg === '-I') format = '%F';
    else if (arg === '-d' || arg === '--date') {
      const given = args[++i] ?? '';
      const at = /^@(\d+)$/.test(given) ? Number(given.slice(1)) * 1000 : given === 'now' ? now : Date.parse(given);
      if (Number.isNaN(at) || Math.abs(at) > 8.64e15) {
        streams.error(`date: invalid date '${given}'\n`);
        return 1;
      }
      now = at;
    } else if (arg !== '-u' && arg !== '--utc') {
      streams.error(`date: unrecognized option: ${arg}\n`);
      return 1;
    }
  }
  streams.out(`${formatDate(now, format)}\n`);
  return 0;
};

class ExpressionError extends Error {}

/** Evaluates `expr`: integers, comparisons, and matches at the start of a text. */
function evaluate(words: readonly string[]): string {
  let at = 0;
  let depth = 0;
  const levels: readonly (readonly string[])[] = [
    ['|'],
    ['&'],
    ['<', '<=', '=', '==', '!=', '>=', '>'],
    ['+', '-'],
    ['*', '/', '%'],
    [':'],
  ];
  const binary = (level: number): string => {
    const operators = levels[level];
    if (!operators) return primary();
    let left = binary(level + 1);
    for (let operator = words[at]; operator !== undefined && operators.includes(operator); operator = words[at]) {
      at++;
      left = apply(operator, left, binary(level + 1));
    }
    return left;
  };
  const primary = (): string => {
    const word = words[at++];
    if (word === undefined || ++depth > 100) throw new ExpressionError('syntax error');
    try {
      if (word === '(') {
        const value = binary(0);
        if (words[at++] !== ')') throw new ExpressionError('syntax error');
        return value;
      }
      if (word === 'length' && at < words.length) return String(primary().length);
      if (word === 'match' && at + 1 < words.length) return matched(primary(), primary());
      if (word === 'substr' && at + 2 < words.length) {
        const [text, from, length] = [primary(), Number(primary()), Number(primary())];
        return from > 0 && length > 0 ? text.slice(from - 1, from - 1 + length) : '';
      }
      return word;
    } finally {
      depth--;
    }
  };
  const value = binary(0);
  if (at < words.length) throw new ExpressionError('syntax error');
  return value;
}

function apply(operator: string, left: string, right: string): string {
  switch (operator) {
    case '|':
      return isNothing(left) ? right : left;
    case '&':
      return isNothing(left) || isNothing(right) ? '0' : left;
    case ':':
      return matched(left, right);
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return calculated(operator, left, right);
    default: {
      const areNumbers = isNumber(left) && isNumber(right);
      const order = areNumbers ? Number(left) - Number(right) : left < right ? -1 : left > right ? 1 : 0;
      const holds: Readonly<Record<string, boolean>> = {
        '<': order < 0,
        '<=': order <= 0,
        '>': order > 0,
        '>=': order >= 0,
        '!=': order !== 0,
      };
      return (holds[operator] ?? order === 0) ? '1' : '0';
    }
  }
}

const isNothing = (value: string): boolean => value === '' || /^-?0+$/.test(value);
const isNumber = (value: string): boolean => /^-?\d{1,15}$/.test(value);

function calculated(operator: string, left: string, right: string): string {
  if (!isNumber(left) || !isNumber(right)) throw new ExpressionError('non-integer argument');
  const [a, b] = [Number(left), Number(right)];
  if ((operator === '/' || operator === '%') && b === 0) throw new ExpressionError('division by zero');
  const value = operator === '+' ? a + b : operator === '-' ? a - b : operator === '*' ? a * b : undefined;
  return String(value ?? (operator === '/' ? Math.trunc(a / b) : a % b));
}

/** Returns the first group, or the length of the matching prefix. */
function matched(text: string, pattern: string): string {
  const found = toPattern(pattern.startsWith('^') ? pattern : `^${pattern}`, { isExtended: false }).exec(text);
  const hasGroup = pattern.includes('\\(');
  return hasGroup ? (found?.groups[1] ?? '') : String(found?.groups[0]?.length ?? 0);
}

const expr: Tool = ({ streams }, args) => {
  try {
    const value = evaluate(args);
    streams.out(`${value}\n`);
    return isNothing(value) ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ExpressionError || error instanceof PatternError)) throw error;
    streams.error(`expr: ${error.message}\n`);
    return 2;
  }
};

const uname: Tool = ({ state, streams }, args) => {
  const fields = { s: 'Linux', n: state.host.hostname, r: '6.8.0-simulated', m: 'x86_64' } as const;
  const asked = args.join('').replaceAll('-', '');
  const letters = asked === '' ? 's' : asked.includes('a') ? 'snrm' : asked;
  streams.out(`${[...letters].map((letter) => fields[letter as keyof typeof fields] ?? 'unknown').join(' ')}\n`);
  return 0;
};

/** Commands for interactive use and for calculations in scripts. */
/** Looks names up, like getent: `hosts NAME` and `ahosts NAME`, also for one family of addresses. */
const getent: Tool = ({ state, streams }, [database = '', ...names]) => {
  const families: Readonly<Record<string, number>> = { hosts: 0, ahosts: 0, ahostsv4: 4, ahostsv6: 6 };
  const family = families[database];
  if (family === undefined) {
    streams.error(`Unknown database: ${database}\n`);
    return 1;
  }
  let status = 0;
  for (const name of names) {
    const addresses = (state.host.resolve?.(name) ?? []).filter((one) => family === 0 || isIP(one) === family);
    if (addresses.length === 0) status = 2;
    for (const address of addresses) {
      if (database === 'hosts') streams.out(`${address.padEnd(15)} ${name}\n`);
      else
        for (const type of ['STREAM', 'DGRAM', 'RAW']) streams.out(`${address.padEnd(15)} ${type.padEnd(6)} ${name}\n`);
    }
  }
  return status;
};

export const everydayTools: Readonly<Record<string, Tool>> = {
  date,
  expr,
  getent,
  uname,
  hostname: ({ state, streams }) => {
    streams.out(`${state.host.hostname}\n`);
    return 0;
  },
  whoami: ({ streams }) => {
    streams.out('root\n');
    return 0;
  },
  id: ({ streams }, args) => {
    streams.out(args.includes('-u') || args.includes('-g') ? '0\n' : 'uid=0(root) gid=0(root) groups=0(root)\n');
    return 0;
  },
};
