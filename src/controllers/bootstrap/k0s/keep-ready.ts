import { after, done, type Result } from '../../../runtime/index.ts';
import { type BootstrapToken, isNotConnected, keepTokenAlive, shouldRotate, tokenCheckMs } from '../../shared/index.ts';
import { keepDataSecretOwned } from '../common/data-secret.ts';
import { dataSecretAccess, makeUserData, tokenAccess, tokenOf } from './make-user-data.ts';
import type { K0sWorkerConfigScope } from './scope.ts';
import { dataSecretAvailable } from './status.ts';

/**
 * Keeps existing user data unchanged and its token alive until the machine has joined. Generates the user data again if
 * it was lost before use, or if a pool needs a new token.
 */
export async function keepReady(scope: K0sWorkerConfigScope, secretName: string): Promise<Result> {
  const { config, owner } = scope;
  const isOurs = secretName === config.metadata.name;
  const secret = isOurs ? await keepDataSecretOwned(dataSecretAccess(scope)) : undefined;
  const isNeeded = !owner.deleting && !(owner.hasNodes && owner.kind === 'Machine');
  if (isOurs && !secret && isNeeded && !owner.hasNodes) return makeUserData(scope);
  dataSecretAvailable(scope, secretName);
  const token = tokenOf(secret);
  return token && isNeeded ? keepToken(scope, token) : done();
}

async function keepToken(scope: K0sWorkerConfigScope, token: BootstrapToken): Promise<Result> {
  const { owner, tokenTtlMs } = scope;
  try {
    const access = tokenAccess(scope);
    if (owner.kind === 'MachinePool' && owner.hasNodes) {
      if (await shouldRotate(access, token)) return await makeUserData(scope, { freshToken: true });
    } else await keepTokenAlive(access, token);
  } catch (error) {
    // the data Secret exists; the token is checked once the workload cluster is reachable
    if (!isNotConnected(error)) throw error;
  }
  return after(tokenCheckMs(tokenTtlMs), 'life of the join token');
}
