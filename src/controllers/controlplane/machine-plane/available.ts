import type { Machine } from '../../../api/index.ts';
import { parseRfc3339 } from '../../../machinery/index.ts';
import { conditionOf, isDeleting, isTrue, type Verdict } from '../../shared/index.ts';
import type { EtcdMember } from '../etcd-client/types.ts';
import { quorumOf } from './decisions/quorum.ts';
import type { MachineHealth } from './health/machine-health.ts';
import { etcdMemberHealthy, etcdPodHealthy } from './names.ts';
import type { MachinePlane } from './provider.ts';

export interface AvailabilityInput {
  controlPlane: MachinePlane;
  /** component conditions every machine should have */
  components: readonly string[];
  machines: readonly Machine[];
  etcdManaged: boolean;
  initialized: boolean;
  /** undefined while unknown */
  members: readonly EtcdMember[] | undefined;
  /** the observed health; conditions of machines being deleted contain less */
  health: ReadonlyMap<string, MachineHealth>;
  /** every member has a machine, and every Node has a member */
  membersMatch: boolean;
  nowMs: number;
}

/** Grace period after initialization, in which etcd may not answer yet. */
const startupMs = 2 * 60_000;
/** Shorter failures are not reported. */
const hiccupMs = 10_000;

type Count = { healthy: number; ill: number; fresh: number };

/** Computes Available: certificates exist, at least one machine has all components healthy, and etcd has quorum. */
export function availability(input: AvailabilityInput): Verdict {
  const { controlPlane, machines, etcdManaged, members, nowMs } = input;
  const no = (message: string): Verdict => ({ status: 'False', reason: 'NotAvailable', message });
  if (!input.initialized) return no('Control plane not yet initialized');
  if (etcdManaged) {
    if (!members) {
      const since = parseRfc3339(conditionOf(controlPlane, 'Initialized')?.lastTransitionTime ?? '') ?? 0;
      return nowMs - since < startupMs
        ? no('Waiting for etcd to report the list of members')
        : { status: 'Unknown', reason: 'InspectionFailed', message: 'Failed to get etcd members' };
    }
    if (!input.membersMatch) return no('The list of etcd members does not match the list of Machines and Nodes');
  }
  const components = countComponents(input);
  const etcd = etcdManaged ? countMembers(input, members ?? []) : undefined;
  const quorum = quorumOf((members ?? []).filter(({ isLearner, name }) => !isLearner && name !== '').length);
  const learners = (members ?? []).filter(({ isLearner, name }) => isLearner || name === '').length;
  const learnersText = learners > 0 ? ` ${learners} learner etcd member,` : '';
  const needed = `at least ${quorum} healthy member required for etcd quorum`;
  const total = members?.length ?? 0;
  const membersText = (count: number): string =>
    `* ${count} of ${total} etcd members ${count === 1 ? 'is' : 'are'} healthy,${learnersText} ${needed}`;
  const certificates = isTrue(controlPlane, 'CertificatesAvailable');
  const decides = !etcd || etcd.healthy >= quorum;
  if (!isDeleting(controlPlane) && decides && components.healthy >= 1 && certificates) {
    const lines: string[] = [];
    if (etcd && etcd.ill > 0) lines.push(membersText(etcd.healthy + etcd.fresh));
    if (components.ill > 0) {
      const count = components.healthy + components.fresh;
      lines.push(
        `* ${count} of ${machines.length} Machines ${count === 1 ? 'has' : 'have'} healthy control plane components, at least 1 required`,
      );
    }
    return { status: 'True', reason: 'Available', message: lines.join('\n') };
  }
  const lines: string[] = [];
  if (isDeleting(controlPlane)) lines.push('* Control plane metadata.deletionTimestamp is set');
  if (!certificates) lines.push('* Control plane certificates are not available');
  if (etcd && !decides) {
    lines.push(
      etcd.healthy === 0 ? `* There are no healthy etcd member,${learnersText} ${needed}` : membersText(etcd.healthy),
    );
  }
  if (components.healthy < 1) {
    lines.push('* There are no Machines with healthy control plane components, at least 1 required');
  }
  return no(lines.join('\n'));
}

function countComponents({ machines, components, etcdManaged, health, nowMs }: AvailabilityInput): Count {
  const types = [...components];
  // an API server talks only to its local etcd member
  if (etcdManaged) types.push(etcdMemberHealthy, etcdPodHealthy);
  const count: Count = { healthy: 0, ill: 0, fresh: 0 };
  for (const machine of machines) {
    const seen = isDeleting(machine) ? health.get(machine.metadata.name ?? '') : undefined;
    if (seen?.componentsHealthy && (!etcdManaged || seen.memberHealthy)) count.healthy++;
    else if (machine.spec.providerID) add(count, machine, types, nowMs);
  }
  return count;
}

function countMembers({ machines, health, nowMs }: AvailabilityInput, members: readonly EtcdMember[]): Count {
  const count: Count = { healthy: 0, ill: 0, fresh: 0 };
  let provisioning = machines.filter(({ status }) => !status?.nodeRef);
  for (const member of members) {
    if (member.name === '') {
      count.healthy++;
      continue;
    }
    let machine = machines.find(({ status }) => status?.nodeRef?.name === member.name);
    if (!machine && provisioning.length === 1) {
      // machines are created one at a time, so the member belongs to this one
      machine = provisioning[0];
      provisioning = [];
    }
    const seen = machine && isDeleting(machine) ? health.get(machine.metadata.name ?? '') : undefined;
    if (seen?.memberHealthy) count.healthy++;
    else if (machine) add(count, machine, [etcdMemberHealthy], nowMs);
    else count.ill++;
  }
  return count;
}

function add(count: Count, machine: Machine, types: readonly string[], nowMs: number): void {
  if (types.every((type) => isTrue(machine, type))) {
    count.healthy++;
    return;
  }
  const since = types.flatMap((type) => {
    const condition = conditionOf(machine, type);
    return condition && condition.status !== 'True' ? [parseRfc3339(condition.lastTransitionTime) ?? nowMs] : [];
  });
  if (since.length > 0 && nowMs - Math.min(...since) > hiccupMs) count.ill++;
  else count.fresh++;
}
