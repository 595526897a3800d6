import { createHash } from 'node:crypto';
import { type LinearPattern, must } from '../../../machinery/index.ts';
import { Gathered, shellLimits } from '../limits.ts';
import { pathIn, type ShellState, type Streams, type Tool } from '../state.ts';
import { flagsOf } from './files.ts';
import { SedError, sed, toPattern } from './sed.ts';

interface Context {
  readonly state: ShellState;
  readonly streams: Streams;
}

/** Reads the named files, or standard input. Prints an error and returns undefined if a file does not exist. */
function inputs(
  { state, streams }: Context,
  name: string,
  files: readonly string[],
): { name: string; text: string }[] | undefined {
  if (files.length === 0) {
    const { text } = streams.input;
    streams.input.text = '';
    return [{ name: '-', text }];
  }
  const found: { name: string; text: string }[] = [];
  let isWhole = true;
  for (const file of files) {
    const text =
      file === '-' ? streams.input.text : file === '/dev/null' ? '' : state.host.disk.read(pathIn(state, file));
    if (text === undefined) {
      streams.error(`${name}: ${file}: No such file or directory\n`);
      isWhole = false;
    } else found.push({ name: file, text });
  }
  return isWhole ? found : undefined;
}

const joined = (list: readonly { text: string }[]): string => {
  const whole = new Gathered();
  for (const { text } of list) whole.add(text);
  return whole.text();
};

/** Yields while lines are matched; the cost of a line is its length. */
const breathing =
  ({ state }: Context) =>
  async (line: string): Promise<void> => {
    state.use.spend(line.length / 500 + 0.05);
    await state.use.breathe(state.host);
  };

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Builds a tool that transforms its whole input. */
const filter =
  (name: string, valued: string, work: (text: string, args: ReturnType<typeof flagsOf>) => string): Tool =>
  (context, args) => {
    const parsed = flagsOf(args, valued);
    const found = inputs(context, name, parsed.rest);
    if (!found) return 1;
    const text = joined(found);
    context.state.use.spendText(text.length * 20);
    context.streams.out(work(text, parsed));
    return 0;
  };

const grep: Tool = async (context, args) => {
  const { flags, rest, values } = flagsOf(args, 'emABC');
  const pattern = values.get('e') ?? rest[0] ?? '';
  const files = values.has('e') ? rest : rest.slice(1);
  const found = inputs(context, 'grep', files);
  if (!found) return 2;
  let expression: LinearPattern;
  try {
    const source = flags.has('F') ? pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') : pattern;
    const isExtended = flags.has('E') || flags.has('P') || flags.has('F');
    expression = toPattern(flags.has('w') ? `\\b${source}\\b` : flags.has('x') ? `^${source}$` : source, {
      isExtended,
      ignoreCase: flags.has('i'),
    });
  } catch (error) {
    if (!(error instanceof SedError)) throw error;
    context.streams.error(`grep: ${error.message}\n`);
    return 2;
  }
  let count = 0;
  const out = new Gathered();
  const breathe = breathing(context);
  for (const { name, text } of found) {
    const prefix = files.length > 1 && !flags.has('h') ? `${name}:` : '';
    for (const line of linesOf(text)) {
      await breathe(line);
      if (expression.test(line) === flags.has('v')) continue;
      count++;
      if (flags.has('c') || flags.has('q')) continue;
      if (!flags.has('o')) out.add(`${prefix}${line}\n`);
      else for (const { groups } of expression.all(line)) if (groups[0]) out.add(`${prefix}${groups[0]}\n`);
    }
  }
  if (!flags.has('q')) context.streams.out(flags.has('c') ? `${count}\n` : out.text());
  return count > 0 ? 0 : 1;
};

const sedTool: Tool = async (context, args) => {
  const isInPlace = args.some((arg) => /^-[nErsz]*i/.test(arg) || arg.startsWith('--in-place'));
  const { flags, rest, values } = flagsOf(
    args.map((arg) => (/^-i\S+/.test(arg) ? '-i' : arg)),
    'ef',
  );
  const scripts = values.has('e') ? [must(values.get('e'), 'get')] : [rest[0] ?? ''];
  const files = values.has('e') ? rest : rest.slice(1);
  const options = { isExtended: flags.has('E') || flags.has('r'), isQuiet: flags.has('n') };
  const found = inputs(context, "sed: can't read", files);
  if (!found) return 2;
  try {
    const breathe = breathing(context);
    if (!isInPlace) context.streams.out(await sed(scripts, joined(found), options, breathe));
    else {
      for (const { name, text } of found) {
        context.state.host.disk.write(pathIn(context.state, name), await sed(scripts, text, options, breathe));
      }
    }
    return 0;
  } catch (error) {
    if (!(error instanceof SedError)) throw error;
    context.streams.error(`sed: -e expression #1: ${error.message}\n`);
    return 1;
  }
};

