import type { Random } from '../../machinery/index.ts';
import { etcdErrors } from './errors.ts';

/** Who belongs to an etcd cluster, as every member knows it. */
export interface EtcdMember {
  /** 64 bits, as hexadecimal text: the way etcdctl and kubeadm print it */
  readonly id: string;
  /** empty until the member has started for the first time */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

export type AlarmType = 'NOSPACE' | 'CORRUPT';

export interface EtcdAlarm {
  readonly memberId: string;
  readonly type: AlarmType;
}

/** What survives when all members are down. */
export interface EtcdSnapshot {
  readonly id: string;
  readonly members: readonly EtcdMember[];
  readonly leaderId: string | undefined;
  readonly term: number;
  readonly alarms: readonly EtcdAlarm[];
}

export interface EtcdClusterOptions {
  readonly random: Random;
  /** continues where an earlier process ended; absent: a new cluster without members */
  readonly snapshot?: EtcdSnapshot;
  /** membership, leadership or which members run has changed */
  onChange?(cluster: EtcdCluster): void;
}

/** etcd keeps one learner at a time unless told otherwise. */
const maxLearners = 1;

/**
 * The members of one etcd cluster and what they agree on. What they store is kept elsewhere, once for all of them: members
 * that are up to date hold the same, and members that are not are not asked.
 */
export class EtcdCluster {
  readonly id: string;
  readonly #random: Random;
  readonly #onChange: ((cluster: EtcdCluster) => void) | undefined;
  readonly #members = new Map<string, EtcdMember>();
  readonly #running = new Set<string>();
  readonly #alarms: EtcdAlarm[] = [];
  #leaderId: string | undefined;
  #term: number;

  constructor(options: EtcdClusterOptions) {
    const { snapshot } = options;
    this.#random = options.random;
    this.#onChange = options.onChange;
    this.id = snapshot?.id ?? this.#newId();
    for (const member of snapshot?.members ?? []) this.#members.set(member.id, member);
    this.#alarms.push(...(snapshot?.alarms ?? []));
    this.#leaderId = snapshot?.leaderId;
    this.#term = snapshot?.term ?? 1;
  }

