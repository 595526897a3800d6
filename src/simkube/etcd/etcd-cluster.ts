import type { Random } from '../../machinery/index.ts';
import { EtcdAccess, type EtcdAccessSnapshot } from './access.ts';
import { etcdErrors } from './errors.ts';
import { isOlder, minorOf } from './version.ts';

/** A member of an etcd cluster, as all members know it. */
export interface EtcdMember {
  /** 64 bits in hexadecimal, as etcdctl and kubeadm print it */
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

/** State that survives when all members are down. */
export interface EtcdSnapshot {
  readonly id: string;
  readonly members: readonly EtcdMember[];
  readonly leaderId: string | undefined;
  readonly term: number;
  readonly alarms: readonly EtcdAlarm[];
  /** program version each member last ran, by member */
  readonly versions?: Readonly<Record<string, string>>;
  /** agreed cluster version, such as 3.6 */
  readonly version?: string;
  readonly access?: EtcdAccessSnapshot;
}

export interface EtcdClusterOptions {
  readonly random: Random;
  /** state from an earlier process; absent: a new cluster without members */
  readonly snapshot?: EtcdSnapshot;
}

/** Details a member reports when it starts. */
export interface StartedMember {
  readonly name: string;
  readonly clientUrls: readonly string[];
  /** program version, such as 3.6.4 */
  readonly version?: string;
}

/** etcd's default limit of learners. */
const maxLearners = 1;

/**
 * Members of one etcd cluster and their shared state. Their data is kept elsewhere, once for all: up-to-date members
 * hold the same data, and others are not asked.
 */
export class EtcdCluster {
  readonly id: string;
  /** users and roles, for etcd clusters shared by several tenants */
  readonly access: EtcdAccess;
  readonly #random: Random;
  readonly #listeners = new Set<() => void>();
  readonly #members = new Map<string, EtcdMember>();
  readonly #running = new Set<string>();
  readonly #alarms: EtcdAlarm[] = [];
  readonly #versions = new Map<string, string>();
  #version: string | undefined;
  #leaderId: string | undefined;
  #term: number;

  constructor(options: EtcdClusterOptions) {
    const { snapshot } = options;
    this.#random = options.random;
    this.access = new EtcdAccess(snapshot?.access, () => this.#tell());
    this.id = snapshot?.id ?? this.#newId();
    for (const member of snapshot?.members ?? []) this.#members.set(member.id, member);
    this.#alarms.push(...(snapshot?.alarms ?? []));
    this.#leaderId = snapshot?.leaderId;
    this.#term = snapshot?.term ?? 1;
    this.#version = snapshot?.version;
    for (const [id, version] of Object.entries(snapshot?.versions ?? {})) this.#versions.set(id, version);
  }

  /**
   * Calls back when membership, leadership, running members or permissions change. Returns a function that
   * unsubscribes.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
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

  get runs(): boolean {
    return this.#running.size > 0;
  }

  /** Agreed cluster version, such as 3.6; undefined until the first agreement. */
  get version(): string | undefined {
    return this.#version;
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

  /** Reports whether enough voting members run for a quorum. */
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
      ...(this.#versions.size > 0 && { versions: Object.fromEntries(this.#versions) }),
      ...(this.#version !== undefined && { version: this.#version }),
      ...(this.access.isUsed && { access: this.access.snapshot() }),
    };
  }

  /** Creates the first member, which needs no quorum. */
  found(member: Omit<EtcdMember, 'id' | 'isLearner'>): EtcdMember {
    const founder = { ...member, id: this.#newId(), isLearner: false };
    this.#members.set(founder.id, founder);
    this.#changed();
    return founder;
  }

  /** Adds a member that has not started yet. */
  add(peerUrls: readonly string[], { isLearner }: { isLearner: boolean }): EtcdMember {
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

  /** Records that a member has started and found the others. Returns false if it was removed in the meantime. */
  start(id: string, { name, clientUrls, version }: StartedMember): boolean {
    const member = this.#members.get(id);
    if (!member) return false;
    this.#members.set(id, { ...member, name, clientUrls });
    this.#running.add(id);
    if (version !== undefined) this.#versions.set(id, version);
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
    // etcd refuses a removal that would lose the quorum, unless the member was down anyway.
    if (!member.isLearner && this.#running.has(id)) {
      const left = this.members.filter((other) => other.id !== id && !other.isLearner);
      const up = left.filter((other) => this.#running.has(other.id)).length;
      if (left.length > 0 && up <= left.length / 2) throw etcdErrors.notEnoughStarted();
    }
    this.#members.delete(id);
    this.#running.delete(id);
    this.#versions.delete(id);
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

  /** Transfers leadership; only the leader accepts this request. */
  moveLeader(askedId: string, targetId: string): void {
    this.#agree();
    if (askedId !== this.#leaderId) throw etcdErrors.notLeader();
    const target = this.#members.get(targetId);
    if (!target || target.isLearner || !this.#running.has(targetId)) throw etcdErrors.badTransferee();
    if (targetId === this.#leaderId) return;
    this.#leaderId = targetId;
    this.#term++;
    this.#tell();
  }

  raiseAlarm(alarm: EtcdAlarm): void {
    if (this.#alarms.some(({ memberId, type }) => memberId === alarm.memberId && type === alarm.type)) return;
    this.#alarms.push(alarm);
    this.#tell();
  }

  /** Clears alarms of a member (all members if empty) and type (all types if absent). */
  clearAlarms(memberId: string, type?: AlarmType): EtcdAlarm[] {
    const lifted = this.#alarms.filter(
      (alarm) => (memberId === '' || alarm.memberId === memberId) && (type === undefined || alarm.type === type),
    );
    for (const alarm of lifted) this.#alarms.splice(this.#alarms.indexOf(alarm), 1);
    return lifted;
  }

  /** Throws without a quorum. */
  #agree(): void {
    if (!this.hasQuorum) throw etcdErrors.timeout();
  }

  #changed(): void {
    this.#elect();
    this.#agreeOnVersion();
    this.#tell();
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** The oldest program version determines the cluster version, which never decreases. */
  #agreeOnVersion(): void {
    if (!this.hasQuorum) return;
    let oldest: string | undefined;
    for (const version of this.#versions.values()) {
      const minor = minorOf(version);
      if (oldest === undefined || isOlder(minor, oldest)) oldest = minor;
    }
    if (oldest !== undefined && (this.#version === undefined || isOlder(this.#version, oldest))) this.#version = oldest;
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
