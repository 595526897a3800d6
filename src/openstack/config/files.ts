import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { errorMessage, isJsonObject, type JsonObject, type ParsedDocument, parseYaml } from '../../machinery/index.ts';
import type { Environment } from './environment.ts';
import { pythonScalar } from './python-scalar.ts';

/** Places to search for configuration. */
export interface ConfigPlaces {
  readonly env: Environment;
  readonly cwd: string;
  readonly home: string;
  /** parent directory of `etc`; `/` except in tests */
  readonly root?: string;
}

export type ConfigFileKind = 'clouds' | 'secure' | 'clouds-public';

const overrides: Partial<Record<ConfigFileKind, string>> = {
  clouds: 'OS_CLIENT_CONFIG_FILE',
  secure: 'OS_CLIENT_SECURE_FILE',
};

/**
 * Lists the files openstacksdk would try, in order: the one a variable names, then each directory with each extension.
 */
export function candidateFiles(kind: ConfigFileKind, places: ConfigPlaces): string[] {
  const { env, cwd, home } = places;
  const root = places.root ?? '/';
  const directories = [
    cwd,
    join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'openstack'),
    join(env['SNAP_REAL_HOME'] || home, '.config', 'openstack'),
    ...(env['XDG_CONFIG_DIRS'] || join(root, 'etc', 'xdg')).split(':').map((directory) => join(directory, 'openstack')),
    join(root, 'etc', 'openstack'),
  ];
  const files = directories.flatMap((directory) =>
    ['yaml', 'yml', 'json'].map((end) => join(directory, `${kind}.${end}`)),
  );
  const override = overrides[kind];
  const named = override === undefined ? undefined : env[override];
  return [...new Set([...(named ? [resolve(cwd, expandHome(named, home))] : []), ...files])];
}

export function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
}

export interface ConfigFile {
  readonly path: string;
  readonly content: JsonObject;
}

export interface FoundConfig {
  readonly file: ConfigFile | undefined;
  /** one sentence per file that exists but cannot be used */
  readonly skipped: string[];
  readonly warnings: string[];
}

/** Reads the first file that exists and can be parsed, in the order of openstacksdk. */
export async function readFirst(paths: readonly string[]): Promise<FoundConfig> {
  const skipped: string[] = [];
  for (const path of paths) {
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== 'ENOENT' && code !== 'ENOTDIR')
        skipped.push(`${path} cannot be read (${code ?? errorMessage(error)})`);
      continue;
    }
    try {
      const { content, warnings } = parseConfig(text, path);
      return { file: { path, content }, skipped, warnings };
    } catch (error) {
      skipped.push(`${path} is not valid: ${errorMessage(error)}`);
    }
  }
  return { file: undefined, skipped, warnings: [] };
}

/** Parser messages often quote the input, which may contain a password. */
function parseWithoutQuoting(text: string): ParsedDocument {
  try {
    return parseYaml(text, { plainScalar: pythonScalar });
  } catch (error) {
    throw new Error(errorMessage(error).replaceAll(/(["'`]).*\1/gs, '…'));
  }
}

/** Parses one file as PyYAML does. The last of duplicate keys wins and causes a warning. */
export function parseConfig(text: string, path: string): { content: JsonObject; warnings: string[] } {
  const { value, duplicates } = parseWithoutQuoting(text);
  if (value === null) return { content: {}, warnings: [] };
  if (!isJsonObject(value)) throw new Error('the top level must be a mapping');
  const warnings = duplicates.map(
    ({ field, line }) => `${path}: line ${line}: ${field} is given more than once, the last one counts`,
  );
  return { content: value, warnings };
}
