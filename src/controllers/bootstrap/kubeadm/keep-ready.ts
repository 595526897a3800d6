import { kubeadmConfigs } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { after, done, type Result } from '../../../runtime/index.ts';
import {
  isNotConnected,
  isTrue,
  keepTokenAlive,
  kubeadmTokenPurpose,
  shouldRotate,
  type TokenAccess,
  tokenCheckMs,
} from '../../shared/index.ts';
import { keepDataSecretOwned } from '../common/data-secret.ts';
import { requireToken } from './bootstrap-token.ts';
import { recordNewToken } from './discovery.ts';
import { releaseInitLock } from './init-lock.ts';
import { type KubeadmConfigScope, specOf } from './scope.ts';
import { certificatesAvailable, dataSecretAvailable } from './status.ts';

/**
 * User data that was made stays as it is; what it refers to is kept alive until the machine has joined. Undefined means the
 * user data has to be made again: it is lost before it was of use, or a pool needs a new token.
 */
export async function keepReady(scope: KubeadmConfigScope, secretName: string): Promise<Result | undefined> {
  const { config, context, cluster, owner } = scope;
  const token = specOf(config).joinConfiguration?.discovery?.bootstrapToken?.token;
  const initialized = isTrue(cluster, 'ControlPlaneInitialized');
  if (secretName === config.metadata.name) {
    const { client, signal } = context;
    const exists = await keepDataSecretOwned({ client, config, resource: kubeadmConfigs, signal });
    // a machine that made the cluster must never be told to join it
    const canRepeat = token !== undefined || !initialized;
    if (!exists && canRepeat && !owner.hasNodes && !owner.deleting) return undefined;
  }
  dataSecretAvailable(scope, secretName);
  certificatesAvailable(scope);
  if (owner.isControlPlane && initialized && token === undefined) await releaseInitLock(context, cluster);
  if (token === undefined || owner.deleting || (owner.hasNodes && owner.kind === 'Machine')) return done();
  return keepToken(scope, token);
}

async function keepToken(scope: KubeadmConfigScope, text: string): Promise<Result | undefined> {
  const { context, cluster, owner, dependencies, tokenTtlMs } = scope;
  const token = requireToken(text);
  const again = after(tokenCheckMs(tokenTtlMs), 'life of the bootstrap token');
  try {
    const access: TokenAccess = {
      client: dependencies.workloads.client(objectKey(cluster)),
      nowMs: context.clock.now(),
      ttlMs: tokenTtlMs,
      purpose: kubeadmTokenPurpose,
      signal: context.signal,
    };
    if (owner.kind === 'MachinePool' && owner.hasNodes) {
      if (!(await shouldRotate(access, token))) return again;
      await recordNewToken(scope);
      return undefined;
    }
    await keepTokenAlive(access, token);
  } catch (error) {
    // the data is there all the same; the token is looked at again when there is a way to it
    if (!isNotConnected(error)) throw error;
  }
  return again;
}
