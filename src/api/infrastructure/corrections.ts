import { type FieldError, fieldError, type KubeObject } from '../../machinery/index.ts';
import type {
  IdentityReference,
  OpenStackCluster,
  OpenStackClusterSpec,
  OpenStackMachine,
  OpenStackServer,
} from './types.ts';

/**
 * On an OpenStackClusterIdentity: objects that use it and were created before this time may have resources of
 * upstream's provider. `capstan adopt` writes it after that provider has stopped.
 */
export const begunUntilAnnotation = 'infrastructure.cluster.x-k8s.io/begun-by-upstream-until';

/**
 * On owners of cloud resources: the mark that their resources carry. It is the uid of the object when it was first
 * reconciled. Objects moved to another management API get a new uid and keep the mark.
 */
export const ownerMarkAnnotation = 'infrastructure.cluster.x-k8s.io/owner-mark';

/** Tells whether an object has no cloud resources. The mark is recorded before the first resource is created. */
export function hasMadeNothing({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ownerMarkAnnotation] === undefined;
}

/**
 * Tells whether a server was made in another management cluster: its mark is neither its own uid nor that of the machine it
 * was created for. It keeps its mark when it is moved, and loses its status.
 */
export function wasMovedHere({ metadata }: OpenStackServer): boolean {
  const mark = metadata.annotations?.[ownerMarkAnnotation];
  if (mark === undefined || mark === metadata.uid) return false;
  return metadata.ownerReferences?.some(({ uid }) => uid === mark) !== true;
}

/** Tells whether the spec of a server is not yet resolved. A moved server already has its resources. */
export function isUnresolved(server: OpenStackServer): boolean {
  const { status } = server;
  if (wasMovedHere(server)) return false;
  return status?.resolved === undefined && status?.instanceID === undefined;
}

/** A machine that has no server yet. */
export function hasNoServer({ spec, status }: OpenStackMachine): boolean {
  return spec?.providerID === undefined && status?.instanceID === undefined;
}

/** Allows a change of the region while the old region has no resources. */
export function validateRegion(
  identity: IdentityReference | undefined,
  old: IdentityReference | undefined,
  { isOpen }: { isOpen: boolean },
): FieldError[] {
  if (isOpen || identity === undefined || old === undefined || identity.region === old.region) return [];
  const problem = 'region is immutable once resources were made in it';
  return [fieldError.invalid('spec.identityRef', identity, problem)];
}

/** The parts of a cluster that can still be corrected, because no resource was created or looked up from them. */
export interface OpenParts {
  /** everything: no resource exists */
  readonly all: boolean;
  /** external network and whether it is enabled */
  readonly outside: boolean;
  /** subnets of a managed network */
  readonly subnets: boolean;
  /** router, existing or managed */
  readonly router: boolean;
  /** endpoint of the API */
  readonly endpoint: boolean;
  readonly loadBalancer: boolean;
}

export function openPartsOf(old: OpenStackCluster): OpenParts {
  const { spec, status } = old;
  const isProvisioned = status?.initialization?.provisioned === true;
  const endpoint = !isProvisioned && (spec?.controlPlaneEndpoint?.host ?? '') === '';
  const loadBalancer = endpoint && status?.apiServerManagedLoadBalancer === undefined;
  const router = !isProvisioned && status?.router === undefined;
  return {
    all: hasMadeNothing(old) && !isProvisioned && status?.network === undefined,
    outside: router && loadBalancer,
    subnets: !isProvisioned && status?.network === undefined,
    router,
    endpoint,
    loadBalancer,
  };
}

/** Returns a spec without the parts that can still be corrected. */
export function withoutOpenParts(spec: OpenStackClusterSpec, open: OpenParts): OpenStackClusterSpec {
  const { externalNetwork, enableExternalNetwork, managedNetwork, managedRouter, router, apiServer, ...rest } = spec;
  const managedSubnets = spec.managedSubnets;
  const { managedLoadBalancer, ...server } = apiServer ?? {};
  const fixedServer = {
    ...(!open.endpoint && server),
    ...(!open.loadBalancer && managedLoadBalancer !== undefined && { managedLoadBalancer }),
  };
  return {
    ...rest,
    ...(!open.outside && externalNetwork !== undefined && { externalNetwork }),
    ...(!open.outside && enableExternalNetwork !== undefined && { enableExternalNetwork }),
    ...(!open.subnets && managedNetwork !== undefined && { managedNetwork }),
    // The choice of a managed network stays fixed, because part of the network may exist.
    ...(managedSubnets !== undefined && {
      managedSubnets: open.subnets && managedSubnets.length > 0 ? [] : managedSubnets,
    }),
    ...(!open.router && managedRouter !== undefined && { managedRouter }),
    // Another router may be named, but the choice between an existing and a managed router stays fixed.
    ...(router !== undefined && { router: open.router ? {} : router }),
    ...(Object.keys(fixedServer).length > 0 && { apiServer: fixedServer }),
  };
}
