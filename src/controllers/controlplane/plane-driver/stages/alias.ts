import { type Service, Services } from '../../../../api/index.ts';
import { asJson, deepEqual, isConflict, isNotFound } from '../../../../machinery/index.ts';
import type { PlaneScope } from '../scope.ts';

/** Copies the load balancer status to the alias Service, because users look at either. */
export async function showAlias(scope: PlaneScope, service: Service | undefined): Promise<void> {
  const { desired, request } = scope;
  const name = desired.exposure.aliasServiceName;
  const ingress = service?.status?.loadBalancer?.ingress;
  if (name === undefined || name === desired.naming.apiService || !ingress) return;
  const { cache, client, signal } = request.context;
  const key = { namespace: desired.identity.namespace, name };
  const alias = cache.lister(Services).get(key);
  // a new alias triggers a reconcile once the cache has it
  if (!alias || deepEqual(alias.status?.loadBalancer?.ingress, ingress)) return;
  const status = asJson({ loadBalancer: { ingress } });
  try {
    await client.patch(
      Services,
      key,
      'merge',
      { status },
      { fieldManager: desired.naming.fieldManager, subresource: 'status', signal },
    );
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}
