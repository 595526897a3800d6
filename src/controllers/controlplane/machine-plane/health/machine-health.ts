import type { Machine, Node, Pod } from '../../../../api/index.ts';
import type { KubeObject } from '../../../../machinery/index.ts';
import { isDeleting, type LegacyVerdict, legacyFalse, legacyTrue, type Verdict } from '../../../shared/index.ts';
import type { EtcdMember } from '../../etcd-client/types.ts';
import type { MemberView } from '../decisions/quorum.ts';
import { type EtcdView, peerHosts } from '../etcd/view.ts';
import { etcdMemberHealthy, etcdPod, etcdPodHealthy, staticPodName } from '../names.ts';
import type { MachinePlane, PlaneProvider } from '../provider.ts';
import { isUnreachable, notInspected, podVerdict, type TwoVerdicts, unknownLegacy } from './static-pods.ts';

/** Health of the control plane components on one machine. */
export interface MachineHealth {
  nodeName: string | undefined;
  /** all component Pods are healthy, including that of a managed etcd */
  componentsHealthy: boolean;
  member: EtcdMember | undefined;
  /** the member answers, has a vote and no alarm */
  memberHealthy: boolean;
  /** verdicts to publish; for machines being deleted, less than is known */
  verdicts: ReadonlyMap<string, Verdict>;
  legacy: ReadonlyMap<string, LegacyVerdict>;
}

/** The control plane whose machines are judged. */
interface Judged {
  provider: PlaneProvider;
  controlPlane: MachinePlane;
}

export interface HealthInput extends Judged {
  machines: readonly Machine[];
  configs: ReadonlyMap<string, KubeObject>;
  /** by name */
  nodes: ReadonlyMap<string, Node>;
  pods: ReadonlyMap<string, Pod>;
  /** undefined for external etcd */
  etcd: EtcdView | undefined;
}

export function judgeMachines(input: HealthInput): Map<string, MachineHealth> {
  return new Map(input.machines.map((machine) => [machine.metadata.name ?? '', judgeMachine(machine, input)]));
}

/** Returns the condition types of machines in this control plane. */
export function conditionsOf({ provider, controlPlane }: Judged): { pods: string[]; all: string[] } {
  const etcdManaged = provider.isEtcdManaged(controlPlane);
  const pods = provider.componentPods(controlPlane).map(([, condition]) => condition);
  if (etcdManaged) pods.push(etcdPodHealthy);
  return { pods, all: [provider.marksCondition, ...pods, ...(etcdManaged ? [etcdMemberHealthy] : [])] };
}

function judgeMachine(machine: Machine, input: HealthInput): MachineHealth {
  const name = machine.metadata.name ?? '';
  const nodeSet = input.provider.marksCondition;
  const nodeName = machine.status?.nodeRef?.name;
  const node = nodeName === undefined ? undefined : input.nodes.get(nodeName);
  const member = memberOf(machine, input.etcd);
  const pods = podVerdicts(machine, node, input);
  const membership = input.etcd && memberVerdict(machine, member, input.etcd);
  const real = new Map(pods);
  const marks: TwoVerdicts = {
    verdict: node
      ? input.provider.marksVerdict(machine, node, input.configs.get(name))
      : { status: 'Unknown', reason: 'InspectionFailed', message: nodeMissing(machine) },
  };
  const shown = new Map<string, TwoVerdicts>([[nodeSet, marks], ...pods]);
  if (membership) shown.set(etcdMemberHealthy, membership);
  if (isDeleting(machine)) {
    for (const type of shown.keys()) if (type !== nodeSet || !node) shown.set(type, leavingVerdict);
  }
  const verdicts = new Map<string, Verdict>();
  const legacy = new Map<string, LegacyVerdict>();
  for (const [type, two] of shown) {
    verdicts.set(type, two.verdict);
    if (two.legacy && type !== nodeSet) legacy.set(type, two.legacy);
  }
  return {
    nodeName,
    componentsHealthy: [...real.values()].every(({ verdict }) => verdict.status === 'True'),
    member,
    memberHealthy: membership?.verdict.status === 'True',
    verdicts,
    legacy,
  };
}

const leavingVerdict: TwoVerdicts = {
  verdict: { status: 'False', reason: 'Deleting', message: 'Machine is deleting' },
  legacy: legacyFalse('Deleting', 'Info'),
};

