import {
  autoscalerMaxSizeAnnotation,
  autoscalerMinSizeAnnotation,
  clusterNameLabel,
  deploymentNameLabel,
  type LatticePoolSettings,
  type LatticeSettings,
  latticePoolName,
  type MachineDeployment,
  MachineDeployments,
} from '../../../api/index.ts';
import type { CloudFacts } from '../facts.ts';
import { kubeadmWorkers } from './kubeadm.ts';
import { machineTemplate } from './machine-template.ts';
import type { ExpandedObject, Maker } from './naming.ts';
import { machineLabels } from './node-labels.ts';
import { referenceTo } from './reference.ts';
import { rke2Version, rke2Workers } from './rke2.ts';

/** Builds the three objects of a worker pool. */
export function poolObjects(
  maker: Maker,
  settings: LatticeSettings,
  cloud: CloudFacts,
  pool: LatticePoolSettings,
): ExpandedObject[] {
  const base = latticePoolName(maker.cluster, pool.id);
  const servers = machineTemplate(maker, settings, pool, { base, pool: pool.id });
  const config =
    settings.bootstrap === 'rke2'
      ? rke2Workers(maker, settings, { base, pool })
      : kubeadmWorkers(maker, settings, cloud, { base, pool });
  return [servers, config, deployment(maker, settings, pool, { base, servers, config })];
}

function deployment(
  maker: Maker,
  settings: LatticeSettings,
  pool: LatticePoolSettings,
  { base, servers, config }: { base: string; servers: ExpandedObject; config: ExpandedObject },
): ExpandedObject {
  const { bounds, zone } = pool;
  const selected = { [deploymentNameLabel]: base };
  const spec: MachineDeployment['spec'] = {
    clusterName: maker.cluster,
    // with bounds, the autoscaler owns replicas: the API server defaults it to the minimum and keeps it within the
    // bounds
    ...(bounds === undefined && { replicas: pool.pool.replicas }),
    selector: { matchLabels: selected },
    template: {
      metadata: { labels: { ...machineLabels(pool), ...selected, [clusterNameLabel]: maker.cluster } },
      spec: {
        clusterName: maker.cluster,
        version: settings.bootstrap === 'rke2' ? rke2Version(settings.version) : settings.version,
        bootstrap: { configRef: referenceTo(config) },
        infrastructureRef: referenceTo(servers),
        ...(zone !== undefined && { failureDomain: zone }),
      },
    },
  };
  const annotations = bounds && {
    [autoscalerMinSizeAnnotation]: String(bounds.min),
    [autoscalerMaxSizeAnnotation]: String(bounds.max),
  };
  return maker.make(MachineDeployments, base, { spec, ...(annotations && { metadata: { annotations } }) }, pool.id);
}
