import { type HostedControlPlane, type HostedControlPlaneStatus, withLeadingV } from '../../../api/index.ts';
import { formatQuantity, formatTime } from '../../../machinery/index.ts';
import { setVerdict, type Verdict, versionAcceptedCondition } from '../../shared/index.ts';
import {
  availability,
  obstacleAmong,
  putCondition,
  setNotDeleting,
  setReplicaConditions,
} from '../plane-conditions.ts';
import type { PlaneReport, PlaneStage } from '../plane-driver/index.ts';

/** Condition types of the API, each with the stages it covers, in reconcile order. */
const stageConditions: readonly (readonly [type: string, ...stages: PlaneStage[]])[] = [
  [versionAcceptedCondition, 'version'],
  ['CACertificatesReady', 'certificates'],
  ['CABundleReady', 'certificates'],
  ['APIServerServiceReady', 'exposure'],
  ['SyncControlPlaneEndpointReady', 'endpoint'],
  ['APIServerTLSRoutesReady', 'routes'],
  ['CertificatesReady', 'certificates'],
  ['EtcdClusterReady', 'etcd', 'restore'],
  ['InternalKubeconfigReady', 'kubeconfig'],
  ['APIServerDeploymentsReady', 'workloads', 'functional'],
  ['AdminKubeconfigReady', 'kubeconfig'],
  ['CARotationReady', 'rotation'],
  ['WorkloadSetupReady', 'inCluster'],
  ['WorkloadCloudCredentialsReady', 'cloudCredentials'],
  ['ArgumentsAccepted', 'arguments'],
  ['EtcdBackupReady', 'backup'],
];

/** Writes the report of a plane to the status of its HostedControlPlane. */
export function observeHosted(draft: HostedControlPlane, report: PlaneReport, nowMs: number): void {
  const { counts, etcd, backup } = report;
  const version = report.runningVersion ?? draft.status?.version;
  const usage = etcd?.dbSizeBytes;
  const status: HostedControlPlaneStatus = {
    ...draft.status,
    externalManagedControlPlane: true,
    replicas: counts.replicas,
    readyReplicas: counts.ready,
    availableReplicas: counts.available,
    upToDateReplicas: counts.upToDate,
    selector: report.selector,
    ready: report.isFunctional,
    ...(version !== undefined && { version: withLeadingV(version) }),
    ...(report.serviceAddress !== undefined && { legacyIP: report.serviceAddress }),
    ...(etcd?.volumeSize !== undefined && { etcdVolumeSize: etcd.volumeSize }),
    ...(usage !== undefined && { etcdVolumeUsage: roundedBytes(usage) }),
    ...(etcd?.lastDefragmentationMs !== undefined && {
      etcdLastDefragTime: formatTime(etcd.lastDefragmentationMs),
      etcdLastAttemptedDefragTime: formatTime(etcd.lastDefragmentationMs),
    }),
    ...(backup?.lastMs !== undefined && { etcdLastBackupTime: formatTime(backup.lastMs) }),
    ...(backup?.nextMs !== undefined && { etcdNextBackupTime: formatTime(backup.nextMs) }),
    // once initialized, it stays initialized
    ...(report.isFunctional && { initialization: { controlPlaneInitialized: true } }),
  };
  draft.status = status;
  const set = (type: string, verdict: Verdict): void => setVerdict(draft, type, verdict, nowMs);
  for (const [type, ...stages] of stageConditions) {
    putCondition(draft, type, stageVerdict(report, stages), nowMs);
  }
  const available = availability(report, {
    reason: 'Waiting',
    message: 'the control plane has not been looked at yet',
  });
  set('Ready', available.status === 'True' ? { ...available, reason: 'Ready' } : available);
  set('Available', available);
  setReplicaConditions(draft, counts, nowMs);
  setNotDeleting(draft, nowMs);
}

/**
 * The file size changes constantly, because leases are renewed. Rounding it avoids status writes that tell users
 * nothing.
 */
const usageStepMebibytes = 16;

function roundedBytes(bytes: number): string {
  const mebibytes = Math.ceil(bytes / (usageStepMebibytes * 1024 * 1024)) * usageStepMebibytes;
  return formatQuantity({ nanos: BigInt(mebibytes) * 1024n * 1024n * 1_000_000_000n, format: 'BinarySI' });
}

/** Reports an invalid spec; existing objects stay unchanged. */
export function refuseHosted(
  draft: HostedControlPlane,
  { reason, message }: { reason: string; message: string },
  nowMs: number,
): void {
  draft.status = { ...draft.status, externalManagedControlPlane: true };
  setVerdict(draft, 'Ready', { status: 'False', reason, message }, nowMs);
  setVerdict(draft, 'Available', { status: 'False', reason, message }, nowMs);
}

function stageVerdict(report: PlaneReport, stages: readonly PlaneStage[]): Verdict | undefined {
  const told = stages.map((stage) => report.stages.get(stage)).filter((verdict) => verdict !== undefined);
  return obstacleAmong(report, stages) ?? told.at(-1);
}
