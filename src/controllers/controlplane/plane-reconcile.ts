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

// What controllers of hosted control planes have in common, whichever provider their kinds are of.

export const defaultConcurrency = 10;

/** What controllers of hosted control planes are given. */
export interface ProviderDependencies extends PlaneDependencies {
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
}

/** What came of keeping or removing a plane. */
export interface Outcome {
  readonly result: Result;
  /** to be thrown after the draft is written */
  readonly error?: unknown;
}

export interface PlaneReconcile<T extends KubeObject & Conditioned> {
  readonly original: T;
  /** private copy: steps change it, this writes it */
  readonly draft: T;
  /** what keeps it from being looked after */
  readonly pauses: readonly string[];
  /** whether the kind has a place for the generation that was seen */
  readonly reportsGeneration: boolean;
  keep(): Promise<Outcome>;
  remove(): Promise<Outcome>;
}

/** One pass over one plane, which is kept or removed unless it is paused; what was found out is written once. */
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
    : await (isDeleting(original) ? pass.remove() : pass.keep());
  await writeObject(context, resource, original, draft, { observed: pass.reportsGeneration && !isPaused });
  if (error !== undefined) throw error;
  return result;
}
