/** Properties of a member that matter for membership changes. */
export interface MemberView {
  id: string;
  /** empty until its first start */
  name: string;
  isLearner: boolean;
  /** answers, has no alarm and takes part */
  healthy: boolean;
}

export type QuorumJudgement = { safe: true } | { safe: false; problem: string };

const safe: QuorumJudgement = { safe: true };
const unsafe = (problem: string): QuorumJudgement => ({ safe: false, problem });

/** Number of voters that must agree. */
export const quorumOf = (voters: number): number => Math.floor(voters / 2) + 1;

const votersOf = (members: readonly MemberView[]): MemberView[] => members.filter(({ isLearner }) => !isLearner);
const healthyOf = (members: readonly MemberView[]): number => members.filter(({ healthy }) => healthy).length;

export function hasQuorum(members: readonly MemberView[]): boolean {
  const voters = votersOf(members);
  return voters.length > 0 && healthyOf(voters) >= quorumOf(voters.length);
}

/**
 * Judges whether a member can be removed without losing quorum. A change needs the old quorum to commit it and the new
 * one to continue.
 */
export function judgeRemoval(members: readonly MemberView[], id: string): QuorumJudgement {
  const leaving = members.find((member) => member.id === id);
  if (!leaving) return safe;
  const rest = members.filter((member) => member !== leaving);
  if (!hasQuorum(members)) return unsafe(`etcd has no quorum: ${describe(members)}`);
  // removing a learner does not affect quorum
  if (leaving.isLearner) return safe;
  if (votersOf(rest).length === 0) return unsafe('it is the last member of etcd');
  const starting = rest.find((member) => member.isLearner || member.name === '');
  if (starting) return unsafe(`etcd member ${labelOf(starting)} has not been promoted yet`);
  return hasQuorum(rest) ? safe : unsafe(`etcd would lose its quorum: ${describe(rest)} would be left`);
}

/**
 * Judges whether a member can be added. The new one counts as unhealthy until it starts, except with a single member,
 * which could not grow otherwise.
 */
export function judgeAddition(members: readonly MemberView[]): QuorumJudgement {
  const starting = members.find((member) => member.isLearner || member.name === '');
  if (starting) return unsafe(`etcd member ${labelOf(starting)} has not been promoted yet`);
  if (!hasQuorum(members)) return unsafe(`etcd has no quorum: ${describe(members)}`);
  if (members.length === 1) return safe;
  const worst = [...members, { id: '', name: 'new', isLearner: false, healthy: false }];
  return hasQuorum(worst)
    ? safe
    : unsafe(`etcd could lose its quorum if the new member does not come up: ${describe(members)}`);
}

export const labelOf = ({ id, name }: Pick<MemberView, 'id' | 'name'>): string =>
  name === '' ? `${id} (Name not yet assigned)` : name;

function describe(members: readonly MemberView[]): string {
  const voters = votersOf(members);
  return `${healthyOf(voters)} of ${voters.length} voting members healthy, ${quorumOf(voters.length)} needed`;
}
