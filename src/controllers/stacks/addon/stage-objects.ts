import type { AppliedResource } from '../../../api/index.ts';
import type { UnstructuredObject } from '../../../machinery/index.ts';
import { type AppliedObject, projectionOf } from '../../shared/index.ts';
import { instanceLabel, ownedInstance } from '../names.ts';
import { applyObject, type ObjectTarget, type PlacedObject, resourceEntry } from '../objects/applied.ts';
import { addonNamespace } from './render-stage.ts';

export const isOurs = ({ metadata }: UnstructuredObject): boolean => metadata.labels?.[instanceLabel] === ownedInstance;

/** Sets the namespace of a chart object; default the release namespace. */
export async function placed({ kinds, signal }: ObjectTarget, object: UnstructuredObject): Promise<PlacedObject> {
  const resource = await kinds.resourceOf(object, signal);
  const { namespace, ...metadata } = object.metadata;
  if (!resource.namespaced) return { resource, desired: { ...object, metadata } };
  return { resource, desired: { ...object, metadata: { ...metadata, namespace: namespace ?? addonNamespace } } };
}

/** Result of applying the objects of a stage. */
export interface StageResult {
  /** one entry per object, with the error of those that could not be applied */
  readonly entries: readonly AppliedResource[];
  /** the others, for the drift watch */
  readonly applied: readonly AppliedObject[];
}

/** Applies every object that is not as desired. */
export async function applyStage(target: ObjectTarget, objects: readonly UnstructuredObject[]): Promise<StageResult> {
  const entries: AppliedResource[] = [];
  const applied: AppliedObject[] = [];
  for (const object of objects) {
    let named = object;
    try {
      const one = await placed(target, object);
      named = one.desired;
      const live = await applyObject(target, one);
      entries.push(resourceEntry(named));
      const resourceVersion = live.metadata.resourceVersion ?? '';
      applied.push({ ...one, expected: projectionOf(live, named), resourceVersion });
    } catch (error) {
      if (target.signal.aborted) throw error;
      entries.push(resourceEntry(named, error));
    }
  }
  return { entries, applied };
}
