import { type LatticeCluster, LatticeClusters, MachineDeployments } from '../../api/index.ts';
import { createOverlay, type PreviewOptions, previewLattice } from '../../controllers/index.ts';
import { asTyped, clone, errorMessage, type Resource, type UnstructuredObject } from '../../machinery/index.ts';
import { describeObject } from './cluster-rehearsal.ts';
import type { PlanProblem } from './types.ts';

export interface LatticeExpansion {
  /** objects of LatticeClusters, as a server would store them */
  readonly objects: readonly UnstructuredObject[];
  /** objects that are no longer needed */
  readonly deleted: readonly UnstructuredObject[];
  readonly problems: readonly PlanProblem[];
  readonly notes: readonly string[];
}

interface ExpansionOptions extends PreviewOptions {
  /** returns the object with server defaults */
  asStored(resource: Resource<UnstructuredObject>, object: UnstructuredObject): Promise<UnstructuredObject>;
}

/** Computes the objects of edited LatticeClusters with the functions of their controller. */
export async function expandLattices(
  edited: readonly UnstructuredObject[],
  { client, asStored, ...options }: ExpansionOptions,
): Promise<LatticeExpansion> {
  const objects: UnstructuredObject[] = [];
  const deleted: UnstructuredObject[] = [];
  const problems: PlanProblem[] = [];
  const notes: string[] = [];
  const overlay = createOverlay(client, edited);
  for (const lattice of edited.filter(({ kind }) => kind === LatticeClusters.kind)) {
    const object = describeObject(lattice);
    const say = (severity: PlanProblem['severity'], message: string): void =>
      void problems.push({ object, message, severity });
    try {
      const seen = await previewLattice(withUid(lattice), { ...options, client: overlay.client });
      for (const text of seen.missing) say('error', text);
      for (const text of seen.small) say('warning', text);
      if (seen.resting !== undefined) notes.push(`${object}: ${seen.resting}`);
      for (const one of seen.objects) objects.push(await asStored(one.resource, one.object));
      for (const metadata of seen.removed) deleted.push({ apiVersion: '', kind: MachineDeployments.kind, metadata });
    } catch (error) {
      options.signal.throwIfAborted();
      say('error', errorMessage(error));
    }
  }
  return { objects, deleted, problems, notes };
}

/** A new LatticeCluster has no uid; the owner of its objects does not matter for a plan. */
function withUid(lattice: UnstructuredObject): LatticeCluster {
  const draft = clone(lattice);
  draft.metadata.uid ??= '00000000-0000-0000-0000-000000000000';
  return asTyped<LatticeCluster>(draft);
}
