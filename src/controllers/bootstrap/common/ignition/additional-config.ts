import { parseDocument } from 'yaml';
import { asJson, asTyped, isJsonObject, type JsonObject, type JsonValue } from '../../../../machinery/index.ts';
import { BootstrapInputError } from '../machine-content.ts';
import { headFields, listShapes, nestedShapes, programSections, type Shape } from './additional-shapes.ts';
import { base64Url, dataUrl } from './encode.ts';
import type { IgnitionContent, IgnitionFile } from './types.ts';

// Container Linux Configs and Butane configs are Ignition configurations in YAML with snake_case names and inline file
// contents.

export interface AdditionalConfig {
  content: IgnitionContent;
  /** settings that were not understood and left out; strict mode refuses them instead */
  warnings: readonly string[];
}

/** Parses the user's addition to the generated configuration; errors name its field. */
export function readAdditionalConfig(
  text: string,
  { field, strict }: { field: string; strict: boolean },
): AdditionalConfig {
  try {
    const { content, warnings } = readConfig(text, strict);
    return { content, warnings: warnings.map((warning) => `${field}: ${warning}`) };
  } catch (error) {
    if (!(error instanceof BootstrapInputError)) throw error;
    throw new BootstrapInputError(`${field}: ${error.message}`);
  }
}

function readConfig(text: string, strict: boolean): AdditionalConfig {
  const document = parseDocument(text, { version: '1.1', uniqueKeys: true });
  const problem = document.errors[0];
  if (problem) return refuse(problem.message);
  const value: unknown = document.toJS();
  if (value === null || value === undefined) return { content: {}, warnings: [] };
  if (!isJsonObject(value)) return refuse('it is not a map');
  const warnings = unknownFields(value);
  const lists: Record<string, JsonObject[]> = {};
  for (const [name, { section, field, shape }] of Object.entries(listShapes)) {
    const body = value[section];
    const entries = isJsonObject(body) ? body[field] : undefined;
    if (entries === undefined || entries === null) continue;
    lists[name] = readList(entries, shape, `${section}.${field}`, warnings).map((entry) => finish(name, entry));
  }
  if (strict && warnings.length > 0) return refuse(warnings.join('; '));
  const { networkUnits = [], ...content } = lists;
  const files = [...(content['files'] ?? []), ...networkUnits.flatMap(networkFiles)];
  return {
    content: asTyped<IgnitionContent>({ ...content, ...(files.length > 0 && { files }) }),
    warnings,
  };
}

function refuse(problem: string): never {
  throw new BootstrapInputError(problem);
}

function unknownFields(value: JsonObject): string[] {
  const known = new Map<string, Set<string>>();
  for (const { section, field } of Object.values(listShapes)) {
    known.set(section, (known.get(section) ?? new Set()).add(field));
  }
  const warnings: string[] = [];
  for (const [section, body] of Object.entries(value)) {
    if (headFields.includes(section)) continue;
    if (programSections.includes(section)) {
      return refuse(`section ${section} is not supported; write its units and files out`);
    }
    const fields = known.get(section);
    if (!fields) warnings.push(`section ${section} is not known`);
    else if (isJsonObject(body)) {
      for (const field of Object.keys(body)) if (!fields.has(field)) warnings.push(`${section}.${field} is not known`);
    } else if (body !== null) return refuse(`${section} is not a map`);
  }
  return warnings;
}

function readList(value: JsonValue, shape: Shape, path: string, warnings: string[]): JsonObject[] {
  if (!Array.isArray(value)) return refuse(`${path} is not a list`);
  return value.map((entry, i) => readObject(entry, shape, `${path}[${i}]`, warnings));
}

function readObject(value: JsonValue | undefined, shape: Shape, path: string, warnings: string[]): JsonObject {
  if (!isJsonObject(value)) return refuse(`${path} is not a map`);
  const result: JsonObject = {};
  for (const [key, given] of Object.entries(value)) {
    const target = shape[key];
    if (target === undefined) warnings.push(`${path}.${key} is not known`);
    else if (given !== undefined) result[target] = readField(key, given, `${path}.${key}`, warnings);
  }
  return result;
}

