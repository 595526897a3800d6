import { Glob, must, trimTrailing } from '../../../machinery/index.ts';
import { normalPath } from '../host.ts';
import { pathIn, type ShellState, type Tool } from '../state.ts';

interface Arguments {
  readonly flags: ReadonlySet<string>;
  readonly rest: readonly string[];
}

/** Parses short and long flags. Flags in `valued` take the next argument. */
export function flagsOf(
  args: readonly string[],
  valued = '',
): Arguments & { readonly values: ReadonlyMap<string, string> } {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = must(args[i], 'args[i]');
    if (arg === '--') {
      rest.push(...args.slice(i + 1));
      break;
    }
    if (arg.startsWith('--')) {
      const equals = arg.indexOf('=');
      flags.add(equals < 0 ? arg.slice(2) : arg.slice(2, equals));
      if (equals >= 0) values.set(arg.slice(2, equals), arg.slice(equals + 1));
    } else if (arg.startsWith('-') && arg.length > 1) {
      for (let at = 1; at < arg.length; at++) {
        const letter = arg.charAt(at);
        flags.add(letter);
        if (!valued.includes(letter)) continue;
        values.set(letter, arg.slice(at + 1) || (args[++i] ?? ''));
        break;
      }
    } else rest.push(arg);
  }
  return { flags, rest, values };
}

const baseName = (path: string): string => trimTrailing(path, '/').split('/').pop() || '/';
const parentOf = (path: string): string => normalPath(path.slice(0, path.lastIndexOf('/')) || '/');

function isThere(state: ShellState, path: string): boolean {
  const { disk } = state.host;
  return disk.read(path) !== undefined || disk.isDirectory(path);
}

const makeDirectory: Tool = ({ state, streams }, args) => {
  const { flags, rest } = flagsOf(args, 'm');
  let status = 0;
  for (const name of rest) {
    const path = pathIn(state, name);
    if (!flags.has('p') && !flags.has('parents')) {
      const problem = isThere(state, path)
        ? 'File exists'
        : state.host.disk.isDirectory(parentOf(path))
          ? undefined
          : 'No such file or directory';
      if (problem) {
        streams.error(`mkdir: cannot create directory '${name}': ${problem}\n`);
        status = 1;
        continue;
      }
    }
    state.host.disk.makeDirectory(path);
  }
  return status;
};

const remove: Tool = ({ state, streams }, args) => {
  const { flags, rest } = flagsOf(args);
  const isForced = flags.has('f') || flags.has('force');
  const isDeep = flags.has('r') || flags.has('R') || flags.has('recursive');
  let status = 0;
  for (const name of rest) {
    const path = pathIn(state, name);
    const { disk } = state.host;
    const isFile = disk.read(path) !== undefined;
    if (!isFile && !isDeep && disk.isDirectory(path)) {
      streams.error(`rm: cannot remove '${name}': Is a directory\n`);
      status = 1;
    } else if (!disk.removeTree(path) && !isForced) {
      streams.error(`rm: cannot remove '${name}': No such file or directory\n`);
      status = 1;
    }
  }
  return status;
};

/** `cp`, `mv` and others: from all arguments but the last to the last. */
const transfer =
  (name: 'cp' | 'mv' | 'ln' | 'install'): Tool =>
  ({ state, streams }, args) => {
    const { flags, rest, values } = flagsOf(args, name === 'install' ? 'mog' : 't');
    const { disk } = state.host;
    if (name === 'install' && flags.has('d')) {
      for (const each of rest) disk.makeDirectory(pathIn(state, each));
      return 0;
    }
    const target = values.get('t') ?? rest.at(-1);
    const sources = values.has('t') ? rest : rest.slice(0, -1);
    if (target === undefined || sources.length === 0) {
      streams.error(`${name}: missing file operand\n`);
      return 1;
    }
    let status = 0;
    for (const source of sources) {
      const from = normalPath(pathIn(state, source));
      const isInto = target.endsWith('/') || disk.isDirectory(pathIn(state, target));
      const to = normalPath(isInto ? `${pathIn(state, target)}/${baseName(source)}` : pathIn(state, target));
      const copied: [string, string][] = [];
      if (disk.read(from) !== undefined) copied.push([from, to]);
      for (const path of disk.list(`${from}/`)) copied.push([path, to + path.slice(from.length)]);
      if (copied.length === 0 && !disk.isDirectory(from)) {
        // A link may refer to a file that is not simulated.
        if (name === 'ln') continue;
        streams.error(`${name}: cannot stat '${source}': No such file or directory\n`);
        status = 1;
        continue;
      }
      for (const [old, fresh] of copied) disk.write(fresh, disk.read(old) ?? '', disk.mode(old));
      if (name === 'install' && values.has('m')) disk.changeMode(to, Number.parseInt(must(values.get('m'), 'get'), 8));
      if (name === 'mv') disk.removeTree(from);
    }
    return status;
  };

