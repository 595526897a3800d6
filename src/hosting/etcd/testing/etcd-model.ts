import type { EtcdClusterSpec } from '../../spec.ts';
import { memberIndex, memberName, peerUrl } from '../members.ts';
import { hasQuorum } from '../quorum.ts';
import { settledNames } from '../settings.ts';
import { etcdStep } from '../step.ts';
import type { EtcdMember, EtcdObservation, EtcdPod, EtcdStep } from '../types.ts';

interface Member {
  id: string;
  /** empty until it has started */
  name: string;
  wanted: string;
  isLearner: boolean;
}

interface Pod {
  upToDate: boolean;
  dataLost: boolean;
  running: boolean;
  /** turns until it returns */
  down: number;
}

/** A claim, with the id of the member whose data it holds. */
interface Claim {
  uid: string;
  data: string | undefined;
}

/** Model of an etcd, its StatefulSet and its claims, as far as decisions depend on it. */
export class EtcdModel {
  desired: EtcdClusterSpec;
  #set: EtcdObservation['set'];
  #members: Member[] = [];
  #formed = false;
  readonly #pods = new Map<string, Pod>();
  readonly #claims = new Map<string, Claim>();
  #next = 0;
  #leader: string | undefined;

  constructor(desired: EtcdClusterSpec) {
    this.desired = desired;
  }

  replicas(): number {
    return this.#set?.replicas ?? 0;
  }

