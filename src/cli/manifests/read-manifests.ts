import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CapstanError,
  errorMessage,
  isJsonObject,
  type JsonObject,
  parseYamlDocuments,
} from '../../machinery/index.ts';

export interface ManifestDocument {
  object: ManifestObject;
  /** position for messages: `cluster.yaml:12` */
  origin: string;
}

/** Fields of every manifest. */
export interface ManifestObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: JsonObject;
}

/** A document that is no object. */
export interface ManifestProblem {
  origin: string;
  message: string;
}

export interface Manifests {
  documents: ManifestDocument[];
  problems: ManifestProblem[];
}

const extensions = /\.(?:ya?ml|json)$/;

/** Reads files, directories (with `recursive` also subdirectories) and `-` for standard input, in the given order. */
export async function readManifests(
  names: readonly string[],
  options: { recursive: boolean; readInput(): Promise<string> },
): Promise<Manifests> {
  const manifests: Manifests = { documents: [], problems: [] };
  for (const name of names) {
    if (name === '-') {
      addDocuments(await options.readInput(), 'standard input', manifests);
      continue;
    }
    for (const file of await filesOf(name, options.recursive)) {
      addDocuments(await readFile(file, 'utf8'), file, manifests);
    }
  }
  return manifests;
}

async function filesOf(name: string, recursive: boolean): Promise<string[]> {
  let directory: boolean;
  try {
    directory = (await stat(name)).isDirectory();
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `-f: ${name} cannot be read: ${errorMessage(cause)}`, {
      hint: 'name a file, a directory, or - for standard input',
      cause,
    });
  }
  if (!directory) return [name];
  const entries = (await readdir(name, { withFileTypes: true, recursive })).filter(
    (entry) => entry.isFile() && extensions.test(entry.name),
  );
  const files = entries.map((entry) => join(entry.parentPath ?? name, entry.name)).sort();
  if (files.length === 0) {
    throw new CapstanError('CAP_USAGE', `-f: ${name} contains no file that ends in .yaml, .yml or .json`, {
      hint: recursive ? 'check the directory' : '-R also looks into the directories below',
    });
  }
  return files;
}

/** Splits a text into documents. Invalid ones are recorded as problems, and the others are kept. */
export function addDocuments(text: string, source: string, manifests: Manifests): void {
  let documents: ReturnType<typeof parseYamlDocuments>;
  try {
    documents = parseYamlDocuments(text);
  } catch (error) {
    manifests.problems.push({ origin: source, message: errorMessage(error) });
    return;
  }
  for (const { value, line, duplicateFields } of documents) {
    const origin = `${source}:${line}`;
    if (duplicateFields.length > 0) {
      manifests.problems.push({ origin, message: `${duplicateFields.join(', ')} is given more than once` });
    } else {
      addValue(value, origin, manifests);
    }
  }
}

function addValue(value: unknown, origin: string, manifests: Manifests): void {
  const problem = (message: string): void => void manifests.problems.push({ origin, message });
  if (!isJsonObject(value)) return problem('this is not an object');
  const { apiVersion, kind, metadata } = value;
  if (typeof kind !== 'string' || kind === '') return problem('kind is missing');
  if (typeof apiVersion !== 'string' || apiVersion === '') return problem(`${kind}: apiVersion is missing`);
  if (kind.endsWith('List') && Array.isArray(value['items'])) {
    for (const item of value['items']) addValue(item, origin, manifests);
    return;
  }
  if (!isJsonObject(metadata)) return problem(`${kind}: metadata is missing`);
  const { name } = metadata;
  if (typeof name !== 'string' || name === '') {
    const generated = metadata['generateName'] !== undefined;
    return problem(
      generated
        ? `${kind}: metadata.generateName cannot be applied, every apply would make another object`
        : `${kind}: metadata.name is missing`,
    );
  }
  manifests.documents.push({ object: value as ManifestObject, origin });
}
