import { after, done, type Result } from '../../../runtime/index.ts';
import { isTrue } from '../../shared/index.ts';
import { type CertifiedConfigScope, dataSecretWaiting } from './config-status.ts';
import { releaseInitLock, takeInitLock } from './init-lock.ts';

const lockRetryMs = 30_000;
export const waitingForControlPlane = 'WaitingForControlPlaneAvailable';

/** Lets one control plane machine at a time initialize the cluster; all other machines wait and then join. */
export async function initOrJoin(
  scope: CertifiedConfigScope,
  steps: { init: () => Promise<Result>; join: () => Promise<Result> },
): Promise<Result> {
  const { context, cluster, owner } = scope;
  if (isTrue(cluster, 'ControlPlaneInitialized')) {
    if (owner.isControlPlane) await releaseInitLock(context, cluster);
    return steps.join();
  }
  if (!owner.isControlPlane) {
    dataSecretWaiting(scope, 'Waiting for Cluster control plane to be initialized', waitingForControlPlane);
    return done();
  }
  const lock = await takeInitLock(context, cluster, owner.name);
  if (!lock.held) {
    const message = `Waiting for Machine ${lock.by} to initialize the control plane`;
    dataSecretWaiting(scope, message, waitingForControlPlane);
    return after(lockRetryMs, 'another machine initializes the control plane');
  }
  try {
    return await steps.init();
  } catch (error) {
    // release the lock, another control plane machine may succeed
    await releaseInitLock(context, cluster, owner.name);
    throw error;
  }
}