const maxProgram = 2_000;

/** The subset of awk that machine scripts use: columns of matching lines. */
const awk: Tool = async (context, args) => {
  const { rest, values } = flagsOf(args, 'Fv');
  const program = /^ ?(?:\/((?:[^/\\]|\\.)*)\/|NR ?== ?(\d+))? ?\{ ?print ?([^}]*)\} ?$/.exec(
    (rest[0] ?? '').slice(0, maxProgram).replace(/\s+/g, ' '),
  );
  if (!program) {
    context.streams.error('awk: this program is beyond what is simulated\n');
    return 2;
  }
  const found = inputs(context, 'awk', rest.slice(1));
  if (!found) return 2;
  const separator = values.get('F');
  const [, pattern, number, statements = ''] = program;
  const columns = statements.replace(/(?:; ?exit ?)?;? ?$/, '');
  const expression = pattern === undefined ? undefined : toPattern(pattern, { isExtended: true });
  const breathe = breathing(context);
  for (const [index, line] of linesOf(joined(found)).entries()) {
    await breathe(line);
    if (expression && !expression.test(line)) continue;
    if (number !== undefined && Number(number) !== index + 1) continue;
    const fields = separator === undefined ? line.trim().split(/\s+/) : line.split(separator);
    const shown = columns
      .split(',')
      .map((column) =>
        [...column.matchAll(/\$NF|\$(\d+)|"([^"]*)"/g)]
          .map(
            ([all, digit, literal]) =>
              literal ?? (all === '$NF' ? fields.at(-1) : digit === '0' ? line : fields[Number(digit) - 1]) ?? '',
          )
          .join(''),
      );
    context.streams.out(`${columns === '' ? line : shown.join(' ')}\n`);
    if (rest[0]?.includes('exit')) break;
  }
  return 0;
};

const cut = filter('cut', 'dfc', (text, { values }) => {
  const delimiter = values.get('d') ?? '\t';
  const characters = values.get('c');
  const wanted = (values.get('f') ?? characters ?? '1').split(',').map((part) => {
    const [from = '', to] = part.split('-');
    return {
      from: Number(from || 1),
      to: to === undefined ? Number(from) : to === '' ? Number.POSITIVE_INFINITY : Number(to),
    };
  });
  return linesOf(text)
    .map((line) => {
      const fields = characters === undefined ? line.split(delimiter) : [...line];
      if (characters === undefined && fields.length === 1) return `${line}\n`;
      const kept = fields.filter((_, index) => wanted.some(({ from, to }) => index + 1 >= from && index + 1 <= to));
      return `${kept.join(characters === undefined ? delimiter : '')}\n`;
    })
    .join('');
});

const translate: Tool = ({ streams }, args) => {
  const { flags, rest } = flagsOf(args);
  const [from, to] = rest.map(charactersOf);
  const { text } = streams.input;
  const places = new Map<string, number>();
  for (const [index, char] of (from ?? []).entries()) if (!places.has(char)) places.set(char, index);
  let out = '';
  for (const char of text) {
    const at = places.get(char);
    if (at === undefined) out += char;
    else if (!flags.has('d')) {
      const by = to?.[Math.min(at, to.length - 1)] ?? char;
      if (!flags.has('s') || out.at(-1) !== by) out += by;
    }
  }
  streams.out(out);
  return 0;
};

function charactersOf(set: string): string[] {
  const classes: Readonly<Record<string, string>> = {
    '[:upper:]': 'A-Z',
    '[:lower:]': 'a-z',
    '[:digit:]': '0-9',
    '[:space:]': ' \t\n',
  };
  const text = (classes[set] ?? set).replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  return [
    ...text.slice(0, 1_000).replace(/(.)-(.)/gs, (_, first: string, last: string) => {
      let all = '';
      for (let code = first.charCodeAt(0); code <= last.charCodeAt(0); code++) all += String.fromCharCode(code);
      return all;
    }),
  ];
}

