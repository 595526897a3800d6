import {
  type Cluster,
  type ClusterStack,
  type ClusterStackRelease,
  ClusterStackReleases,
  Clusters,
  clusterStackGroup,
  Namespaces,
} from '../api/index.ts';
import type { AdmissionRequest, AdmissionStep } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { checkStackCluster, releaseInUse, stackInUse } from '../controllers/index.ts';
import { asTyped, ignoreNotFound, type JsonValue, statusError } from '../machinery/index.ts';

/** Builds admission steps of cluster stacks that read other objects. */
export function stackAdmission(client: () => Client): AdmissionStep[] {
  return [clusterStep(client), inUseStep(client)];
}

function clusterStep(client: () => Client): AdmissionStep {
  return {
    name: 'ClusterStackClusters',
    concerns: ({ group, plural }) => group === Clusters.group && plural === Clusters.plural,
    operations: ['CREATE', 'UPDATE'],
    appliesTo: ({ subresource }) => subresource === undefined,
    async validate(request) {
      const cluster = typed<Cluster>(request.object);
      const { errors, warnings } = await checkStackCluster(
        cluster,
        request.oldObject && typed<Cluster>(request.oldObject),
        async (namespace) => (await client().list(ClusterStackReleases, { namespace })).items,
      );
      for (const warning of warnings) request.caller.warn(warning);
      if (errors.length > 0) {
        throw statusError.invalid(Clusters.group, Clusters.kind, cluster.metadata.name ?? '', errors);
      }
    },
  };
}

const kept = ['clusterstacks', 'clusterstackreleases'];

function inUseStep(client: () => Client): AdmissionStep {
  return {
    name: 'ClusterStackInUse',
    concerns: ({ group, plural }) => group === clusterStackGroup && kept.includes(plural),
    operations: ['DELETE'],
    async validate(request) {
      const { oldObject } = request;
      if (oldObject === undefined || oldObject.metadata.deletionTimestamp !== undefined) return;
      const { items } = await client().list(Clusters);
      const problem =
        oldObject.kind === 'ClusterStack'
          ? stackInUse(typed<ClusterStack>(oldObject), items)
          : releaseInUse(typed<ClusterStackRelease>(oldObject), items);
      if (problem === undefined || (await isEnding(client(), request))) return;
      throw statusError.badRequest(problem);
    },
  };
}

/**
 * Tells whether the namespace is terminating. It deletes all its objects, and finalizers keep those in use until last.
 */
async function isEnding(client: Client, { target }: AdmissionRequest): Promise<boolean> {
  const { namespace: name } = target;
  if (name === undefined) return false;
  const namespace = await client.get(Namespaces, { name }).catch(ignoreNotFound);
  return namespace?.metadata.deletionTimestamp !== undefined;
}

/** Admission sees objects in the storage version, which the types describe. */
const typed = <T extends object>(object: object | undefined): T => asTyped<T>(object as JsonValue);
