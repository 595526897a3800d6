import {
  type RKE2Config,
  RKE2Configs,
  type RKE2ControlPlane,
  RKE2ControlPlanes,
  restoresAnnotation,
  rolloutBeforeExpiryAnnotation,
  Secrets,
} from '../../../api/index.ts';
import { asJson, ignoreNotFound, type JsonObject, parseDuration } from '../../../machinery/index.ts';
import { cleanupHooks, rke2CertificatePlans } from '../../shared/index.ts';
import { componentPods, marksConditions, schedulerHealthy } from '../machine-plane/names.ts';
import type { PlaneProvider, PlaneSettings } from '../machine-plane/provider.ts';
import {
  configsToCompare,
  desiredConfigSpec,
  isConfigUpToDate,
  serverConfigurationAnnotation,
  serverConfigurationText,
} from './config-spec.ts';
import { annotateNodes, metadataVerdict } from './node-metadata.ts';
import { recordRestore, requestedRestore } from './restore.ts';
import { serverAddresses } from './server-addresses.ts';

const apiServerPort = 6443;

const isEtcdManaged = ({ spec }: RKE2ControlPlane): boolean => spec.serverConfig?.externalDatastoreSecret === undefined;

export const rke2Provider: PlaneProvider<RKE2ControlPlane, RKE2Config> = {
  name: 'rke2-control-plane',
  resource: RKE2ControlPlanes,
  configs: RKE2Configs,
  finalizer: 'rke2.controlplane.cluster.x-k8s.io',
  cleanupHook: cleanupHooks.RKE2ControlPlane,
  manager: 'capi-rke2controlplane',
  metadataManager: 'capi-rke2controlplane-metadata',
  namingVariable: 'rke2ControlPlane.name',
  marksCondition: marksConditions.rke2,
  clientAuthority: 'cca',
  waitingForInit: 'WaitingForRKE2Server',
  isEtcdManaged,
  settingsOf,
  certificatePlans: (controlPlane) =>
    rke2CertificatePlans(controlPlane.spec.agentConfig?.dataDir, { etcd: isEtcdManaged(controlPlane) }),
  componentPods({ spec }) {
    const left = spec.serverConfig?.disableComponents?.kubernetesComponents ?? [];
    return left.includes('scheduler')
      ? componentPods.filter(([, condition]) => condition !== schedulerHealthy)
      : componentPods;
  },
  configSpec: (controlPlane) => asJson(desiredConfigSpec(controlPlane)) as JsonObject,
  machineAnnotations(controlPlane, role) {
    const snapshot = role === 'init' ? requestedRestore(controlPlane) : undefined;
    return {
      [serverConfigurationAnnotation]: serverConfigurationText(controlPlane),
      ...(snapshot !== undefined && { [restoresAnnotation]: snapshot }),
    };
  },
  requestedRestore,
  isConfigUpToDate,
  configsToCompare,
  apiServerPort: () => apiServerPort,
  marksVerdict: metadataVerdict,
  // The supervisor port opens before a server accepts others; this Secret exists once it does.
  async isClusterMade(client, signal) {
    const key = { namespace: 'kube-system', name: 'rke2-serving' };
    return (await client.get(Secrets, key, { signal }).catch(ignoreNotFound)) !== undefined;
  },
  // joining machines receive everything from the servers
  prepareUpgrade: () => Promise.resolve(),
  async finish(scope) {
    await annotateNodes(scope);
    recordRestore(scope);
  },
  rememberRemediation(draft, lastRemediation) {
    draft.status = { ...draft.status, lastRemediation };
  },
  observe(draft, { cluster, machines, health }) {
    draft.status = { ...draft.status, availableServerIPs: serverAddresses(draft, cluster, machines, health) };
  },
};

const seconds = (duration: string | undefined): number | undefined => {
  const ms = duration === undefined ? undefined : parseDuration(duration);
  return ms === undefined ? undefined : Math.trunc(ms / 1000);
};

function settingsOf({ metadata, spec }: RKE2ControlPlane): PlaneSettings {
  const { rolloutStrategy, remediationStrategy } = spec;
  const retryPeriodSeconds = seconds(remediationStrategy?.retryPeriod);
  const minHealthyPeriodSeconds = seconds(remediationStrategy?.minHealthyPeriod);
  const days = Number(metadata.annotations?.[rolloutBeforeExpiryAnnotation] ?? Number.NaN);
  return {
    rollout: {
      ...(Number.isFinite(days) && days > 0 && { before: { certificatesExpiryDays: days } }),
      strategy: {
        type: 'RollingUpdate',
        ...(rolloutStrategy?.rollingUpdate && { rollingUpdate: rolloutStrategy.rollingUpdate }),
      },
    },
    remediation: {
      ...(remediationStrategy?.maxRetry !== undefined && { maxRetry: remediationStrategy.maxRetry }),
      ...(retryPeriodSeconds !== undefined && { retryPeriodSeconds }),
      ...(minHealthyPeriodSeconds !== undefined && { minHealthyPeriodSeconds }),
    },
    naming: '{{ .rke2ControlPlane.name }}-{{ .random }}',
  };
}
