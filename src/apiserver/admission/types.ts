import type { ResourceDefinition, UnstructuredObject } from '../../machinery/index.ts';
import type { Caller, NamedTarget } from '../service/types.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** One write on its way to the store, as admission sees it: objects are in the storage version. */
export interface AdmissionRequest {
  operation: AdmissionOperation;
  target: NamedTarget;
  subresource: string | undefined;
  caller: Caller;
  /** mutating steps may change it; undefined for DELETE */
  object: UnstructuredObject | undefined;
  /** shared; undefined for CREATE */
  oldObject: UnstructuredObject | undefined;
  dryRun: boolean;
  /** the settings of the write, as its caller gave them */
  options: object;
  /** what `object` is, where a subresource takes another kind than the resource */
  bodyKind?: { group: string; version: string; kind: string };
}

/**
 * A step of the admission chain. `mutate` runs before validation and may change `request.object` in place; `validate` runs
 * after. Both refuse by throwing an ApiStatusError. `concerns` and `operations` are asked once per kind, so that a step
 * costs nothing where it has nothing to do; what only a request can tell is left to `appliesTo`.
 */
export interface AdmissionStep {
  name: string;
  /** the kinds it looks at; absent: all */
  concerns?(definition: ResourceDefinition): boolean;
  /** absent: all */
  operations?: readonly AdmissionOperation[];
  appliesTo?(request: AdmissionRequest): boolean;
  mutate?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}
