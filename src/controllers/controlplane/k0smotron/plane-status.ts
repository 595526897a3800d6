import type { K0smotronCluster } from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import { setVerdict, type Verdict, versionAcceptedCondition } from '../../shared/index.ts';
import { availability, obstacleAmong, obstacleOf, putCondition, setNotDeleting, wordsOf } from '../plane-conditions.ts';
import type { PlaneCounts, PlaneReport, PlaneStage } from '../plane-driver/index.ts';

interface StageCondition {
  readonly type: string;
  readonly stages: readonly PlaneStage[];
  /** the reason when all of them are done */
  readonly good: string;
}

/** Conditions every plane has, and the steps they tell of. */
const ownConditions: readonly StageCondition[] = [
  { type: 'ControlPlaneExposed', stages: ['exposure', 'endpoint', 'routes'], good: 'ClusterWithExternalAddress' },
  { type: 'KubeconfigSecretAvailable', stages: ['kubeconfig'], good: 'Created' },
  { type: 'ControlPlaneFunctional', stages: ['functional'], good: 'KubeSystemNamespaceFound' },
];

/** Conditions of planes that have such a part. */
const partConditions: readonly StageCondition[] = [
  { type: versionAcceptedCondition, stages: ['version'], good: 'Accepted' },
  { type: 'EtcdAvailable', stages: ['etcd', 'restore'], good: 'Available' },
  { type: 'WorkloadPartsAvailable', stages: ['inCluster'], good: 'Available' },
  { type: 'CloudCredentialsAvailable', stages: ['cloudCredentials'], good: 'Available' },
  { type: 'ArgumentsAccepted', stages: ['arguments'], good: 'Accepted' },
  { type: 'RotationSettled', stages: ['rotation'], good: 'NotRotating' },
  { type: 'BackupSucceeded', stages: ['backup'], good: 'BackedUp' },
];

/** What keeps a plane from the desired state, while it answers all the same. */
const updateStages: readonly PlaneStage[] = ['version', 'workloads'];

/** Types that a K0smotronControlPlane shows too. */
export const shownConditions: readonly string[] = [
  'CertificatesAvailable',
  'ControlPlaneUpToDate',
  ...partConditions.map(({ type }) => type),
];

/** What was seen of a plane, in the status of its k0smotron.io Cluster. */
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

/** A spec nothing can be made of; what is there stays as it is. */
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

/** A step nobody came to waits for whatever stopped one before it. */
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