const changeMode: Tool = ({ state, streams }, args) => {
  const words = args.filter((arg) => !/^-[RvfcR]+$/.test(arg) && !arg.startsWith('--'));
  const [mode = '', ...paths] = words;
  let status = 0;
  for (const name of paths) {
    const path = pathIn(state, name);
    const current = state.host.disk.mode(path);
    if (!isThere(state, path)) {
      streams.error(`chmod: cannot access '${name}': No such file or directory\n`);
      status = 1;
    } else if (/^[0-7]+$/.test(mode)) state.host.disk.changeMode(path, Number.parseInt(mode, 8));
    else if (/\+[rwX]*x/.test(mode)) state.host.disk.changeMode(path, (current ?? 0o644) | 0o111);
    else if (/-[rwX]*x/.test(mode)) state.host.disk.changeMode(path, (current ?? 0o644) & ~0o111);
  }
  return status;
};

const list: Tool = ({ state, streams }, args) => {
  const { rest } = flagsOf(args);
  let status = 0;
  for (const name of rest.length === 0 ? ['.'] : rest) {
    const path = normalPath(pathIn(state, name));
    if (state.host.disk.read(path) !== undefined) {
      streams.out(`${name}\n`);
      continue;
    }
    if (!state.host.disk.isDirectory(path)) {
      streams.error(`ls: cannot access '${name}': No such file or directory\n`);
      status = 2;
      continue;
    }
    const prefix = path === '/' ? '/' : `${path}/`;
    const names = new Set(state.host.disk.list(prefix).map((file) => file.slice(prefix.length).split('/')[0] ?? ''));
    for (const each of [...names].sort()) streams.out(`${each}\n`);
  }
  return status;
};

/** File commands. */
export const fileTools: Readonly<Record<string, Tool>> = {
  mkdir: makeDirectory,
  rm: remove,
  unlink: remove,
  rmdir: ({ state }, args) => {
    for (const name of flagsOf(args).rest) {
      const path = pathIn(state, name);
      if (state.host.disk.list(`${normalPath(path)}/`).length > 0) return 1;
      state.host.disk.removeTree(path);
    }
    return 0;
  },
  cp: transfer('cp'),
  mv: transfer('mv'),
  ln: transfer('ln'),
  install: transfer('install'),
  touch: ({ state }, args) => {
    for (const name of flagsOf(args, 'drt').rest) {
      const path = pathIn(state, name);
      if (state.host.disk.read(path) === undefined) state.host.disk.write(path, '');
    }
    return 0;
  },
  chmod: changeMode,
  chown: () => 0,
  chgrp: () => 0,
  chattr: () => 0,
  restorecon: () => 0,
  ls: list,
  stat: ({ state, streams }, args) => {
    const { rest } = flagsOf(args, 'cf');
    const missing = rest.filter((name) => !isThere(state, pathIn(state, name)));
    for (const name of missing) streams.error(`stat: cannot statx '${name}': No such file or directory\n`);
    return missing.length > 0 ? 1 : 0;
  },
  readlink: ({ state, streams }, args) => {
    for (const name of flagsOf(args).rest) streams.out(`${normalPath(pathIn(state, name))}\n`);
    return 0;
  },
  realpath: ({ state, streams }, args) => {
    for (const name of flagsOf(args).rest) streams.out(`${normalPath(pathIn(state, name))}\n`);
    return 0;
  },
  basename: ({ streams }, [path = '', suffix = '']) => {
    const name = baseName(path);
    streams.out(`${suffix !== '' && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name}\n`);
    return 0;
  },
  dirname: ({ streams }, [path = '']) => {
    const cut = trimTrailing(path, '/').lastIndexOf('/');
    streams.out(`${cut < 0 ? '.' : path.slice(0, cut) || '/'}\n`);
    return 0;
  },
  mktemp: ({ state, streams }, args) => {
    const path = `/tmp/tmp.${state.host.random.text(10)}`;
    if (args.includes('-d')) state.host.disk.makeDirectory(path);
    else state.host.disk.write(path, '', 0o600);
    streams.out(`${path}\n`);
    return 0;
  },
  find: ({ state, streams }, args) => {
    const [root = '.', ...tests] = args[0]?.startsWith('-') === false ? args : ['.', ...args];
    let pattern: Glob | undefined;
    let isDeleting = false;
    for (let i = 0; i < tests.length; i++) {
      const word = must(tests[i], 'tests[i]');
      if (word === '-name') pattern = new Glob(tests[++i] ?? '');
      else if (word === '-delete') isDeleting = true;
      else if (word === '-type' || word === '-maxdepth') i++;
      else {
        streams.error(`find: unknown predicate \`${word}'\n`);
        return 1;
      }
    }
    const base = normalPath(pathIn(state, root));
    for (const path of state.host.disk.list(base === '/' ? '/' : `${base}/`)) {
      if (pattern && !pattern.test(baseName(path))) continue;
      if (isDeleting) state.host.disk.remove(path);
      else streams.out(`${path}\n`);
    }
    return 0;
  },
};