function readField(key: string, value: JsonValue, path: string, warnings: string[]): JsonValue {
  // Butane's `append` is a list of contents, that of Container Linux Config a flag
  if (key === 'append' && Array.isArray(value)) {
    return value.map((one, i) => readContents(one, `${path}[${i}]`, warnings));
  }
  if (key === 'contents' && typeof value !== 'string') return readContents(value, path, warnings);
  const shape = nestedShapes[key];
  if (!shape || typeof value !== 'object') return value;
  return Array.isArray(value) ? readList(value, shape, path, warnings) : readObject(value, shape, path, warnings);
}

/** Reads inline or remote contents. `local` is refused: it names a file on the machine where Butane runs. */
function readContents(value: JsonValue, path: string, warnings: string[]): JsonObject {
  const { inline, remote, local, source, compression, verification } = readObject(
    value,
    nestedShapes['contents'] ?? {},
    path,
    warnings,
  );
  if (local !== undefined) return refuse(`${path}.local names a file that does not exist here; use inline`);
  if (inline !== undefined) return { source: inlineUrl(inline) };
  const from = isJsonObject(remote) ? remote : { url: source, compression, verification };
  if (typeof from['url'] !== 'string') return refuse(`${path} has neither inline nor a source`);
  const check = from['verification'];
  return {
    source: from['url'],
    ...(from['compression'] !== undefined && { compression: from['compression'] }),
    ...(isJsonObject(check) && { verification: { hash: hashOf(check) } }),
  };
}

/** The YAML parser returns !!binary values as bytes. */
function inlineUrl(inline: unknown): string {
  return inline instanceof Uint8Array ? base64Url(Buffer.from(inline).toString('base64')) : dataUrl(String(inline));
}

const hashOf = ({ hash }: JsonObject): JsonValue =>
  isJsonObject(hash) ? `${String(hash['function'])}-${String(hash['sum'])}` : (hash ?? '');

/** Converts fields that differ between the two formats to Ignition. */
function finish(name: string, entry: JsonObject): JsonObject {
  if (name === 'disks' && Array.isArray(entry['partitions'])) {
    return { ...entry, partitions: entry['partitions'].map((one) => partitionSizes(one as JsonObject)) };
  }
  if (name === 'filesystems') {
    const { mount, name: _, ...rest } = entry;
    return isJsonObject(mount) ? { ...rest, ...mount } : rest;
  }
  if (name !== 'files' && name !== 'directories' && name !== 'links') return entry;
  const { filesystem, ...rest } = entry;
  if (filesystem !== undefined && filesystem !== 'root') {
    return refuse(`${String(entry['path'])} is on the file system ${String(filesystem)}; only root can be written to`);
  }
  if (rest['append'] === true) {
    const { contents, append: _, ...appended } = rest;
    return { ...appended, ...(contents !== undefined && { append: [contents] }) };
  }
  const { append, ...plain } = rest;
  return Array.isArray(append) ? rest : plain;
}

const sizePattern = /^(\d+)\s*(KiB|MiB|GiB|TiB)$/;
const mebibytes: Readonly<Record<string, number>> = { KiB: 1 / 1024, MiB: 1, GiB: 1024, TiB: 1024 * 1024 };

function partitionSizes({ size, start, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(size !== undefined && { sizeMiB: toMebibytes(size) }),
    ...(start !== undefined && { startMiB: toMebibytes(start) }),
  };
}

function toMebibytes(value: JsonValue): number {
  if (value === 0) return 0;
  const [, amount, unit] = sizePattern.exec(String(value)) ?? [];
  if (amount === undefined) {
    return refuse(`partition size "${String(value)}" is not a number with KiB, MiB, GiB or TiB`);
  }
  return Math.floor(Number(amount) * (mebibytes[unit ?? ''] ?? 1));
}

/** Ignition 3 has no networkd section; networkd units become files. */
function networkFiles({ name, contents, dropins }: JsonObject): JsonObject[] {
  const file = (path: string, text: JsonValue): IgnitionFile => ({
    path: `/etc/systemd/network/${path}`,
    mode: 0o644,
    overwrite: true,
    contents: { source: dataUrl(String(text)) },
  });
  const files = typeof contents === 'string' ? [file(String(name), contents)] : [];
  for (const dropin of Array.isArray(dropins) ? dropins : []) {
    const one = dropin as JsonObject;
    files.push(file(`${String(name)}.d/${String(one['name'])}`, one['contents'] ?? ''));
  }
  return asJson(files);
}