const countOf = (values: ReadonlyMap<string, string>, flags: ReadonlySet<string>): number => {
  const short = [...flags].filter((flag) => /^\d$/.test(flag)).join('');
  return Number((values.get('n') ?? short) || 10);
};

const base64: Tool = (context, args) => {
  const { flags, rest } = flagsOf(args, 'w');
  const found = inputs(context, 'base64', rest);
  if (!found) return 1;
  const text = joined(found);
  const isDecoding = flags.has('d') || flags.has('decode') || flags.has('D');
  context.streams.out(
    isDecoding ? Buffer.from(text, 'base64').toString() : `${Buffer.from(text).toString('base64')}\n`,
  );
  return 0;
};

const lastLines = filter('tail', 'nc', (text, { flags, values }) =>
  linesOf(text)
    .slice(-countOf(values, flags))
    .map((line) => `${line}\n`)
    .join(''),
);

/** Text filters. */
export const textTools: Readonly<Record<string, Tool>> = {
  cat: filter('cat', '', (text) => text),
  tee: ({ state, streams }, args) => {
    const { flags, rest } = flagsOf(args);
    const { text } = streams.input;
    for (const name of rest) {
      const path = pathIn(state, name);
      if (path !== '/dev/null') {
        state.host.disk.write(path, (flags.has('a') ? (state.host.disk.read(path) ?? '') : '') + text);
      }
    }
    streams.out(text);
    return 0;
  },
  grep,
  egrep: (context, args) => grep(context, ['-E', ...args]),
  fgrep: (context, args) => grep(context, ['-F', ...args]),
  sed: sedTool,
  awk,
  gawk: awk,
  cut,
  tr: translate,
  head: filter('head', 'nc', (text, { flags, values }) =>
    linesOf(text)
      .slice(0, countOf(values, flags))
      .map((line) => `${line}\n`)
      .join(''),
  ),
  tail: async (context, args) => {
    const status = await lastLines(context, args);
    // Following a file waits for further lines, which never come, until it is interrupted.
    const follows = args.some((arg) => /^-[a-z]*[fF]/.test(arg) || arg.startsWith('--follow'));
    while (status === 0 && follows) await context.state.host.pass(86_400_000);
    return status;
  },
  sort: filter('sort', 'kt', (text, { flags }) => {
    const lines = linesOf(text).sort((a, b) => (flags.has('n') ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0));
    if (flags.has('r')) lines.reverse();
    return (flags.has('u') ? [...new Set(lines)] : lines).map((line) => `${line}\n`).join('');
  }),
  uniq: filter('uniq', '', (text) =>
    linesOf(text)
      .filter((line, index, all) => line !== all[index - 1])
      .map((line) => `${line}\n`)
      .join(''),
  ),
  wc: filter('wc', '', (text, { flags }) =>
    flags.has('l')
      ? `${linesOf(text).length}\n`
      : flags.has('c')
        ? `${Buffer.byteLength(text)}\n`
        : `${linesOf(text).length} ${text.split(/\s+/).filter(Boolean).length} ${Buffer.byteLength(text)}\n`,
  ),
  base64,
  sha256sum: filter('sha256sum', '', (text) => `${createHash('sha256').update(text).digest('hex')}  -\n`),
  seq: async ({ state, streams }, args) => {
    const numbers = args.map(Number);
    const [first, last] =
      numbers.length === 1
        ? [1, must(numbers[0], 'the first of numbers')]
        : [must(numbers[0], 'the first of numbers'), must(numbers.at(-1), 'the last of numbers')];
    const step = numbers.length === 3 ? must(numbers[1], 'numbers[1]') : 1;
    for (let i = first; step > 0 ? i <= last : i >= last; i += step || 1) {
      streams.out(`${i}\n`);
      state.use.spend(0.1);
      await state.use.breathe(state.host);
    }
    return 0;
  },
  envsubst: ({ state, streams }) => {
    streams.out(
      streams.input.text.replace(/\$\{(\w+)\}|\$(\w+)/g, (_, braced?: string, bare?: string) =>
        state.exported.has(braced ?? bare ?? '') ? (state.variables.get(braced ?? bare ?? '') ?? '') : '',
      ),
    );
    return 0;
  },
  xargs: ({ state, streams, runner }, args) => {
    const { rest } = flagsOf(args, 'nPI');
    const given = streams.input.text.trim().split(/\s+/, shellLimits.words).filter(Boolean);
    return runner.run(state, [...(rest.length === 0 ? ['echo'] : rest), ...given], { ...streams, input: { text: '' } });
  },
};