  voters(): EtcdMember[] {
    return (this.#observe().members ?? [])
      .filter(({ isLearner }) => !isLearner)
      .sort(
        (a, b) => (memberIndex(this.desired.naming, a.name) ?? 0) - (memberIndex(this.desired.naming, b.name) ?? 0),
      );
  }

  /** Runs steps until none is left; returns their kinds. */
  runToRest(): string[] {
    const kinds: string[] = [];
    for (let turn = 0; turn < 300; turn++) {
      const kind = this.#turn();
      if (kind === 'none' && [...this.#pods.values()].every(({ running }) => running)) return kinds;
      kinds.push(kind);
    }
    throw new Error(`no rest after 300 steps: ${kinds.slice(-20).join(' ')}`);
  }

  run(count: number): void {
    for (let turn = 0; turn < count; turn++) this.#turn();
  }

  loseVolume(index: number): void {
    const name = memberName(this.desired.naming, index);
    if (!this.#claims.has(name)) return;
    this.#claims.set(name, { uid: this.#id('claim'), data: undefined });
    const pod = this.#pods.get(name);
    if (pod) pod.running = false;
  }

  loseVolumeIfBearable(index: number): void {
    if (this.#isBearable(index)) this.loseVolume(index);
  }

  crashIfBearable(index: number, turns: number): void {
    const pod = this.#pods.get(memberName(this.desired.naming, index));
    if (!pod || !this.#isBearable(index)) return;
    pod.running = false;
    pod.down = turns;
  }

  outdateAll(): void {
    for (const pod of this.#pods.values()) pod.upToDate = false;
  }

  /** Random faults keep quorum; without it nothing could be decided. */
  #isBearable(index: number): boolean {
    const name = memberName(this.desired.naming, index);
    const after = (this.#observe().members ?? []).map((member) =>
      member.name === name ? { ...member, healthy: false } : member,
    );
    return after.length > 0 && hasQuorum(after);
  }

  #turn(): EtcdStep['kind'] {
    const before = this.#observe();
    const step = etcdStep(this.desired, before);
    const hadQuorum = before.members !== undefined && hasQuorum(before.members);
    this.#execute(step);
    const after = this.#observe();
    // hibernation stops everything on purpose, and a single member can only be restarted by stopping it
    const isStop = step.kind === 'scale' && step.replicas === 0;
    const isLone = step.kind === 'restart' && this.#members.length === 1;
    if (hadQuorum && !isStop && !isLone && !(after.members && hasQuorum(after.members))) {
      throw new Error(`the step ${JSON.stringify(step)} lost the majority`);
    }
    this.#live();
    return step.kind === 'wait' ? 'wait' : step.kind;
  }

  #execute(step: EtcdStep): void {
    switch (step.kind) {
      case 'bootstrap':
        this.#set = { replicas: step.replicas, image: step.image, settings: step.settings };
        this.#members = settledNames(step.settings).map((name) => ({
          id: this.#id('m'),
          name,
          wanted: name,
          isLearner: false,
        }));
        break;
      case 'settings':
        this.#set = { ...this.#set!, settings: step.settings };
        break;
      case 'scale':
        this.#set = { ...this.#set!, replicas: step.replicas };
        for (const name of [...this.#pods.keys()]) {
          if ((memberIndex(this.desired.naming, name) ?? 0) >= step.replicas) this.#pods.delete(name);
        }
        break;
      case 'add-learner':
        this.#members.push({ id: this.#id('m'), name: '', wanted: step.name, isLearner: true });
        break;
      case 'promote':
        for (const member of this.#members) if (member.id === step.id) member.isLearner = false;
        break;
      case 'remove':
        this.#members = this.#members.filter(({ id }) => id !== step.id);
        break;
      case 'move-leader':
        this.#leader = step.to;
        break;
      case 'delete-claim':
        if (this.#claims.get(step.name)?.uid === step.uid) this.#claims.delete(step.name);
        this.#pods.delete(step.name);
        break;
      case 'restart':
        this.#pods.delete(step.name);
        break;
      case 'image':
        this.#set = { ...this.#set!, image: step.image };
        this.outdateAll();
        break;
      default:
        break;
    }
  }

  /** Advances the Pods: they are created and try to start. */
  #live(): void {
    if (!this.#set) return;
    for (let index = 0; index < this.#set.replicas; index++) {
      const name = memberName(this.desired.naming, index);
      if (!this.#claims.has(name)) this.#claims.set(name, { uid: this.#id('claim'), data: undefined });
      const pod = this.#pods.get(name) ?? { upToDate: true, dataLost: false, running: false, down: 0 };
      this.#pods.set(name, pod);
      if (pod.down > 0) pod.down--;
      else if (!pod.running) this.#start(name, pod);
    }
    if (this.#members.every(({ name }) => this.#pods.get(name)?.running)) this.#formed = true;
    if (!this.#isUp(this.#leader))
      this.#leader = this.#members.find((member) => !member.isLearner && this.#isUp(member.id))?.id;
  }

  #start(name: string, pod: Pod): void {
    const claim = this.#claims.get(name)!;
    const member = this.#members.find(({ wanted }) => wanted === name);
    if (claim.data !== undefined) {
      // a removed member's data, or another member's name, prevents a start
      if (member?.id === claim.data) pod.running = true;
      else pod.dataLost = true;
      return;
    }
    if (!member || !settledNames(this.#set!.settings).includes(name)) return;
    const isFirstStart = member.name === '' || (!this.#formed && this.#set!.settings.initialClusterState === 'new');
    if (!isFirstStart) {
      pod.dataLost = true;
      return;
    }
    member.name = name;
    claim.data = member.id;
    pod.running = true;
    pod.dataLost = false;
  }

  #isUp(id: string | undefined): boolean {
    const member = this.#members.find((one) => one.id === id);
    return member !== undefined && this.#pods.get(member.name)?.running === true;
  }

  #observe(): EtcdObservation {
    const pods: EtcdPod[] = [...this.#pods].map(([name, pod]) => ({
      name,
      ready: pod.running,
      image: this.#set?.image ?? '',
      upToDate: pod.upToDate,
      terminating: false,
      dataLost: pod.dataLost,
    }));
    const members: EtcdMember[] = this.#members.map(({ id, name, wanted, isLearner }) => ({
      id,
      name,
      peerUrls: [peerUrl(this.desired, wanted)],
      isLearner,
      isLeader: id === this.#leader,
      healthy: this.#pods.get(name)?.running === true,
      inSync: this.#pods.get(name)?.running === true,
      alarms: [],
    }));
    const answers = members.some(({ healthy }) => healthy);
    return {
      ...(this.#set && { set: this.#set }),
      pods,
      claims: new Map([...this.#claims].map(([name, { uid }]) => [name, uid])),
      ...(answers && { members }),
      defragmentDue: false,
    };
  }

  #id(prefix: string): string {
    this.#next++;
    return `${prefix}-${this.#next}`;
  }
}
