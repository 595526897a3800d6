import type { K0smotronCluster } from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import { setVerdict, type Verdict, versionAcceptedCondition } from '../../shared/index.ts';
import { availability, obstacleAmong, obstacleOf, putCondition, setNotDeleting, wordsOf } from '../plane-conditions.ts';
import type { PlaneCounts, PlaneReport, PlaneStage } from '../plane-driver/index.ts';

interface StageCondition {
  readonly type: string;
  readonly stages: readonly PlaneStage[];
  /** reason once all stages are done */
  readonly good: string;
}

/** Conditions of every plane, with the stages they cover. */
const ownConditions: readonly StageCondition[] = [
  { type: 'ControlPlaneExposed', stages: ['exposure', 'endpoint', 'routes'], good: 'ClusterWithExternalAddress' },
  { type: 'KubeconfigSecretAvailable', stages: ['kubeconfig'], good: 'Created' },
  { type: 'ControlPlaneFunctional', stages: ['functional'], good: 'KubeSystemNamespaceFound' },
];

/** Conditions of planes with an optional part. */
const partConditions: readonly StageCondition[] = [
  { type: versionAcceptedCondition, stages: ['version'], good: 'Accepted' },
  { type: 'EtcdAvailable', stages: ['etcd', 'restore'], good: 'Available' },
  { type: 'WorkloadPartsAvailable', stages: ['inCluster'], good: 'Available' },
  { type: 'CloudCredentialsAvailable', stages: ['cloudCredentials'], good: 'Available' },
  { type: 'ArgumentsAccepted', stages: ['arguments'], good: 'Accepted' },
  { type: 'RotationSettled', stages: ['rotation'], good: 'NotRotating' },
  { type: 'BackupSucceeded', stages: ['backup'], good: 'BackedUp' },
];

/** Stages that can keep a working plane from its desired state. */
const updateStages: readonly PlaneStage[] = ['version', 'workloads'];

/** Condition types that a K0smotronControlPlane copies. */
export const shownConditions: readonly string[] = [
  'CertificatesAvailable',
  'ControlPlaneUpToDate',
  ...partConditions.map(({ type }) => type),
];

/** Writes the report of a plane to the status of its k0smotron.io Cluster. */
export function observePlane(draft: K0smotronCluster, report: PlaneReport, nowMs: number): void {
  const { counts, selector } = report;
  const problem = obstacleOf(report);
  draft.status = {
    ...draft.status,
    replicas: counts.replicas,
    readyReplicas: counts.ready,
    updatedReplicas: counts.upToDate,
    selector,
    ...(report.endpoint && { controlPlaneEndpoint: { host: report.endpoint.host, port: report.endpoint.port } }),
    deprecated: {
      v1beta1: {
        ready: counts.ready === counts.desired,
        reconciliationStatus: problem ? wordsOf(problem) : 'Reconciliation successful',
      },
    },
  };
  const set = (type: string, verdict: Verdict): void => setVerdict(draft, type, verdict, nowMs);
  set('CertificatesAvailable', certificatesVerdict(report));
  for (const { type, stages, good } of ownConditions) set(type, stageVerdict(report, stages, good) ?? waiting(problem));
  for (const { type, stages, good } of partConditions) {
    putCondition(draft, type, stageVerdict(report, stages, good), nowMs);
  }
  set('ControlPlaneUpToDate', upToDateVerdict(report));
  set('ControlPlaneScaling', scalingVerdict(counts));
  setNotDeleting(draft, nowMs);
  set('Available', availability(report, notThere));
}

/** Reports an invalid spec; existing objects stay unchanged. */
export function refusePlane(
  draft: K0smotronCluster,
  problem: { reason: string; message: string },
  nowMs: number,
): void {
  const { reason, message } = problem;
  draft.status = { ...draft.status, deprecated: { v1beta1: { ready: false, reconciliationStatus: message } } };
  setVerdict(draft, 'Available', { status: 'False', reason, message }, nowMs);
}

const notThere = { reason: 'NotFound', message: 'not there yet' };

/** Verdict for a stage that was not reached, which names the stage that blocks it. */
function waiting(problem: Verdict | undefined): Verdict {
  return problem
    ? { status: 'False', reason: problem.reason, message: wordsOf(problem) }
    : { status: 'False', ...notThere };
}

function stageVerdict(report: PlaneReport, stages: readonly PlaneStage[], good: string): Verdict | undefined {
  if (!stages.some((stage) => report.stages.has(stage))) return undefined;
  return obstacleAmong(report, stages) ?? { status: 'True', reason: good };
}

function certificatesVerdict(report: PlaneReport): Verdict {
  const verdict = stageVerdict(report, ['certificates'], 'Created');
  if (!verdict) return waiting(undefined);
  const [first] = report.certificates.toSorted((a, b) => a.expiresAt - b.expiresAt);
  if (verdict.status !== 'True' || !first) return verdict;
  return { ...verdict, message: `the first to expire is Secret ${first.secret}, at ${formatTime(first.expiresAt)}` };
}

function upToDateVerdict(report: PlaneReport): Verdict {
  const { desired, ready, upToDate } = report.counts;
  const held = obstacleAmong(report, updateStages);
  if (held) return { ...held, message: wordsOf(held) };
  if (upToDate >= desired) return { status: 'True', reason: 'AllReplicasUpToDate' };
  const message = `${upToDate} of ${desired} replicas are as desired`;
  return { status: 'False', reason: ready === 0 ? 'NoReadyReplicas' : 'NotAllReplicasUpToDate', message };
}

function scalingVerdict({ desired, replicas }: PlaneCounts): Verdict {
  if (replicas === desired) return { status: 'False', reason: 'ControlPlaneWithDesiredReplicas' };
  const reason = replicas < desired ? 'ScalingUp' : 'ScalingDown';
  return { status: 'True', reason, message: `${replicas} of ${desired} replicas exist` };
}
