import { asJson, CapstanError, formatJson, formatYaml, type JsonObject, sleep } from '../../machinery/index.ts';
import { type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { type Applied, applyDocuments } from '../manifests/apply-documents.ts';
import { type ManifestDocument, readManifests } from '../manifests/read-manifests.ts';

export interface ApplyCommandOptions extends ConnectionOptions {
  filename?: string[];
  recursive?: boolean;
  dryRun?: 'none' | 'server';
  forceConflicts?: boolean;
  output?: 'name' | 'json' | 'yaml';
}

const definitionTimeoutMs = 60_000;

export async function apply(options: ApplyCommandOptions, context: CommandContext): Promise<number> {
  const { signal, clock } = context;
  const { documents, problems } = await readManifests(filenames(options), {
    recursive: options.recursive ?? false,
    readInput: context.readInput,
  });
  const dryRun = options.dryRun === 'server';
  for (const { origin, message } of problems) context.stderr(`capstan: ${origin}: ${message}\n`);
  if (documents.length === 0 && problems.length === 0) {
    throw new CapstanError('CAP_USAGE', '-f: the files contain nothing to apply');
  }
  return await withConnection(options, context, async (connection) => {
    const applied: Applied[] = [];
    const failures = await applyDocuments(documents, connection, {
      dryRun,
      forceConflicts: options.forceConflicts ?? false,
      definitionTimeoutMs,
      signal,
      now: () => clock.now(),
      sleep: (ms) => sleep(clock, ms, signal),
      onApplied: (one) => {
        applied.push(one);
        if (options.output === undefined) context.stdout(`${one.label} ${one.change}${dryRun ? ' (dry run)' : ''}\n`);
        else if (options.output === 'name') context.stdout(`${one.label}\n`);
      },
    });
    if (options.output === 'json') context.stdout(formatJson(listOf(applied)));
    else if (options.output === 'yaml') context.stdout(formatYaml(listOf(applied)));
    for (const { document, message, hint } of failures) {
      context.stderr(
        `capstan: ${describeDocument(document)}: ${message}\n${hint === undefined ? '' : `  hint: ${hint}\n`}`,
      );
    }
    return failures.length + problems.length === 0 ? 0 : 1;
  });
}

/** Returns the files of `-f`; none is a usage error. */
export function filenames(options: { filename?: string[] }): string[] {
  if (options.filename === undefined || options.filename.length === 0) {
    throw new CapstanError('CAP_USAGE', '-f: name at least one file', {
      hint: 'name a file, a directory, or - for standard input',
    });
  }
  return options.filename;
}

export function describeDocument({ object, origin }: ManifestDocument): string {
  return `${origin}: ${object.kind}/${String(object.metadata['name'])}`;
}

/** Like kubectl, prints one object as itself and several as a List. */
function listOf(applied: readonly Applied[]): JsonObject {
  const items = applied.map(({ object }) => object);
  if (items.length === 1) return items[0] as JsonObject;
  return { apiVersion: 'v1', kind: 'List', metadata: {}, items: asJson(items) };
}
