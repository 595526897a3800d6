import type { KubeObject, Resource } from '../../machinery/index.ts';
import { done, type ReconcileContext, type Result } from '../../runtime/index.ts';
import {
  type Conditioned,
  type ExternalObjects,
  isDeleting,
  pausedVerdict,
  setVerdict,
  writeObject,
} from '../shared/index.ts';
import type { PlaneDependencies } from './plane-driver/index.ts';

// Reconcile frame shared by the hosted control plane kinds of all providers.

export const defaultConcurrency = 10;

export interface ProviderDependencies extends PlaneDependencies {
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
}

/** Result of reconciling or deleting a plane. */
export interface Outcome {
  readonly result: Result;
  /** thrown after the draft is written */
  readonly error?: unknown;
}

export interface PlaneReconcile<T extends KubeObject & Conditioned> {
  readonly original: T;
  /** private copy that the steps change; written here */
  readonly draft: T;
  /** reasons why the reconcile is paused */
  readonly pauses: readonly string[];
  /** whether the status has observedGeneration */
  readonly reportsGeneration: boolean;
  reconcileNormal(): Promise<Outcome>;
  reconcileDelete(): Promise<Outcome>;
}

/** Reconciles or deletes a plane unless it is paused, and writes the draft once. */
export async function reconcilePlane<T extends KubeObject & Conditioned>(
  context: ReconcileContext,
  resource: Resource<T>,
  pass: PlaneReconcile<T>,
): Promise<Result> {
  const { original, draft, pauses } = pass;
  const isPaused = pauses.length > 0;
  setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
  const { result, error }: Outcome = isPaused
    ? { result: done() }
    : await (isDeleting(original) ? pass.reconcileDelete() : pass.reconcileNormal());
  await writeObject(context, resource, original, draft, { observed: pass.reportsGeneration && !isPaused });
  if (error !== undefined) throw error;
  return result;
}
