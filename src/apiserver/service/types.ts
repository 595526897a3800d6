import type { UnstructuredObject } from '../../machinery/index.ts';
import type { UserInfo } from '../auth/index.ts';
import type { ServedResource } from '../registry/index.ts';

/** Resource of a request, resolved by the registry. */
export interface Target extends ServedResource {
  /** undefined for cluster-scoped kinds and for all namespaces */
  namespace: string | undefined;
}

export interface NamedTarget extends Target {
  name: string;
}

/** Adds a name to a target. The fields are listed because objects made by spread are slow to read. */
export function namedTarget({ resource, version, apiVersion, namespace }: Target, name: string): NamedTarget {
  return { resource, version, apiVersion, namespace, name };
}

/** The user of a request and the channel for warnings. */
export interface Caller {
  user: UserInfo;
  userAgent: string;
  signal: AbortSignal;
  /** becomes a `Warning: 299` header */
  warn(text: string): void;
  /** called between steps of a long request, which awaits the result; absent for in-process callers */
  pause?(): Promise<void> | undefined;
}

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteSettings {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
}

/** A written object in the storage version. */
export interface WrittenObject {
  object: UnstructuredObject;
  /** JSON of `object`, if available */
  json: string | undefined;
  created: boolean;
}

export interface DuplicateLine {
  line: number;
  key: string;
}

/** A parsed request body. */
export interface DecodedBody {
  value: unknown;
  /** paths of duplicate keys */
  duplicateFields: readonly string[];
  /** duplicate keys of YAML, which are reported by line */
  duplicateLines?: readonly DuplicateLine[];
  /** JSON text, for errors that are reported in document order */
  json?: string;
  /** prefix of problems in the text, such as `json patch ` */
  problemPrefix?: string;
  /** unknown fields of the text itself */
  unknownFields?: readonly string[];
}
