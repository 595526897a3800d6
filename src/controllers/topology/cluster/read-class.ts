import { type ClusterClass, ClusterClasses, type TemplateReference } from '../../../api/index.ts';
import { errorMessage, isNotFound, parseApiVersion, type UnstructuredObject } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { ContractError, type Follower, isTrue } from '../../shared/index.ts';
import { classRefusal, mayUseClass } from '../class-offer.ts';
import { classKeyOf, type TopologyCluster } from '../common.ts';
import type { Blueprint, WorkerBlueprint } from '../desired/types.ts';

/** Why the topology cannot be reconciled yet; a change of that object triggers a reconcile, unless a time is given. */
export class NotYet extends Error {
  readonly reason: 'ClusterClassNotReconciled' | 'ReconcileFailed';
  readonly retryMs: number | undefined;

  constructor(reason: NotYet['reason'], message: string, { retryMs }: { retryMs?: number } = {}) {
    super(message);
    this.name = 'NotYet';
    this.reason = reason;
    this.retryMs = retryMs;
  }
}

/** retry interval, because the installation of a kind causes no event */
const unknownKindRetryMs = 30_000;

/** Returns the class of a Cluster once it may be used and its variables are known. Throws NotYet. */
export async function readClass(context: ReconcileContext, cluster: TopologyCluster): Promise<ClusterClass> {
  const { client, signal } = context;
  const key = classKeyOf(cluster);
  const found =
    context.cache.lister(ClusterClasses).get(key) ??
    (await client.get(ClusterClasses, key, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      return undefined;
    }));
  // security: without permission, the existence of a class is not revealed
  if (!(await mayUseClass(client, cluster, found, signal))) {
    throw new NotYet('ReconcileFailed', classRefusal(cluster));
  }
  if (!found) {
    throw new NotYet(
      'ReconcileFailed',
      `ClusterClass ${key.namespace}/${key.name} does not exist: create it, or correct spec.topology.classRef`,
    );
  }
  if (found.status?.observedGeneration !== found.metadata.generation) {
    throw new NotYet(
      'ClusterClassNotReconciled',
      `ClusterClass ${key.name} has not been reconciled since it was changed: see its conditions, and whether it is paused`,
    );
  }
  if (!isTrue(found, 'VariablesReady')) {
    const message = found.status?.conditions?.find(({ type }) => type === 'VariablesReady')?.message ?? '';
    throw new NotYet('ClusterClassNotReconciled', `variables of ClusterClass ${key.name} are not ready: ${message}`);
  }
  return found;
}

/** Reads the class with all templates that the Cluster needs. Throws NotYet if one is missing. */
export async function readBlueprint(
  context: ReconcileContext,
  follower: Follower,
  cluster: TopologyCluster,
  clusterClass: ClusterClass,
): Promise<Blueprint> {
  const { spec, metadata } = clusterClass;
  const namespace = metadata.namespace ?? '';
  const read = async (reference: TemplateReference, field: string): Promise<UnstructuredObject> => {
    try {
      const template = await readTemplate(context, follower, reference, namespace);
      if (template) return template;
    } catch (error) {
      throw explainedBy(error, `${field} of ClusterClass ${metadata.name}`);
    }
    const { kind, name, apiVersion } = reference;
    throw new NotYet(
      'ReconcileFailed',
      `${field} of ClusterClass ${metadata.name}: ${kind} ${namespace}/${name} (${apiVersion}) does not exist`,
    );
  };
  const { controlPlane, infrastructure } = spec;
  const planeKind = controlPlane.templateRef.kind.replace(/Template$/, '');
  const planeVersion = parseApiVersion(controlPlane.templateRef.apiVersion);
  const contract = await follower
    .kindOf({ apiGroup: planeVersion.group, kind: planeKind }, context.signal)
    .catch((error: unknown) => {
      throw explainedBy(error, `spec.controlPlane.templateRef of ClusterClass ${metadata.name}`);
    });
  const workers = new Map<string, WorkerBlueprint>();
  for (const { class: name } of cluster.spec.topology.workers?.machineDeployments ?? []) {
    const ofClass = spec.workers?.machineDeployments?.find((candidate) => candidate.class === name);
    if (!ofClass || workers.has(name)) continue;
    const field = `spec.workers.machineDeployments[${name}]`;
    workers.set(name, {
      class: ofClass,
      bootstrapTemplate: await read(ofClass.bootstrap.templateRef, `${field}.bootstrap.templateRef`),
      infrastructureTemplate: await read(ofClass.infrastructure.templateRef, `${field}.infrastructure.templateRef`),
    });
  }
  const machines = controlPlane.machineInfrastructure?.templateRef;
  return {
    class: clusterClass,
    infrastructureTemplate: await read(infrastructure.templateRef, 'spec.infrastructure.templateRef'),
    controlPlaneTemplate: await read(controlPlane.templateRef, 'spec.controlPlane.templateRef'),
    controlPlaneContract: contract.contracts?.[planeVersion.version] ?? contract.contract,
    ...(machines && {
      controlPlaneMachineTemplate: await read(machines, 'spec.controlPlane.machineInfrastructure.templateRef'),
    }),
    workers,
  };
}

/** An unusable kind waits for a change of the class; an unreachable API is retried soon. */
function explainedBy(error: unknown, where: string): unknown {
  if (!(error instanceof ContractError)) return error;
  return new NotYet('ReconcileFailed', `${where}: ${errorMessage(error)}`, { retryMs: unknownKindRetryMs });
}

/** Reads a template in the referenced version, for which the patches are written. */
export async function readTemplate(
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
  follower: Follower,
  { apiVersion, kind, name }: TemplateReference,
  namespace: string,
): Promise<UnstructuredObject | undefined> {
  const { group, version } = parseApiVersion(apiVersion);
  // read through the follower in any case, so that a change of the template triggers a reconcile
  const found = await follower.get({ apiGroup: group, kind, name }, namespace, { client, signal });
  if (!found || found.object.apiVersion === apiVersion) return found?.object;
  const { resource } = await follower.kindOf({ apiGroup: group, kind }, signal);
  return await client.get({ ...resource, version }, { namespace, name }, { signal });
}
