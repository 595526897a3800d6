import { parseApiVersion } from '../../machinery/index.ts';
import { type ConditionView, isBad } from './conditions.ts';
import { type AnyObject, at, numberAt, type ObjectReference, textAt } from './fields.ts';

/** Conditions that lines of machines or counts already show. */
const saidElsewhere = /Machines(?:Ready|UpToDate)$|^Scaling(?:Up|Down)$/;
/** Conditions of a cluster that no other line shows; the others summarize its parts. */
const ofClusters = new Set(['TopologyReconciled', 'Paused', 'Deleting', 'RemoteConnectionProbe']);

/**
 * Returns problems that the summary condition of an object hides: bad conditions that it does not mention, and fields
 * that no condition covers.
 */
export function findingsOf(
  object: AnyObject,
  conditions: readonly ConditionView[],
  shown: ConditionView | undefined,
): ConditionView[] {
  const unsaid = conditions.filter(
    (condition) => isBad(condition) && !isSaid(condition, shown) && isWorthALine(object, condition),
  );
  return [...unsaid, ...observations(object, conditions)];
}

export function missingCondition({ kind, name }: ObjectReference): ConditionView {
  return { type: 'Ready', status: 'False', reason: 'NotFound', message: `${kind} "${name}" does not exist` };
}

function isSaid({ type, message = '' }: ConditionView, shown: ConditionView | undefined): boolean {
  if (!shown || shown.type === type) return shown?.type === type;
  if (!isBad(shown)) return false;
  const said = shown.message ?? '';
  return message === '' || said.includes(type) || said.includes(message.split('\n')[0] ?? '');
}

function isWorthALine({ kind }: AnyObject, { type, message = '' }: ConditionView): boolean {
  if (saidElsewhere.test(type)) return false;
  // the line of the cluster already shows it
  if (type === 'Paused' && kind !== 'Cluster' && message.includes('Cluster spec.paused')) return false;
  if (kind === 'Cluster') return ofClusters.has(type);
  // Ready summarizes the other conditions of a machine
  if (kind === 'Machine') return type === 'UpToDate' || type === 'Paused' || type === 'Ready';
  return type !== 'Deleting' || message !== '';
}

function observations(object: AnyObject, conditions: readonly ConditionView[]): ConditionView[] {
  const has = (type: string): boolean => conditions.some((condition) => condition.type === type);
  const found: ConditionView[] = [];
  const paused = object.kind === 'Cluster' && at(object, 'spec', 'paused') === true;
  const pausedByHand = textAtAnnotation(object, 'cluster.x-k8s.io/paused') !== undefined;
  const saysPaused = conditions.some(({ type, status }) => type === 'Paused' && status === 'True');
  if ((paused || pausedByHand) && !saysPaused) {
    const where = paused ? 'spec.paused is true' : 'the annotation cluster.x-k8s.io/paused is set';
    found.push(finding('Paused', 'Paused', `${where}: nothing is changed until it is removed`, 'True'));
  }
  if (object.kind === 'Cluster' && at(object, 'spec', 'topology') !== undefined && !has('TopologyReconciled')) {
    const name = textAt(object, 'spec', 'topology', 'classRef', 'name') ?? textAt(object, 'spec', 'topology', 'class');
    found.push(
      finding(
        'TopologyReconciled',
        'NotActedOn',
        `spec.topology${name === undefined ? '' : ` (class "${name}")`} has not been acted on by any controller`,
        'Unknown',
      ),
    );
  }
  const generation = numberAt(object, 'metadata', 'generation');
  const observed = numberAt(object, 'status', 'observedGeneration');
  const isPaused = paused || pausedByHand || saysPaused;
  if (generation !== undefined && observed !== undefined && observed < generation && !isPaused) {
    found.push(
      finding(
        'Observed',
        'NotObserved',
        `the status is of generation ${observed}, the spec of ${generation}: the last change has not been acted on`,
        'False',
      ),
    );
  }
  return [...found, ...sleepFinding(object, conditions), ...versionFinding(object), ...nodeFinding(object)];
}

/** Reports a control plane with zero replicas: nothing runs, although its other conditions may be good. */
function sleepFinding(object: AnyObject, conditions: readonly ConditionView[]): ConditionView[] {
  const isPlane = parseApiVersion(object.apiVersion).group === 'controlplane.cluster.x-k8s.io';
  if (!isPlane || numberAt(object, 'spec', 'replicas') !== 0) return [];
  if (conditions.some((condition) => isBad(condition) && condition.reason === 'Hibernated')) return [];
  const message =
    'spec.replicas is 0: the control plane is hibernated, its data is kept; set replicas to start it again';
  return [finding('Asleep', 'Hibernated', message, 'True')];
}

/** Reports a running version that differs from the desired one. */
function versionFinding(object: AnyObject): ConditionView[] {
  const wanted = textAt(object, 'spec', 'version');
  const isMachine = object.kind === 'Machine';
  const running = isMachine
    ? textAt(object, 'status', 'nodeInfo', 'kubeletVersion')
    : textAt(object, 'status', 'version');
  if (wanted === undefined || running === undefined || plainVersion(wanted) === plainVersion(running)) return [];
  const what = isMachine ? 'the kubelet of its Node runs' : 'it runs';
  return [finding('Version', 'VersionDiffers', `${what} ${running}, ${wanted} is wanted`, 'False')];
}

/** Returns `1.34.1` for `v1.34.1`, `1.34.1` and `v1.34.1+k0s.0`. */
function plainVersion(text: string): string {
  return /(?<![\d.])\d+\.\d+(?:\.\d+)?/.exec(text)?.[0] ?? text;
}

/** Reports a provisioned machine without a Node. */
function nodeFinding(object: AnyObject): ConditionView[] {
  if (object.kind !== 'Machine' || object.metadata.deletionTimestamp !== undefined) return [];
  const phase = textAt(object, 'status', 'phase');
  const node = textAt(object, 'status', 'nodeRef', 'name');
  if (node !== undefined || (phase !== 'Running' && phase !== 'Provisioned')) return [];
  return [finding('Node', 'NoNode', 'its server exists, but no Node has its providerID', 'False')];
}

function finding(type: string, reason: string, message: string, status: string): ConditionView {
  return { type, status, reason, message };
}

function textAtAnnotation(object: AnyObject, name: string): string | undefined {
  const value = at(object, 'metadata', 'annotations', name);
  return typeof value === 'string' ? value : undefined;
}
