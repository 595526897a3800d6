import type { Secret } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { Endpoint, PlaneFacts, PlaneSpec } from '../../../hosting/index.ts';
import { after, type Result, soonest } from '../../../runtime/index.ts';
import type { Verdict } from '../../shared/index.ts';
import type { AppliedMemory, ApplyOptions } from './apply-objects.ts';
import type { BackgroundWork } from './background.ts';
import type { CredentialMemory, EnsuredCredentials } from './certificates/ensure.ts';
import type { PlaneClouds } from './cloud-credentials.ts';
import type { OpenPlaneEtcd } from './etcd/connect.ts';
import type { EtcdMemory, EtcdOutcome } from './etcd/drive.ts';
import type { SecretDrafts } from './secret-drafts.ts';
import type { SetSight } from './sets.ts';
import type { PlaneState } from './state.ts';
import type { BackupReport, PlaneDependencies, PlaneRequest, PlaneStage } from './types.ts';

/** Memory of a plane between reconciles. It saves requests only; no decision depends on it. */
export interface PlaneMemory {
  /** objects that the last reconcile created; their events are ignored */
  readonly making: Set<string>;
  readonly applied: AppliedMemory;
  readonly credentials: CredentialMemory;
  /** the last spec that was fully rendered without an error */
  checkedSpec?: string;
  readonly etcd: EtcdMemory;
  /** last verified state of the workload cluster, by stage */
  readonly inCluster: Map<PlaneStage, { readonly desired: string; readonly at: number }>;
  gateway?: { readonly facts: NonNullable<PlaneFacts['gateway']>; readonly at: number };
  nodeAddress?: { readonly address: string | undefined; readonly at: number };
  backupFailure?: { readonly message: string; readonly at: number };
  /** last warning by stage */
  readonly warned: Map<PlaneStage, string>;
  restoreFailure?: { readonly token: string; readonly message: string; readonly at: number };
  /** Nodes of a workload cluster whose list is not cached */
  nodes?: { readonly names: readonly string[]; readonly at: number };
  /** last event about arguments */
  arguments?: string;
  /** credentials with a metric */
  shown?: Set<string>;
}

export const newPlaneMemory = (): PlaneMemory => ({
  making: new Set(),
  applied: new Map(),
  credentials: new Map(),
  etcd: {},
  inCluster: new Map(),
  warned: new Map(),
});

/** State of one reconcile of a plane. */
export interface PlaneScope {
  readonly request: PlaneRequest;
  readonly dependencies: PlaneDependencies;
  readonly openEtcd: OpenPlaneEtcd;
  readonly background: BackgroundWork;
  readonly clouds: PlaneClouds;
  readonly memory: PlaneMemory;
  readonly apply: ApplyOptions;
  /** Secrets as of the start of the reconcile */
  readonly secrets: (key: ObjectKey) => Secret | undefined;
  readonly drafts: SecretDrafts;
  /** Secrets written in this reconcile; the cache may be behind */
  readonly written: Map<string, Secret>;
  /** key of the user's object */
  readonly key: ObjectKey;
  readonly desired: PlaneSpec;
  state: PlaneState;
  /** facts known so far in this reconcile */
  facts: PlaneFacts;
  readonly stages: Map<PlaneStage, Verdict>;
  endpoint: Endpoint | undefined;
  credentials: EnsuredCredentials | undefined;
  etcd: EtcdOutcome | undefined;
  controlPlane: SetSight | undefined;
  /** the Pods keep their current state, because the spec cannot be applied */
  holdsBack: boolean;
  /** components must not run, because their data is being replaced */
  isRestoring: boolean;
  /** this reconcile wrote something whose effects are still to come */
  hasWritten: boolean;
  isRolledOut: boolean;
  isFunctional: boolean;
  isInClusterSettled: boolean;
  rotations: readonly string[];
  backup: BackupReport | undefined;
  /** requeue of this reconcile */
  later: Result;
}

/** A named step. `stop` ends the reconcile, because later steps depend on this one. */
export type Stage = (scope: PlaneScope) => Promise<'stop' | undefined> | 'stop' | undefined;

export function setStage(scope: PlaneScope, stage: PlaneStage, verdict: Verdict): void {
  scope.stages.set(stage, verdict);
}

export const good = (reason: string): Verdict => ({ status: 'True', reason });
export const bad = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });

export function requeueAfter(scope: PlaneScope, ms: number, reason: string): void {
  scope.later = soonest(scope.later, after(ms, reason));
}

/** Cap of requeue delays; long timers are not supported. */
const longestMs = 24 * 3_600_000;

export function requeueAt(scope: PlaneScope, atMs: number | undefined, reason: string): void {
  if (atMs === undefined || !Number.isFinite(atMs)) return;
  requeueAfter(scope, Math.max(0, Math.min(atMs - scope.request.context.clock.now(), longestMs)), reason);
}

/** Returns the Secret as written in this reconcile, otherwise from the cache. */
export function readSecret({ secrets, written, desired }: PlaneScope, key: ObjectKey): Secret | undefined {
  const own = key.namespace === desired.identity.namespace ? written.get(key.name) : undefined;
  return own ?? secrets(key);
}

export async function flushSecrets(scope: PlaneScope): Promise<void> {
  for (const [name, secret] of await scope.drafts.flush()) {
    scope.written.set(name, secret);
    scope.hasWritten = true;
  }
}
