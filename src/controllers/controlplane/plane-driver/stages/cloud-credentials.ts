import { cloudCredentialObjects } from '../../../../hosting/index.ts';
import { bad, type PlaneScope, setStage } from '../scope.ts';
import { reconcileInside } from './in-cluster.ts';

/** Writes cloud credentials for the cloud components inside the workload cluster. */
export async function reconcileCloudCredentials(scope: PlaneScope): Promise<undefined> {
  const cloud = await scope.clouds.credentialsOf(scope.request);
  // a fixed Secret triggers a reconcile
  if ('problem' in cloud) setStage(scope, 'cloudCredentials', bad('CredentialsNotUsable', cloud.problem));
  else if (cloud.credentials)
    await reconcileInside(scope, 'cloudCredentials', cloudCredentialObjects(cloud.credentials));
}
