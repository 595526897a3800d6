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

/** Conditions users know, each with the steps it tells of, in the order of the way. */
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

/** What was seen of a plane, in the status of its HostedControlPlane. */
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
    // once it has answered it is initialized for good
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

/** The size of a file changes all the time, also at rest by leases; what people look for is how full the volume is. */
const usageStepMebibytes = 16;

function roundedBytes(bytes: number): string {
  const mebibytes = Math.ceil(bytes / (usageStepMebibytes * 1024 * 1024)) * usageStepMebibytes;
  return formatQuantity({ nanos: BigInt(mebibytes) * 1024n * 1024n * 1_000_000_000n, format: 'BinarySI' });
}

/** A spec nothing can be made of; what is there stays as it is. */
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
