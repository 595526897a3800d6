import { KubeadmConfigs } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { after, done, type Result } from '../../../runtime/index.ts';
import {
  cachedSecret,
  isNotConnected,
  isTrue,
  keepTokenAlive,
  kubeadmTokenPurpose,
  type ReadSecret,
  shouldRotate,
  type TokenAccess,
  tokenCheckMs,
} from '../../shared/index.ts';
import { certificatesAvailable, dataSecretAvailable } from '../common/config-status.ts';
import { keepDataSecretOwned } from '../common/data-secret.ts';
import { releaseInitLock } from '../common/init-lock.ts';
import { requireToken } from './bootstrap-token.ts';
import { recordNewToken } from './discovery.ts';
import { type KubeadmConfigScope, specOf } from './scope.ts';

/**
 * Keeps existing user data unchanged and its token and certificates alive until the machine has joined. Returns
 * undefined if the user data must be generated again: it was lost before use, or a pool needs a new token.
 */
export async function keepReady(scope: KubeadmConfigScope, secretName: string): Promise<Result | undefined> {
  const { config, context, cluster, owner } = scope;
  const token = specOf(config).joinConfiguration?.discovery?.bootstrapToken?.token;
  const initialized = isTrue(cluster, 'ControlPlaneInitialized');
  if (secretName === config.metadata.name) {
    const { client, cache, signal } = context;
    const cached: ReadSecret = (key) => cachedSecret(cache, key);
    const exists = await keepDataSecretOwned({ client, config, resource: KubeadmConfigs, cached, signal });
    // a machine that initialized the cluster must never get join data
    const canRepeat = token !== undefined || !initialized;
    if (!exists && canRepeat && !owner.hasNodes && !owner.deleting) return undefined;
  }
  dataSecretAvailable(scope, secretName);
  certificatesAvailable(scope);
  if (owner.isControlPlane && initialized && token === undefined) await releaseInitLock(context, cluster);
  if (token === undefined || owner.deleting || (owner.hasNodes && owner.kind === 'Machine')) {
    scope.dependencies.tokenChecks.forget(config.metadata.uid ?? '');
    return done();
  }
  return keepToken(scope, token);
}

async function keepToken(scope: KubeadmConfigScope, text: string): Promise<Result | undefined> {
  const { config, context, cluster, owner, dependencies, tokenTtlMs } = scope;
  const { tokenChecks } = dependencies;
  const token = requireToken(text);
  const uid = config.metadata.uid ?? '';
  const now = context.clock.now();
  const again = (sinceMs: number): Result =>
    after(sinceMs + tokenCheckMs(tokenTtlMs) - now, 'life of the bootstrap token');
  const seenAt = tokenChecks.seenAt(uid, text);
  if (seenAt !== undefined && now < seenAt + tokenCheckMs(tokenTtlMs)) return again(seenAt);
  try {
    const access: TokenAccess = {
      client: dependencies.workloads.client(objectKey(cluster)),
      nowMs: now,
      ttlMs: tokenTtlMs,
      purpose: kubeadmTokenPurpose,
      signal: context.signal,
    };
    if (owner.kind === 'MachinePool' && owner.hasNodes) {
      if (!(await shouldRotate(access, token))) return again(now);
      await recordNewToken(scope);
      return undefined;
    }
    await keepTokenAlive(access, token);
    tokenChecks.note(uid, text, now);
  } catch (error) {
    // the data Secret exists; the token is checked once the workload cluster is reachable
    if (!isNotConnected(error)) throw error;
  }
  return again(now);
}
