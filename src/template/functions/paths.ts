import { trimTrailing } from '../../machinery/index.ts';
import { define, type Library, text } from './function.ts';

/** Returns the shortest equivalent path. */
export function cleanPath(path: string): string {
  if (path === '') return '.';
  const isRooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isRooted) parts.push('..');
  }
  return `${isRooted ? '/' : ''}${parts.join('/')}` || '.';
}

function base(path: string): string {
  if (path === '') return '.';
  const trimmed = trimTrailing(path, '/');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function extension(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

const functions: Library = {
  base: define('string', ([path]) => base(text(path))),
  dir: define('string', ([path]) => cleanPath(text(path).slice(0, text(path).lastIndexOf('/') + 1))),
  clean: define('string', ([path]) => cleanPath(text(path))),
  ext: define('string', ([path]) => extension(text(path))),
  isAbs: define('string', ([path]) => text(path).startsWith('/')),
};

/** Sprig's path functions. The `os` variants follow Linux. */
export const pathFunctions: Library = {
  ...functions,
  ...Object.fromEntries(
    Object.entries(functions).map(([name, call]) => [`os${name.charAt(0).toUpperCase()}${name.slice(1)}`, call]),
  ),
};
