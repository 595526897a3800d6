import {
  type Cluster,
  Clusters,
  clusterNameLabel,
  type LatticeCluster,
  type LatticeSettings,
  latticeDefaults,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import type { LatticeFacts } from '../facts.ts';
import { controlPlaneName, credentialsName, environmentLabel, regionLabel } from '../names.ts';
import { addonObjects } from './addons.ts';
import { infrastructureCluster } from './infrastructure.ts';
import { kubeadmControlPlane } from './kubeadm.ts';
import { machineTemplate } from './machine-template.ts';
import { type ExpandedObject, type Maker, makerFor } from './naming.ts';
import { poolObjects } from './pools.ts';
import { referenceTo } from './reference.ts';
import { rke2ControlPlane } from './rke2.ts';

/** Expands a LatticeCluster to its objects, in apply order. Pure function. */
export function expand(owner: LatticeCluster, settings: LatticeSettings, facts: LatticeFacts): ExpandedObject[] {
  const maker = makerFor(owner);
  const { cloud } = facts;
  const infrastructure = infrastructureCluster(maker, settings, cloud);
  const servers = machineTemplate(maker, settings, settings.controlPlane, { base: controlPlaneName(maker.cluster) });
  const plane =
    settings.bootstrap === 'rke2'
      ? rke2ControlPlane(maker, settings, servers)
      : kubeadmControlPlane(maker, settings, cloud, servers);
  return [
    credentials(maker, facts),
    ...addonObjects(maker, facts),
    infrastructure,
    servers,
    plane,
    cluster(maker, owner, { infrastructure, plane }),
    ...settings.pools.flatMap((pool) => poolObjects(maker, settings, cloud, pool)),
  ];
}

function credentials(maker: Maker, facts: LatticeFacts): ExpandedObject {
  return maker.make<Secret>(Secrets, credentialsName(maker.cluster), {
    // moved with the cluster to another management cluster
    metadata: { labels: { [clusterNameLabel]: maker.cluster, 'clusterctl.cluster.x-k8s.io/move': 'true' } },
    type: 'Opaque',
    data: { ...facts.credentials },
  });
}

function cluster(
  maker: Maker,
  { spec: { environment, region } }: LatticeCluster,
  { infrastructure, plane }: { infrastructure: ExpandedObject; plane: ExpandedObject },
): ExpandedObject {
  const spec: Cluster['spec'] = {
    clusterNetwork: {
      pods: { cidrBlocks: [latticeDefaults.podCidr] },
      services: { cidrBlocks: [latticeDefaults.serviceCidr] },
    },
    infrastructureRef: referenceTo(infrastructure),
    controlPlaneRef: referenceTo(plane),
  };
  const labels = {
    [clusterNameLabel]: maker.cluster,
    ...(environment && { [environmentLabel]: environment }),
    ...(region && { [regionLabel]: region }),
  };
  return maker.make(Clusters, maker.cluster, { metadata: { labels }, spec });
}
