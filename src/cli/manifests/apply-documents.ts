import {
  ApiStatusError,
  CapstanError,
  deepEqual,
  errorMessage,
  isConflict,
  isNotFound,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Connection } from '../connection.ts';
import { objectsAt } from '../describe/fields.ts';
import { creationOrder, isDefinition } from './order.ts';
import type { ManifestDocument } from './read-manifests.ts';
import { type Target, targetOf } from './targets.ts';

export type Change = 'created' | 'configured' | 'unchanged';

export interface Applied {
  label: string;
  change: Change;
  object: UnstructuredObject;
}

export interface ApplyFailure {
  document: ManifestDocument;
  message: string;
  hint?: string;
}

export interface ApplyOptions {
  dryRun: boolean;
  /** take over fields of other managers */
  forceConflicts: boolean;
  /** timeout for definitions in the documents to be served */
  definitionTimeoutMs: number;
  signal: AbortSignal;
  sleep(ms: number): Promise<void>;
  now(): number;
  onApplied(applied: Applied): void;
}

export const fieldManager = 'capstan';
const pollMs = 200;

/**
 * Applies documents in dependency order, independent of their order in the files. Each one succeeds or fails
 * separately.
 */
export async function applyDocuments(
  documents: readonly ManifestDocument[],
  connection: Connection,
  options: ApplyOptions,
): Promise<ApplyFailure[]> {
  const failures: ApplyFailure[] = [];
  const definitions: Target[] = [];
  let definitionsPending = false;
  for (const document of creationOrder(documents)) {
    try {
      if (definitionsPending && !isDefinition(document)) {
        definitionsPending = false;
        await untilServed(definitions, connection, options);
      }
      const target = await targetOf(document, connection, options.signal);
      options.onApplied(await applyOne(target, connection, options));
      if (isDefinition(document) && !options.dryRun) {
        definitions.push(target);
        definitionsPending = true;
      }
    } catch (error) {
      if (options.signal.aborted) throw error;
      failures.push(failureOf(document, error));
    }
  }
  return failures;
}

async function applyOne(
  { resource, key, object, label }: Target,
  { client }: Connection,
  { dryRun, forceConflicts, signal }: ApplyOptions,
): Promise<Applied> {
  const before = await client.get(resource, key, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const after = await client.apply(resource, object, { fieldManager, dryRun, force: forceConflicts, signal });
  const change: Change = before === undefined ? 'created' : isSame(before, after) ? 'unchanged' : 'configured';
  return { label, change, object: after };
}

/** Tells whether the fields that a manifest can contain are unchanged; controllers may have written the status. */
function isSame(before: UnstructuredObject, after: UnstructuredObject): boolean {
  return deepEqual(written(before), written(after));
}

function written({ metadata, status: _status, ...rest }: UnstructuredObject): object {
  const { managedFields: _fields, generation: _generation, resourceVersion: _version, ...shown } = metadata;
  return { ...rest, metadata: shown };
}

/** Waits until the kinds of new definitions are served. */
async function untilServed(
  definitions: readonly Target[],
  connection: Connection,
  options: ApplyOptions,
): Promise<void> {
  const { client, mapper } = connection;
  const deadline = options.now() + options.definitionTimeoutMs;
  for (const { resource, key, label } of definitions) {
    for (;;) {
      const live = await client.get(resource, key, { signal: options.signal });
      const conditions = objectsAt(live, 'status', 'conditions') ?? [];
      if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break;
      if (options.now() >= deadline) {
        throw new CapstanError('CAP_NOT_ESTABLISHED', `${label} is not served yet`, {
          hint: 'its status says why; apply again when that is corrected',
        });
      }
      await options.sleep(pollMs);
    }
  }
  mapper.invalidate();
}

function failureOf(document: ManifestDocument, error: unknown): ApplyFailure {
  if (isConflict(error) && error instanceof ApiStatusError && error.status.details?.causes !== undefined) {
    return { document, message: error.message, hint: 'use --force-conflicts to take over these fields' };
  }
  const hint = error instanceof CapstanError ? error.hint : undefined;
  return { document, message: errorMessage(error), ...(hint !== undefined && { hint }) };
}
