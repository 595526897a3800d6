import {
  ConfigMaps,
  type KubeadmConfig,
  KubeadmConfigs,
  type KubeadmControlPlane,
  KubeadmControlPlanes,
} from '../../../api/index.ts';
import { asJson, ignoreNotFound, type JsonObject } from '../../../machinery/index.ts';
import { cleanupHooks, controlPlaneCertificatePlans } from '../../shared/index.ts';
import { componentPods, marksConditions } from '../machine-plane/names.ts';
import type { PlaneProvider } from '../machine-plane/provider.ts';
import { configsToCompare, desiredConfigSpec, isConfigUpToDate } from './kubeadm-config.ts';
import { marksVerdict } from './node-marks.ts';
import { updateAddOns } from './workload/add-ons.ts';
import { prepareUpgrade } from './workload/prepare-upgrade.ts';

const defaultPort = 6443;
const defaultNaming = '{{ .kubeadmControlPlane.name }}-{{ .random }}';

export const kubeadmProvider: PlaneProvider<KubeadmControlPlane, KubeadmConfig> = {
  name: 'kubeadm-control-plane',
  resource: KubeadmControlPlanes,
  configs: KubeadmConfigs,
  finalizer: 'kubeadm.controlplane.cluster.x-k8s.io',
  cleanupHook: cleanupHooks.KubeadmControlPlane,
  manager: 'capi-kubeadmcontrolplane',
  metadataManager: 'capi-kubeadmcontrolplane-metadata',
  namingVariable: 'kubeadmControlPlane.name',
  marksCondition: marksConditions.kubeadm,
  clientAuthority: 'ca',
  waitingForInit: 'WaitingForKubeadmInit',
  isEtcdManaged: ({ spec }) => spec.kubeadmConfigSpec?.clusterConfiguration?.etcd?.external === undefined,
  settingsOf({ spec }) {
    const { rollout, remediation, machineNaming } = spec;
    return {
      ...(rollout && { rollout }),
      ...(remediation && { remediation }),
      naming: machineNaming?.template ?? defaultNaming,
    };
  },
  certificatePlans: ({ spec }) => controlPlaneCertificatePlans(spec.kubeadmConfigSpec?.clusterConfiguration),
  componentPods: () => componentPods,
  configSpec: (controlPlane, role) => asJson(desiredConfigSpec(controlPlane, role)) as JsonObject,
  machineAnnotations: () => ({}),
  isConfigUpToDate,
  configsToCompare,
  apiServerPort: ({ spec }) =>
    spec.initConfiguration?.localAPIEndpoint?.bindPort ??
    spec.joinConfiguration?.controlPlane?.localAPIEndpoint?.bindPort ??
    defaultPort,
  marksVerdict,
  // `kubeadm init` stores its configuration in this ConfigMap at the end
  async isClusterMade(client, signal) {
    const key = { namespace: 'kube-system', name: 'kubeadm-config' };
    return (await client.get(ConfigMaps, key, { signal }).catch(ignoreNotFound)) !== undefined;
  },
  prepareUpgrade,
  finish: updateAddOns,
  rememberRemediation(draft, { machine, timestamp, retryCount }) {
    draft.status = { ...draft.status, lastRemediation: { machine, time: timestamp, retryCount } };
  },
};
