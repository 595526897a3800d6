import { gatewayGroup, k0smotronGroup, kamajiGroup, ownDefinitions, runtimeGroup } from '../../../api/index.ts';
import type { KubeObject, Resource, ResourceDefinition } from '../../../machinery/index.ts';

/** API groups whose objects belong to the management cluster itself. */
const staying: ReadonlySet<string> = new Set([gatewayGroup, runtimeGroup, 'clusterctl.cluster.x-k8s.io']);

const hostedKinds: ReadonlySet<string> = new Set([
  'K0smotronControlPlane',
  'KamajiControlPlane',
  'HostedControlPlane',
  'TenantControlPlane',
]);

/** Tells whether a control plane runs in Pods; its data is in volumes of the management cluster. */
export function isHostedPlane({ group, kind }: Pick<Resource, 'group' | 'kind'>): boolean {
  return hostedKinds.has(kind) || (group === k0smotronGroup && kind === 'Cluster');
}

/** All namespaced kinds that are moved with clusters. */
export const movableKinds: readonly Resource<KubeObject>[] = ownDefinitions
  .filter(({ group, namespaced }) => namespaced && !staying.has(group) && !staysWithHost(group))
  .map(resourceOf);

function staysWithHost(group: string): boolean {
  return group === kamajiGroup || group === k0smotronGroup;
}

/** Kinds that make a move refuse; never moved. */
export const hostedPlaneKinds: readonly Resource<KubeObject>[] = ownDefinitions.filter(isHostedPlane).map(resourceOf);

function resourceOf({ group, storageVersion, kind, plural, namespaced }: ResourceDefinition): Resource<KubeObject> {
  return { group, version: storageVersion, kind, plural, namespaced };
}
