import type { ResourceDefinition, UnstructuredObject } from '../../machinery/index.ts';
import type { Caller, NamedTarget } from '../service/types.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A write on its way to the store; objects are in the storage version. */
export interface AdmissionRequest {
  operation: AdmissionOperation;
  target: NamedTarget;
  subresource: string | undefined;
  caller: Caller;
  /** mutable for mutating steps; undefined for DELETE */
  object: UnstructuredObject | undefined;
  /** shared, so never modify it; undefined for CREATE */
  oldObject: UnstructuredObject | undefined;
  dryRun: boolean;
  /** request options of the caller */
  options: object;
  /** kind of `object`, for subresources with a body of another kind */
  bodyKind?: { group: string; version: string; kind: string };
}

/**
 * A step of the admission chain. `mutate` runs before validation and may change `request.object` in place; `validate`
 * runs after it. Both refuse a request by throwing an ApiStatusError. `concerns` and `operations` are evaluated once
 * per kind, so steps cost nothing for other kinds. `appliesTo` is evaluated for each request.
 */
export interface AdmissionStep {
  name: string;
  /** kinds the step applies to; absent: all */
  concerns?(definition: ResourceDefinition): boolean;
  /** absent: all */
  operations?: readonly AdmissionOperation[];
  appliesTo?(request: AdmissionRequest): boolean;
  mutate?(request: AdmissionRequest): void | Promise<void>;
  validate?(request: AdmissionRequest): void | Promise<void>;
}
