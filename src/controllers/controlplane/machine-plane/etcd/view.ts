import type { ObjectKey } from '../../../../client/index.ts';
import { type Clock, errorMessage, limitAnswer } from '../../../../machinery/index.ts';
import type { EtcdAlarm, EtcdClient, EtcdMember, EtcdStatus, OpenEtcd } from '../../etcd-client/types.ts';

/** Response of the member on one Node. */
export type MemberAnswer = { memberId: string } | { problem: string };

/** Snapshot of the state of etcd. */
export interface EtcdView {
  /** undefined if no member answered */
  members: readonly EtcdMember[] | undefined;
  alarms: readonly EtcdAlarm[];
  leaderId: string | undefined;
  /** by Node name */
  answers: ReadonlyMap<string, MemberAnswer>;
  /** why the members are unknown */
  problem?: string;
}

export interface LookOptions {
  open: OpenEtcd;
  cluster: ObjectKey;
  /** Nodes with a member, most promising first */
  nodes: readonly string[];
  clock: Clock;
  /** time limit for the whole inspection */
  limitMs: number;
  signal: AbortSignal;
}

/**
 * Queries every member, because the member list does not show which are alive. The list is a linearizable read from the
 * first member that answers.
 */
export async function checkEtcd(options: LookOptions): Promise<EtcdView> {
  const { nodes, clock, signal } = options;
  const limit = new AbortController();
  const onAbort = (): void => limit.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const cancel = limitAnswer(clock, options.limitMs, () =>
    limit.abort(new Error(`no answer within ${options.limitMs / 1000} s`)),
  );
  const opened: EtcdClient[] = [];
  try {
    const contacts = await Promise.all(nodes.map((node) => contact(options, node, opened, limit.signal)));
    signal.throwIfAborted();
    const answers = new Map(contacts.map(({ node, answer }) => [node, answer]));
    return { ...(await readCluster(contacts, limit.signal)), answers };
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
    for (const client of opened) client.close();
  }
}

interface Contact {
  node: string;
  answer: MemberAnswer;
  client?: EtcdClient;
  status?: EtcdStatus;
}

async function contact(
  { open, cluster }: LookOptions,
  node: string,
  opened: EtcdClient[],
  signal: AbortSignal,
): Promise<Contact> {
  try {
    const client = await open({ cluster, node }, signal);
    opened.push(client);
    const status = await client.status(signal);
    return { node, answer: { memberId: status.memberId }, client, status };
  } catch (error) {
    return { node, answer: { problem: errorMessage(error) } };
  }
}

async function readCluster(contacts: readonly Contact[], signal: AbortSignal): Promise<Omit<EtcdView, 'answers'>> {
  const nothing = { members: undefined, alarms: [], leaderId: undefined };
  let problem = contacts.length === 0 ? 'there is no Node with an etcd member' : '';
  for (const { answer } of contacts) if ('problem' in answer && problem === '') problem = answer.problem;
  for (const { client, status } of contacts) {
    if (!client || !status) continue;
    try {
      const [members, alarms] = await Promise.all([client.members(signal), client.alarms(signal)]);
      if (status.leaderId === '0') {
        problem = 'etcd has no leader';
        continue;
      }
      return { members, alarms, leaderId: status.leaderId };
    } catch (error) {
      problem = errorMessage(error);
    }
  }
  return { ...nothing, problem };
}

/** Hosts in a member's peer URLs. */
export function peerHosts({ peerUrls }: EtcdMember): string[] {
  return peerUrls.flatMap((url) => (URL.canParse(url) ? [new URL(url).hostname.replace(/^\[|\]$/g, '')] : []));
}