function nodeMissing({ spec, status }: Machine): string {
  if (status?.nodeRef) return `Node ${status.nodeRef.name} does not exist`;
  return spec.providerID
    ? `Waiting for a Node with spec.providerID ${spec.providerID} to exist`
    : `Waiting for ${spec.infrastructureRef.kind} to report spec.providerID`;
}

function podVerdicts(machine: Machine, node: Node | undefined, input: HealthInput): Map<string, TwoVerdicts> {
  const components = input.provider.componentPods(input.controlPlane);
  const all = input.etcd ? [...components, etcdPod] : components;
  const verdicts = new Map<string, TwoVerdicts>();
  for (const [component, condition] of all) {
    if (!node) {
      const { verdict } = notInspected(nodeMissing(machine));
      const lost = machine.status?.nodeRef !== undefined;
      verdicts.set(condition, { verdict, ...(lost && { legacy: legacyFalse('PodFailed', 'Error', 'Missing Node') }) });
    } else if (isUnreachable(node)) {
      verdicts.set(condition, notInspected(`Node ${node.metadata.name} is unreachable`, 'Node is unreachable'));
    } else {
      const name = staticPodName(component, node.metadata.name ?? '');
      verdicts.set(condition, podVerdict(name, input.pods.get(name), node));
    }
  }
  return verdicts;
}

/** Finds the member of a machine by Node name, or by address until the member has started. */
export function memberOf(machine: Machine, etcd: EtcdView | undefined): EtcdMember | undefined {
  const nodeName = machine.status?.nodeRef?.name;
  const addresses = machine.status?.addresses?.map(({ address }) => address) ?? [];
  return (
    etcd?.members?.find(({ name }) => nodeName !== undefined && name === nodeName) ??
    etcd?.members?.find(
      (member) =>
        (member.name === '' || nodeName === undefined) && peerHosts(member).some((host) => addresses.includes(host)),
    )
  );
}

function memberVerdict(machine: Machine, member: EtcdMember | undefined, etcd: EtcdView): TwoVerdicts {
  const nodeName = machine.status?.nodeRef?.name;
  if (nodeName === undefined)
    return { verdict: { status: 'Unknown', reason: 'InspectionFailed', message: nodeMissing(machine) } };
  if (!etcd.members) {
    const message = `Failed to connect to etcd: ${etcd.problem ?? 'no answer'}`;
    return {
      verdict: { status: 'Unknown', reason: 'InspectionFailed', message },
      legacy: unknownLegacy('MemberInspectionFailed', message),
    };
  }
  const ill = (message: string, legacyMessage = message): TwoVerdicts => ({
    verdict: { status: 'False', reason: 'NotHealthy', message },
    legacy: legacyFalse('EtcdMemberUnhealthy', 'Error', legacyMessage),
  });
  if (!member || member.name === '') {
    return ill(`Etcd doesn't have an etcd member for Node ${nodeName}`, 'Missing etcd member');
  }
  if (member.isLearner) return ill('Waiting for learner etcd member to be promoted');
  const alarms = etcd.alarms.filter(({ memberId }) => memberId === member.id).map(({ type }) => type);
  if (alarms.length > 0) {
    return ill(`Etcd reports alarms: ${alarms.join(', ')}`, `Etcd member reports alarms: ${alarms.join(', ')}`);
  }
  const answer = etcd.answers.get(nodeName);
  if (!answer || 'problem' in answer) {
    const message = `Failed to connect to the etcd member on Node ${nodeName}: ${answer?.problem ?? 'the Node has gone silent'}`;
    return {
      verdict: { status: 'Unknown', reason: 'InspectionFailed', message },
      legacy: unknownLegacy('MemberInspectionFailed', message),
    };
  }
  return { verdict: { status: 'True', reason: 'Healthy' }, legacy: legacyTrue };
}

/** Returns the members as input for quorum decisions; undefined while unknown. */
export function memberViews(
  etcd: EtcdView | undefined,
  health: ReadonlyMap<string, MachineHealth>,
): MemberView[] | undefined {
  return etcd?.members?.map((member) => {
    let healthy = false;
    for (const one of health.values()) if (one.member?.id === member.id) healthy = one.memberHealthy;
    return { id: member.id, name: member.name, isLearner: member.isLearner, healthy };
  });
}

/** Lists members that belong to no machine. */
export function unknownMembersOf(etcd: EtcdView | undefined, health: ReadonlyMap<string, MachineHealth>): EtcdMember[] {
  const known = new Set([...health.values()].flatMap(({ member }) => (member ? [member.id] : [])));
  return (etcd?.members ?? []).filter(({ id }) => !known.has(id));
}
