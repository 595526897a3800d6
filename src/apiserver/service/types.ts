import type { UnstructuredObject } from '../../machinery/index.ts';
import type { UserInfo } from '../auth/index.ts';
import type { ServedResource } from '../registry/index.ts';

/** What a request is about, resolved against the registry. */
export interface Target extends ServedResource {
  /** undefined for cluster-scoped kinds and for all namespaces */
  namespace: string | undefined;
}

export interface NamedTarget extends Target {
  name: string;
}

/** The object of that name; spelled out because a spread makes objects that are slow to read. */
export function namedTarget({ resource, version, apiVersion, namespace }: Target, name: string): NamedTarget {
  return { resource, version, apiVersion, namespace, name };
}

/** Who asks, and how to talk back while the request runs. */
export interface Caller {
  user: UserInfo;
  userAgent: string;
  signal: AbortSignal;
  /** becomes a `Warning: 299` header */
  warn(text: string): void;
  /** asked between the many steps of a long request: what is returned is waited for; callers in the process have none */
  pause?(): Promise<void> | undefined;
}

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteSettings {
  dryRun: boolean;
  fieldManager: string;
  fieldValidation: FieldValidation;
}

/** An object in the storage version, ready to be viewed in any other. */
export interface WrittenObject {
  object: UnstructuredObject;
  /** the JSON of `object`, when it is at hand */
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
  /** paths of keys that stood twice in the text */
  duplicateFields: readonly string[];
  /** the same of YAML, where they are reported by their lines */
  duplicateLines?: readonly DuplicateLine[];
  /** the text of JSON, for what is reported in the order it stands in */
  json?: string;
  /** what problems of the text itself begin with, such as `json patch ` */
  problemPrefix?: string;
  /** fields of the text itself that mean nothing */
  unknownFields?: readonly string[];
}
