import {
  type Gateway,
  type GatewayClass,
  GatewayClasses,
  Gateways,
  gatewayGroup,
  grantsReference,
  type Ingress,
  IngressClasses,
  Ingresses,
  type Namespace,
  Namespaces,
  ReferenceGrants,
  type RouteBackend,
  type TLSRoute,
  TlsRoutes,
} from '../../api/index.ts';
import type { InformerFactory } from '../../client/index.ts';

/** Controller name in Gateways and GatewayClasses. */
export const gatewayControllerName = 'capstan.dev/gateway';
/** Controller name in IngressClasses. */
export const ingressControllerName = 'capstan.dev/ingress';

const defaultClassAnnotation = 'ingressclass.kubernetes.io/is-default-class';

/** Cached objects that define hosts. */
export interface GatewayView {
  /** Gateways of our classes */
  gateways(): Gateway[];
  gateway(namespace: string, name: string): Gateway | undefined;
  isOurs(gateway: Gateway): boolean;
  routes(): TLSRoute[];
  /** Ingresses of our classes */
  ingresses(): Ingress[];
  isOurIngress(ingress: Ingress): boolean;
  namespace(name: string): Namespace | undefined;
  /** reports whether a route may use a Service of another namespace */
  isGranted(route: TLSRoute, backend: RouteBackend): boolean;
  /** calls back after any of these objects changed */
  onChange(callback: () => void): void;
}

/** Must be called before the caches start. */
export function gatewayView(cache: InformerFactory): GatewayView {
  const classes = cache.informer(GatewayClasses);
  const gatewayInformer = cache.informer(Gateways);
  const routes = cache.informer(TlsRoutes);
  const grants = cache.informer(ReferenceGrants);
  const ingresses = cache.informer(Ingresses);
  const ingressClasses = cache.informer(IngressClasses);
  const namespaces = cache.informer(Namespaces);

  const isOurs = ({ spec }: Gateway): boolean => isOurClass(classes.lister.get({ name: spec.gatewayClassName }));
  const isOurIngress = ({ spec, metadata }: Ingress): boolean => {
    const name = spec?.ingressClassName ?? metadata.annotations?.['kubernetes.io/ingress.class'];
    const found = name === undefined ? ingressClasses.lister.list() : [ingressClasses.lister.get({ name })];
    return found.some(
      (one) =>
        one?.spec?.controller === ingressControllerName &&
        (name !== undefined || one.metadata.annotations?.[defaultClassAnnotation] === 'true'),
    );
  };
  return {
    gateways: () => gatewayInformer.lister.list().filter(isOurs),
    gateway: (namespace, name) => gatewayInformer.lister.get({ namespace, name }),
    isOurs,
    routes: () => routes.lister.list(),
    ingresses: () => ingresses.lister.list().filter(isOurIngress),
    isOurIngress,
    namespace: (name) => namespaces.lister.get({ name }),
    isGranted(route, { namespace, name }) {
      const from = { group: gatewayGroup, kind: 'TLSRoute', namespace: route.metadata.namespace ?? '' };
      if (namespace === undefined || namespace === from.namespace) return true;
      const to = { group: '', kind: 'Service', namespace, name };
      return grants.lister.list({ namespace }).some((grant) => grantsReference(grant, { from, to }));
    },
    onChange(callback) {
      const handler = { onAdd: callback, onUpdate: callback, onDelete: callback };
      for (const informer of [classes, gatewayInformer, routes, grants, ingresses, ingressClasses, namespaces]) {
        informer.addHandler(handler);
      }
    },
  };
}

export function isOurClass(gatewayClass: GatewayClass | undefined): boolean {
  return gatewayClass?.spec.controllerName === gatewayControllerName;
}