  get members(): EtcdMember[] {
    return [...this.#members.values()];
  }

  member(id: string): EtcdMember | undefined {
    return this.#members.get(id);
  }

  isRunning(id: string): boolean {
    return this.#running.has(id);
  }

  get leaderId(): string | undefined {
    return this.#leaderId;
  }

  get term(): number {
    return this.#term;
  }

  get alarms(): readonly EtcdAlarm[] {
    return this.#alarms;
  }

  /** Whether enough voting members run to agree on anything. */
  get hasQuorum(): boolean {
    let voters = 0;
    let up = 0;
    for (const { id, isLearner } of this.#members.values()) {
      if (isLearner) continue;
      voters++;
      if (this.#running.has(id)) up++;
    }
    return voters > 0 && up > voters / 2;
  }

  snapshot(): EtcdSnapshot {
    return {
      id: this.id,
      members: this.members,
      leaderId: this.#leaderId,
      term: this.#term,
      alarms: [...this.#alarms],
    };
  }

  /** The first member, which needs nobody's consent. */
  found(member: Omit<EtcdMember, 'id' | 'isLearner'>): EtcdMember {
    const founder = { ...member, id: this.#newId(), isLearner: false };
    this.#members.set(founder.id, founder);
    this.#changed();
    return founder;
  }

  /** Adds a member that has not started yet. */
  add(peerUrls: readonly string[], isLearner: boolean): EtcdMember {
    this.#agree();
    const taken = new Set(this.members.flatMap((member) => member.peerUrls));
    if (peerUrls.some((url) => taken.has(url))) throw etcdErrors.peerUrlExists();
    if (isLearner && this.members.filter((member) => member.isLearner).length >= maxLearners) {
      throw etcdErrors.tooManyLearners();
    }
    const member: EtcdMember = { id: this.#newId(), name: '', peerUrls, clientUrls: [], isLearner };
    this.#members.set(member.id, member);
    this.#changed();
    return member;
  }

  /** A member's process is up and has found the others. Answers false when it has been removed meanwhile. */
  start(id: string, facts: { name: string; clientUrls: readonly string[] }): boolean {
    const member = this.#members.get(id);
    if (!member) return false;
    this.#members.set(id, { ...member, ...facts });
    this.#running.add(id);
    this.#changed();
    return true;
  }

  stop(id: string): void {
    if (this.#running.delete(id)) this.#changed();
  }

  promote(id: string): void {
    this.#agree();
    const member = this.#members.get(id);
    if (!member) throw etcdErrors.memberNotFound();
    if (!member.isLearner) throw etcdErrors.notLearner();
    if (!this.#running.has(id)) throw etcdErrors.learnerNotReady();
    this.#members.set(id, { ...member, isLearner: false });
    this.#changed();
  }

  remove(id: string): void {
    this.#agree();
    const member = this.#members.get(id);
    if (!member) throw etcdErrors.memberNotFound();
    // etcd refuses what would leave a cluster that cannot agree, unless the member was down anyway.
    if (!member.isLearner && this.#running.has(id)) {
      const left = this.members.filter((other) => other.id !== id && !other.isLearner);
      const up = left.filter((other) => this.#running.has(other.id)).length;
      if (left.length > 0 && up <= left.length / 2) throw etcdErrors.notEnoughStarted();
    }
    this.#members.delete(id);
    this.#running.delete(id);
    this.clearAlarms(id);
    this.#changed();
  }

  update(id: string, peerUrls: readonly string[]): void {
    this.#agree();
    const member = this.#members.get(id);
    if (!member) throw etcdErrors.memberNotFound();
    this.#members.set(id, { ...member, peerUrls });
    this.#changed();
  }

  /** Hands leadership over; only the leader is asked for that. */
  moveLeader(askedId: string, targetId: string): void {
    this.#agree();
    if (askedId !== this.#leaderId) throw etcdErrors.notLeader();
    const target = this.#members.get(targetId);
    if (!target || target.isLearner || !this.#running.has(targetId)) throw etcdErrors.badTransferee();
    if (targetId === this.#leaderId) return;
    this.#leaderId = targetId;
    this.#term++;
    this.#onChange?.(this);
  }

  raiseAlarm(alarm: EtcdAlarm): void {
    if (this.#alarms.some(({ memberId, type }) => memberId === alarm.memberId && type === alarm.type)) return;
    this.#alarms.push(alarm);
    this.#onChange?.(this);
  }

  /** Lifts alarms of a member (all members when empty) and type (all types when absent). */
  clearAlarms(memberId: string, type?: AlarmType): EtcdAlarm[] {
    const lifted = this.#alarms.filter(
      (alarm) => (memberId === '' || alarm.memberId === memberId) && (type === undefined || alarm.type === type),
    );
    for (const alarm of lifted) this.#alarms.splice(this.#alarms.indexOf(alarm), 1);
    return lifted;
  }

  /** What needs a majority is refused without one. */
  #agree(): void {
    if (!this.hasQuorum) throw etcdErrors.timeout();
  }

  #changed(): void {
    this.#elect();
    this.#onChange?.(this);
  }

  #elect(): void {
    if (!this.hasQuorum) {
      this.#leaderId = undefined;
      return;
    }
    const leader = this.#leaderId === undefined ? undefined : this.#members.get(this.#leaderId);
    if (leader && !leader.isLearner && this.#running.has(leader.id)) return;
    const candidate = this.members.find((member) => !member.isLearner && this.#running.has(member.id));
    this.#leaderId = candidate?.id;
    this.#term++;
  }

  #newId(): string {
    return `${this.#random.text(1, '123456789abcdef')}${this.#random.text(15, '0123456789abcdef')}`;
  }
}
