import { type Ingress, type IngressClass, IngressClasses, Ingresses } from '../../api/index.ts';
import { objectKey } from '../../client/index.ts';
import { deepEqual, isNotFound } from '../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchMapped, watchObjects } from '../../runtime/index.ts';
import type { AddressBook } from '../network/address-book.ts';
import { ingressPort } from './route-table.ts';
import { type GatewayView, ingressControllerName } from './view.ts';

const fieldManager = 'ingress-controller';

/** The default IngressClass. */
export const standardIngressClass: IngressClass = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'capstan', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
  spec: { controller: ingressControllerName },
};

/** Assigns Ingresses the shared address, where TLS connections are routed by server name. */
export function ingressController(view: GatewayView, book: AddressBook, ingressAddress: string): ControllerDefinition {
  return defineController({
    name: 'ingress',
    for: Ingresses,
    watches: [watchObjects(Ingresses), watchMapped(IngressClasses, () => view.ingresses().map(objectKey))],
    async reconcile({ client, cache, events, signal }, key) {
      const ingress = cache.lister(Ingresses).get(key);
      if (view.ingresses().length === 0) await book.release('ingress');
      if (!ingress || ingress.metadata.deletionTimestamp !== undefined || !view.isOurIngress(ingress)) return done();
      const grant = await book.grant({
        owner: 'ingress',
        ports: [ingressPort],
        reserved: ingressAddress,
        isHeldByOther: () => false,
      });
      const loadBalancer = { ingress: [{ ip: ingressAddress }] };
      if (deepEqual(ingress.status?.loadBalancer, loadBalancer)) return done();
      for (const { problem } of grant?.problems ?? []) {
        events.event(ingress, 'Warning', 'ListenFailed', `Not open on this machine: ${problem.message}`);
      }
      const next: Ingress = { ...ingress, status: { ...ingress.status, loadBalancer } };
      await client.update(Ingresses, next, { fieldManager, subresource: 'status', signal }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      return done();
    },
  });
}
