import { type FieldError, fieldError, type KubeObject } from '../../machinery/index.ts';
import type {
  IdentityReference,
  OpenStackCluster,
  OpenStackClusterSpec,
  OpenStackMachine,
  OpenStackServer,
} from './types.ts';

/**
 * On an OpenStackClusterIdentity: until when objects that use it may have been begun by upstream's provider. `capstan adopt` writes it when that has
 * stopped.
 */
export const begunUntilAnnotation = 'infrastructure.cluster.x-k8s.io/begun-by-upstream-until';

/**
 * On objects that own cloud resources: the word their resources are marked with. It is the uid the object had when it was
 * first seen; objects that are moved to another management API get a new uid and keep this.
 */
export const ownerMarkAnnotation = 'infrastructure.cluster.x-k8s.io/owner-mark';

/** Nothing was made in a cloud for this object: the mark is recorded before the first resource. */
export function hasMadeNothing({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[ownerMarkAnnotation] === undefined;
}

/** A server whose spec was not yet found to mean anything; one that was moved here has its resources already. */
export function isUnresolved({ metadata, status }: OpenStackServer): boolean {
  const mark = metadata.annotations?.[ownerMarkAnnotation];
  if (mark !== undefined && mark !== metadata.uid) return false;
  return status?.resolved === undefined && status?.instanceID === undefined;
}

/** A machine that has no server yet. */
export function hasNoServer({ spec, status }: OpenStackMachine): boolean {
  return spec?.providerID === undefined && status?.instanceID === undefined;
}

/** The region may be corrected as long as nothing was made in the one that was named. */
export function validateRegion(
  identity: IdentityReference | undefined,
  old: IdentityReference | undefined,
  { isOpen }: { isOpen: boolean },
): FieldError[] {
  if (isOpen || identity === undefined || old === undefined || identity.region === old.region) return [];
  const problem = 'region is immutable once resources were made in it';
  return [fieldError.invalid('spec.identityRef', identity, problem)];
}

/** Which parts of a cluster that is being made may still be corrected: those nothing was made or found from yet. */
export interface OpenParts {
  /** everything: nothing was made at all */
  readonly all: boolean;
  /** external network, and whether there is one */
  readonly outside: boolean;
  /** subnets of the network that is made */
  readonly subnets: boolean;
  /** router, brought or made */
  readonly router: boolean;
  /** how the API is reached */
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

/** A spec without what may still be corrected in it. */
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
    // whether the network is made here stays as it is: part of it may be there
    ...(managedSubnets !== undefined && {
      managedSubnets: open.subnets && managedSubnets.length > 0 ? [] : managedSubnets,
    }),
    ...(!open.router && managedRouter !== undefined && { managedRouter }),
    // another router may be named, but whether one is made here stays as it is too
    ...(router !== undefined && { router: open.router ? {} : router }),
    ...(Object.keys(fixedServer).length > 0 && { apiServer: fixedServer }),
  };
}
