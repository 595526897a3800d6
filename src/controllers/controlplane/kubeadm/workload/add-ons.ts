import { type KubeadmControlPlane, skipCoreDnsAnnotation, skipKubeProxyAnnotation } from '../../../../api/index.ts';
import { type ControlPlaneScope, clusterKeyOf } from '../../machine-plane/scope.ts';
import { updateCoreDns } from './core-dns.ts';
import { updateKubeProxy } from './kube-proxy.ts';

/** Interval of drift checks: other clients may change the add-ons. */
const recheckMs = 10 * 60_000;

/** Upgrades add-ons after all machines: they run on every Node and must not be newer than the API server. */
export async function updateAddOns(scope: ControlPlaneScope<KubeadmControlPlane>): Promise<void> {
  const { context, controlPlane, dependencies, memory } = scope;
  if (!scope.inspection) return;
  const { annotations = {} } = controlPlane.metadata;
  const configuration = controlPlane.spec.kubeadmConfigSpec?.clusterConfiguration;
  const desired = JSON.stringify([
    controlPlane.spec.version,
    configuration?.imageRepository,
    configuration?.dns,
    annotations[skipCoreDnsAnnotation],
    annotations[skipKubeProxyAnnotation],
  ]);
  const now = context.clock.now();
  if (memory.addOns?.desired === desired && now - memory.addOns.at < recheckMs) return;
  const client = dependencies.workloads.client(clusterKeyOf(scope));
  await updateKubeProxy(client, controlPlane, context.signal);
  await updateCoreDns(client, controlPlane, context.signal);
  memory.addOns = { desired, at: now };
}
