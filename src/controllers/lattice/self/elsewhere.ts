import {
  Clusters,
  type LatticeCluster,
  LatticeClusters,
  type LatticePhase,
  latticeNamespace,
  latticeSettings,
} from '../../../api/index.ts';
import { ApiUnreachableError, type Client } from '../../../client/index.ts';
import { CapstanError, errorMessage, ignoreNotFound } from '../../../machinery/index.ts';
import { after, type ReconcileContext, type Result } from '../../../runtime/index.ts';
import {
  cancelMove,
  draftOf,
  isDeleting,
  readRecord,
  setVerdict,
  type Verdict,
  writeObject,
} from '../../shared/index.ts';
import { latticeConditions as types } from '../conditions.ts';
import type { LatticeDependencies, SelfManagement } from '../dependencies.ts';
import { handOver, moveOptions, type Sides, takeBack } from './handover.ts';
import { lostAnnotation } from './names.ts';
import { setStage, stageOf } from './stage.ts';
import { talkTo } from './talk.ts';

const stepMs = 1_000;
const failureMs = 10_000;
const heartbeatMs = 30_000;
const changingMs = 5_000;
/** Limit of a mirrored status; one with 64 pools and all conditions is much smaller. */
const maxStatusBytes = 65_536;
/** Conditions that the parent sets itself. */
const ownConditions: ReadonlySet<string> = new Set([types.selfManaged, types.connected, 'Paused']);

/**
 * Reconciles a LatticeCluster whose objects are not all here: hands them over, mirrors the status, or takes them back
 * for deletion.
 */
export async function manageElsewhere(
  context: ReconcileContext,
  cluster: LatticeCluster,
  { self }: LatticeDependencies,
): Promise<Result> {
  const draft = draftOf(cluster);
  const result = await new Elsewhere(context, draft, self).run();
  await writeObject(context, LatticeClusters, cluster, draft, { observed: true });
  return result;
}

class Elsewhere {
  readonly #context: ReconcileContext;
  readonly #draft: LatticeCluster;
  readonly #self: SelfManagement | undefined;

  constructor(context: ReconcileContext, draft: LatticeCluster, self: SelfManagement | undefined) {
    this.#context = context;
    this.#draft = draft;
    this.#self = self;
  }

