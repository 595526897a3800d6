import { type EtcdClusterSpec, etcdCertificatePlan, etcdObjects } from '../../../hosting/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import { after, type ReconcileContext, type Result, soonest } from '../../../runtime/index.ts';
import type { Verdict } from '../../shared/index.ts';
import { readSecret, secretsOf } from '../../shared/index.ts';
import { ensureCredentials } from './certificates/ensure.ts';
import { withKept } from './certificates/kept.ts';
import { lossesOfEtcd } from './certificates/losses.ts';
import { etcdTargetOf, type OpenPlaneEtcd } from './etcd/connect.ts';
import { driveEtcd } from './etcd/drive.ts';
import type { PlaneMemory } from './scope.ts';
import { secretDrafts } from './secret-drafts.ts';
import { readState, stateData } from './state.ts';
import type { CertificateReport, EtcdReport } from './types.ts';

/** A standalone etcd without a plane. */
export interface EtcdClusterRequest {
  context: ReconcileContext;
  owner: KubeObject;
  desired: EtcdClusterSpec;
}

export interface EtcdClusterReport {
  verdict: Verdict;
  /** a quorum of members answers */
  isServing: boolean;
  /** nothing left to do */
  isSettled: boolean;
  etcd: EtcdReport;
  certificates: readonly CertificateReport[];
  result: Result;
}

const longestMs = 24 * 3_600_000;

export async function driveEtcdCluster(
  { context, desired }: EtcdClusterRequest,
  { open, memory }: { open: OpenPlaneEtcd; memory: PlaneMemory },
): Promise<EtcdClusterReport> {
  const { client, cache, clock, signal } = context;
  const { naming, identity } = desired;
  const { namespace } = identity;
  const read = await secretsOf(context, namespace, identity.owner.uid);
  const { fieldManager } = naming;
  const drafts = secretDrafts({
    client,
    namespace,
    owner: identity.owner,
    fieldManager,
    read: (key) => readSecret(context, key),
    signal,
  });
  const state = readState(read({ namespace, name: naming.rotationState }));
  const credentials = await ensureCredentials({
    client,
    clock,
    signal,
    namespace,
    plan: etcdCertificatePlan(desired),
    state,
    read,
    drafts,
    memory: memory.credentials,
    losses: lossesOfEtcd(cache, desired),
  });
  const nextState = withKept(state, credentials.keeping, clock.now());
  if (nextState !== state) {
    drafts.put(naming.rotationState, { labels: naming.labels('certificate'), data: stateData(nextState) });
  }
  credentials.rememberWritten(await drafts.flush());
  const trust = { 'etcd-ca': credentials.authorities.get('etcd-ca')?.trust ?? '' };
  const outcome = await driveEtcd({
    context,
    desired,
    apply: { client, cache, fieldManager, memory: memory.applied, nowMs: clock.now(), signal },
    memory: memory.etcd,
    objects: (etcd) => etcdObjects(desired, { etcd, trust }),
    open,
    targetOf: etcdTargetOf(desired, read),
    lastDefragmentedMs: undefined,
    defragmentDue: false,
    restores: false,
    users: 0,
  });
  const { nextMs } = credentials;
  const renewal =
    nextMs === undefined
      ? outcome.result
      : after(Math.max(0, Math.min(nextMs - clock.now(), longestMs)), 'a certificate comes due');
  return {
    verdict: outcome.verdict,
    isServing: outcome.isServing,
    isSettled: outcome.isSettled,
    etcd: outcome.report,
    certificates: credentials.reports,
    result: soonest(outcome.result, renewal),
  };
}
