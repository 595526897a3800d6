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

/** What is remembered of one plane between passes. It saves questions; nothing is decided by it. */
export interface PlaneMemory {
  /** objects the latest pass has made or is making, so that they are no news when they come */
  readonly making: Set<string>;
  readonly applied: AppliedMemory;
  readonly credentials: CredentialMemory;
  /** of the latest spec from which all objects can be computed */
  checkedSpec?: string;
  readonly etcd: EtcdMemory;
  /** what the workload cluster was found to contain, by the stage that saw to it */
  readonly inCluster: Map<PlaneStage, { readonly desired: string; readonly at: number }>;
  gateway?: { readonly facts: NonNullable<PlaneFacts['gateway']>; readonly at: number };
  nodeAddress?: { readonly address: string | undefined; readonly at: number };
  backupFailure?: { readonly message: string; readonly at: number };
  /** what people were warned of, by stage */
  readonly warned: Map<PlaneStage, string>;
  restoreFailure?: { readonly token: string; readonly message: string; readonly at: number };
  /** of a workload cluster nobody keeps a list of */
  nodes?: { readonly names: readonly string[]; readonly at: number };
  /** arguments people were told of */
  arguments?: string;
  /** expiry as it was last shown in metrics, by credential */
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

/** One pass over one plane: what was read, and how far it came. */
export interface PlaneScope {
  readonly request: PlaneRequest;
  readonly dependencies: PlaneDependencies;
  readonly openEtcd: OpenPlaneEtcd;
  readonly background: BackgroundWork;
  readonly clouds: PlaneClouds;
  readonly memory: PlaneMemory;
  readonly apply: ApplyOptions;
  /** Secrets as they were when the pass began */
  readonly secrets: (key: ObjectKey) => Secret | undefined;
  readonly drafts: SecretDrafts;
  /** Secrets this pass wrote, which the cache may not show yet */
  readonly written: Map<string, Secret>;
  /** the key of the object of the user */
  readonly key: ObjectKey;
  readonly desired: PlaneSpec;
  state: PlaneState;
  /** as far as known at this point of the pass */
  facts: PlaneFacts;
  readonly stages: Map<PlaneStage, Verdict>;
  endpoint: Endpoint | undefined;
  credentials: EnsuredCredentials | undefined;
  etcd: EtcdOutcome | undefined;
  controlPlane: SetSight | undefined;
  /** the Pods are to stay as they are: their spec cannot be followed */
  holdsBack: boolean;
  /** the programs must not run: what they store is being replaced */
  isRestoring: boolean;
  /** this pass changed something whose consequences are still to come */
  hasWritten: boolean;
  isRolledOut: boolean;
  isFunctional: boolean;
  isInClusterSettled: boolean;
  rotations: readonly string[];
  backup: BackupReport | undefined;
  /** when to look again, whatever else happens */
  later: Result;
}

/** One named step of a pass. `stop` ends the pass: what comes after must not be built on what is not there yet. */
export type Stage = (scope: PlaneScope) => Promise<'stop' | undefined> | 'stop' | undefined;

export function tell(scope: PlaneScope, stage: PlaneStage, verdict: Verdict): void {
  scope.stages.set(stage, verdict);
}

export const good = (reason: string): Verdict => ({ status: 'True', reason });
export const bad = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });

export function requeueAfter(scope: PlaneScope, ms: number, reason: string): void {
  scope.later = soonest(scope.later, after(ms, reason));
}

/** Timers of programs are not made for years. */
const longestMs = 24 * 3_600_000;

export function requeueAt(scope: PlaneScope, atMs: number | undefined, reason: string): void {
  if (atMs === undefined || !Number.isFinite(atMs)) return;
  requeueAfter(scope, Math.max(0, Math.min(atMs - scope.request.context.clock.now(), longestMs)), reason);
}

/** A Secret as it is now: what this pass wrote, or what the cache shows. */
export function readSecret({ secrets, written, desired }: PlaneScope, key: ObjectKey): Secret | undefined {
  const own = key.namespace === desired.identity.namespace ? written.get(key.name) : undefined;
  return own ?? secrets(key);
}

/** Writes all drafts of Secrets. */
export async function flushSecrets(scope: PlaneScope): Promise<void> {
  for (const [name, secret] of await scope.drafts.flush()) {
    scope.written.set(name, secret);
    scope.hasWritten = true;
  }
}
