import { gunzipSync } from 'node:zlib';
import { errorMessage } from '../../machinery/index.ts';
import { failed, type Result, succeeded, TemplateError } from '../errors.ts';
import { cleanPath } from '../functions/paths.ts';
import { type ChartLimits, defaultChartLimits } from './limits.ts';
import { readTar } from './tar.ts';

/**
 * Reads the files of a gzipped tar archive with their paths. Refuses links, devices, absolute paths, paths that leave
 * the archive, and contents above the limits.
 */
export function readArchive(
  bytes: Uint8Array,
  limits: Partial<ChartLimits> = {},
): Result<ReadonlyMap<string, Uint8Array>> {
  const all = { ...defaultChartLimits, ...limits };
  try {
    return succeeded(readChecked(bytes, all));
  } catch (error) {
    if (error instanceof TemplateError) return failed(error);
    throw error;
  }
}

function readChecked(bytes: Uint8Array, limits: ChartLimits): ReadonlyMap<string, Uint8Array> {
  if (bytes.length > limits.archiveBytes) {
    throw new TemplateError(`archive is larger than ${limits.archiveBytes} bytes`, { isLimit: true });
  }
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) throw new TemplateError('not a gzipped archive: gzip: invalid header');
  const files = new Map<string, Uint8Array>();
  for (const { path, content } of readTar(unzip(bytes, limits))) {
    const name = checkedPath(path);
    if (content.length > limits.fileBytes) {
      throw new TemplateError(`file ${JSON.stringify(name)} is larger than ${limits.fileBytes} bytes`, {
        isLimit: true,
      });
    }
    files.set(name, content);
    if (files.size > limits.files) {
      throw new TemplateError(`archive has more than ${limits.files} files`, { isLimit: true });
    }
  }
  if (files.size === 0) throw new TemplateError('no files in chart archive');
  return files;
}

function unzip(bytes: Uint8Array, { unpackedBytes }: ChartLimits): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: unpackedBytes });
  } catch (error) {
    if (error instanceof RangeError) {
      throw new TemplateError(`archive unpacks to more than ${unpackedBytes} bytes`, { isLimit: true });
    }
    throw new TemplateError(`gzip: ${errorMessage(error)}`);
  }
}

/** Normalizes a path. Archives created on Windows have backslashes. */
function checkedPath(path: string): string {
  const slashed = path.includes('\\') ? path.replaceAll('\\', '/') : path;
  if (slashed.includes('\0')) throw new TemplateError('archive has a file with NUL in its name');
  if (slashed.startsWith('/')) throw new TemplateError(`archive has an absolute path: ${JSON.stringify(path)}`);
  if (/^[a-zA-Z]:\//.test(slashed)) throw new TemplateError(`archive has an illegal path: ${JSON.stringify(path)}`);
  if (slashed.split('/').includes('..')) {
    throw new TemplateError(`archive references a parent directory: ${JSON.stringify(path)}`);
  }
  const clean = cleanPath(slashed);
  if (clean === '.') throw new TemplateError(`archive has a file without a name: ${JSON.stringify(path)}`);
  return clean;
}

/** Strips the top-level directory of a packed chart. */
export function chartFiles(files: ReadonlyMap<string, Uint8Array>): Result<ReadonlyMap<string, Uint8Array>> {
  const stripped = new Map<string, Uint8Array>();
  for (const [path, content] of files) {
    const slash = path.indexOf('/');
    if (slash < 0) {
      if (path === 'Chart.yaml') return failed(new TemplateError('chart yaml not in base directory'));
      return failed(
        new TemplateError(`chart illegally contains content outside the base directory: ${JSON.stringify(path)}`),
      );
    }
    stripped.set(path.slice(slash + 1), content);
  }
  return succeeded(stripped);
}