  async run(): Promise<Result> {
    if (isDeleting(this.#draft) && this.#draft.metadata.annotations?.[lostAnnotation] !== undefined) {
      return await this.#giveUp();
    }
    try {
      const sides = await this.#sides();
      if (this.#self) await talkTo(this.#context, this.#draft, sides.child, this.#self);
      return await this.#step(sides);
    } catch (error) {
      if (this.#context.signal.aborted) throw error;
      return this.#failed(error);
    }
  }

  async #step(sides: Sides): Promise<Result> {
    const stage = stageOf(this.#draft);
    if (stage === 'pivoting') return isDeleting(this.#draft) ? await this.#stopPivot(sides) : await this.#pivot(sides);
    if (stage === 'unpivoting') return await this.#unpivot(sides);
    if (!isDeleting(this.#draft)) return await this.#mirror(sides.child);
    // recorded first; from here on the objects only move back
    setStage(this.#draft, 'unpivoting');
    this.#wait('Unpivoting', 'the cluster is taken back to be deleted');
    return after(0, 'the cluster is taken back');
  }

  async #sides(): Promise<Sides> {
    const { client, clock, signal } = this.#context;
    const { name } = this.#draft.metadata;
    const child = await this.#self?.access.client(this.#context, this.#draft);
    if (this.#self === undefined || child === undefined) {
      throw new CapstanError('CAP_MOVE', `there is no kubeconfig of the cluster ${name}`, {
        hint: 'put it back as the Secret that docs/lattice.md names',
      });
    }
    return { parent: client, child, clock, random: this.#self.random, signal };
  }

  #say(verdict: Verdict): void {
    setVerdict(this.#draft, types.selfManaged, verdict, this.#context.clock.now());
  }

  #wait(phase: LatticePhase, message: string): void {
    const now = this.#context.clock.now();
    this.#draft.status = { ...this.#draft.status, phase, message };
    if (phase === 'Unpivoting') {
      this.#draft.status.unpivotPending = true;
      setVerdict(this.#draft, types.deleting, { status: 'True', reason: phase, message }, now);
      setVerdict(this.#draft, types.ready, { status: 'False', reason: phase, message }, now);
    }
    this.#say({ status: 'False', reason: phase, message });
  }

  async #pivot(sides: Sides): Promise<Result> {
    const secret = latticeSettings(this.#draft)?.secret;
    if (secret === undefined) throw new CapstanError('CAP_MOVE', 'the cluster names no Secret with credentials');
    const waiting = await handOver(sides, this.#draft, secret);
    if (waiting !== undefined) {
      this.#wait('Pivoting', waiting);
      return after(stepMs, 'the next step of the pivot');
    }
    setStage(this.#draft, 'self');
    this.#draft.status = { ...this.#draft.status, pivotComplete: true };
    return await this.#mirror(sides.child);
  }

  /** Completes an interrupted handover before taking the objects back. */
  async #stopPivot(sides: Sides): Promise<Result> {
    const { parent, child, signal } = sides;
    const namespace = latticeNamespace(this.#draft.metadata.name ?? '');
    const record = await readRecord(parent, namespace, signal);
    const isHere = (await parent.list(Clusters, { namespace, limit: 1, signal })).items.length > 0;
    if (record?.phase === 'preparing') {
      await cancelMove(moveOptions(sides, this.#draft, { source: parent, target: child }));
    } else if (record !== undefined || !isHere) return await this.#pivot(sides);
    setStage(this.#draft, 'here');
    this.#wait('Unpivoting', 'the cluster was not handed over yet, and stays to be deleted');
    return after(0, 'the cluster is deleted');
  }

  async #unpivot(sides: Sides): Promise<Result> {
    const waiting = await takeBack(sides, this.#draft);
    if (waiting !== undefined) {
      this.#wait('Unpivoting', waiting);
      return after(stepMs, 'the next step of taking the cluster back');
    }
    setStage(this.#draft, 'here');
    this.#wait('Unpivoting', 'the cluster is back, and is deleted');
    const { pivotComplete: _, unpivotPending: __, ...status } = this.#draft.status ?? {};
    this.#draft.status = status;
    return after(0, 'the cluster is deleted');
  }

  /**
   * Mirrors the status of the cluster's own LatticeCluster, which is authoritative: deleting it there deletes it here.
   */
  async #mirror(child: Client): Promise<Result> {
    const { client, clock, signal } = this.#context;
    const { name = '', uid } = this.#draft.metadata;
    const inside = await child.get(LatticeClusters, { name }, { signal }).catch(ignoreNotFound);
    if (inside === undefined) {
      throw new CapstanError('CAP_MOVE', `the cluster has no ${LatticeClusters.kind} ${name} any more`, {
        hint: 'apply it there again',
      });
    }
    await this.#self?.access.keep(this.#context, this.#draft, child);
    const { observedGeneration: _, bootstrapComplete: __, conditions = [], ...seen } = inside.status ?? {};
    // security: users of the cluster control its status, so its size is limited
    const size = JSON.stringify([seen, conditions]).length;
    if (size > maxStatusBytes) {
      throw new CapstanError(
        'CAP_MOVE',
        `${LatticeClusters.kind} ${name} in the cluster has a status of ${size} bytes`,
        {
          hint: `up to ${maxStatusBytes} are shown here; somebody else than its controllers writes it`,
        },
      );
    }
    const { bootstrapComplete, pivotComplete } = this.#draft.status ?? {};
    this.#draft.status = {
      ...seen,
      ...(bootstrapComplete !== undefined && { bootstrapComplete }),
      ...(pivotComplete !== undefined && { pivotComplete }),
      conditions: [
        ...conditions.filter(({ type }) => !ownConditions.has(type)),
        ...(this.#draft.status?.conditions ?? []).filter(({ type }) => ownConditions.has(type)),
      ],
    };
    this.#say({
      status: 'True',
      reason: 'SelfManaged',
      message: `changes are made to ${LatticeClusters.kind} ${name} in the cluster itself`,
    });
    if (isDeleting(inside)) {
      setVerdict(
        this.#draft,
        types.deleting,
        { status: 'True', reason: 'DeletedInside', message: 'it was deleted in the cluster' },
        clock.now(),
      );
      await client
        .delete(LatticeClusters, { name }, { signal, ...(uid !== undefined && { preconditions: { uid } }) })
        .catch(ignoreNotFound);
    }
    // a changing cluster is polled more often than a ready one
    return after(seen.phase === 'Ready' ? heartbeatMs : changingMs, 'the cluster is looked at again');
  }

  #failed(error: unknown): Result {
    const { name = '' } = this.#draft.metadata;
    const { access, cell } = this.#self ?? {};
    if (error instanceof ApiUnreachableError && access?.isOverStream(name)) cell?.doubt(name);
    if (cell) setVerdict(this.#draft, types.connected, cell.verdict(name), this.#context.clock.now());
    const stage = stageOf(this.#draft);
    const hint = error instanceof CapstanError && error.hint !== undefined ? `; ${error.hint}` : '';
    const lost = isDeleting(this.#draft)
      ? `; if the cluster is permanently gone, annotate this object with ${lostAnnotation}, and use \`capstan audit\` to find what it left in the cloud`
      : '';
    const message = `${errorMessage(error)}${hint}${lost}`;
    if (stage === 'self' && !isDeleting(this.#draft)) {
      const verdict = { status: 'Unknown', reason: 'NotAnswering', message } as const;
      setVerdict(this.#draft, types.ready, verdict, this.#context.clock.now());
      this.#draft.status = { ...this.#draft.status, message };
    } else this.#wait(stage === 'pivoting' ? 'Pivoting' : 'Unpivoting', message);
    return after(failureMs, 'the cluster is tried again');
  }

  /** Deletes the objects here after the user declared the cluster lost. */
  async #giveUp(): Promise<Result> {
    const { client, clock, signal } = this.#context;
    const namespace = latticeNamespace(this.#draft.metadata.name ?? '');
    const record = await readRecord(client, namespace, signal);
    if (record !== undefined && this.#self) {
      const sides: Sides = { parent: client, child: client, clock, random: this.#self.random, signal };
      await cancelMove({
        ...moveOptions(sides, this.#draft, { source: client, target: client }),
        isTargetLost: true,
      });
    }
    setStage(this.#draft, 'here');
    this.#wait('Unpivoting', 'the cluster is given up; `capstan audit` finds what it left in the cloud');
    return after(0, 'what is here is deleted');
  }
}
