import { Secrets } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound, isAlreadyExists } from '../../../machinery/index.ts';
import {
  type CertificatePlan,
  ClusterCertificateError,
  certificateFromSecret,
  certificateSecret,
  fieldManager,
  isDeleting,
  ownerReference,
  pairInUserData,
  secretText,
} from '../../shared/index.ts';
import type { ControlPlaneScope } from './scope.ts';

/**
 * Restores lost key pairs from the bootstrap data of existing machines, which all contain the same ones. Returns the
 * plans that could not be restored.
 */
export async function putBackCertificates(
  scope: ControlPlaneScope,
  missing: readonly CertificatePlan[],
): Promise<CertificatePlan[]> {
  const { context, machines } = scope;
  let left = [...missing];
  for (const { metadata, spec } of machines.filter((machine) => !isDeleting(machine))) {
    const name = spec.bootstrap.dataSecretName;
    if (left.length === 0 || name === undefined) continue;
    const key = { namespace: metadata.namespace ?? '', name };
    const stored = await context.client.get(Secrets, key, { signal: context.signal }).catch(ignoreNotFound);
    const userData = secretText(stored, 'value');
    if (userData === undefined) continue;
    const still: CertificatePlan[] = [];
    for (const plan of left) {
      if (!(await putBack(scope, plan, userData, metadata.name ?? ''))) still.push(plan);
    }
    left = still;
  }
  return left;
}

async function putBack(
  { context, provider, controlPlane, cluster }: ControlPlaneScope,
  plan: CertificatePlan,
  userData: string,
  machine: string,
): Promise<boolean> {
  const pair = pairInUserData(userData, plan);
  if (!pair) return false;
  const owner = ownerReference(controlPlane, provider.resource, { controller: true });
  const secret = certificateSecret(objectKey(cluster), plan, pair, owner);
  try {
    certificateFromSecret(secret, plan);
    await context.client.create(Secrets, secret, { fieldManager, signal: context.signal });
  } catch (error) {
    // created meanwhile by another client
    if (isAlreadyExists(error)) return true;
    if (error instanceof ClusterCertificateError) return false;
    throw error;
  }
  const told = `Secret ${secret.metadata.name} was gone and was put back from the user data of machine ${machine}`;
  context.events.event(controlPlane, 'Warning', 'CertificatePutBack', told);
  return true;
}
