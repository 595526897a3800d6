import {
  clusterNameLabel,
  type IPAddressClaim,
  IPAddressClaims,
  IPAddresses,
  infrastructureGroup,
  ipamGroup,
  OpenStackServers,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { ignoreNotFound, isAlreadyExists, isNotFound, must } from '../../../machinery/index.ts';
import { type FloatingIp, isOpenStackError } from '../../../openstack/index.ts';
import { fieldManager, isDeleting, ownerReference, withoutFinalizer } from '../../shared/index.ts';
import { notReady, readyVerdict } from '../common/conditions.ts';
import { addressClaimName, ipClaimFinalizer } from '../common/names.ts';
import { attempt, CloudFault } from '../common/outcomes.ts';
import { Awaited, floatingIpErrorReason, poolAddressCondition, waitingForIpamProviderReason } from './conditions.ts';
import { judge, type ServerScope } from './scope.ts';

/**
 * Returns the floating IP claimed for the server; undefined if none is requested. Waits until the pool has assigned
 * one.
 */
export async function claimedAddress(scope: ServerScope): Promise<string | undefined> {
  const { server, context } = scope;
  const pool = server.spec.floatingIPPoolRef;
  if (!pool) return undefined;
  const key = claimKey(scope);
  const claim = context.cache.lister(IPAddressClaims).get(key) ?? (await createClaim(scope, key));
  const address = await addressOf(scope, claim);
  if (address !== undefined) return address;
  const message = `Waiting for ${pool.kind} ${pool.name} to answer IPAddressClaim ${key.name}`;
  judge(scope, poolAddressCondition, notReady(waitingForIpamProviderReason, message));
  throw new Awaited(message);
}

function claimKey({ server }: ServerScope): ObjectKey & { namespace: string } {
  return { namespace: server.metadata.namespace ?? '', name: addressClaimName(server.metadata.name ?? '') };
}

async function createClaim(scope: ServerScope, key: ObjectKey & { namespace: string }): Promise<IPAddressClaim> {
  const { server, context } = scope;
  const pool = must(server.spec.floatingIPPoolRef, 'server.spec.floatingIPPoolRef');
  const clusterName = server.metadata.labels?.[clusterNameLabel];
  const { client, signal } = context;
  try {
    const claim = await client.create(
      IPAddressClaims,
      {
        apiVersion: `${ipamGroup}/${IPAddressClaims.version}`,
        kind: IPAddressClaims.kind,
        metadata: {
          ...key,
          finalizers: [ipClaimFinalizer],
          ownerReferences: [ownerReference(server, OpenStackServers)],
          ...(clusterName !== undefined && { labels: { [clusterNameLabel]: clusterName } }),
        },
        spec: {
          ...(clusterName !== undefined && { clusterName }),
          poolRef: { apiGroup: pool.apiGroup ?? infrastructureGroup, kind: pool.kind, name: pool.name },
        },
      },
      { fieldManager, signal },
    );
    context.events.event(server, 'Normal', 'CreatingIPAddressClaim', `Created IPAddressClaim ${key.name}`);
    return claim;
  } catch (error) {
    // created by an earlier reconcile and not in the cache yet
    if (!isAlreadyExists(error)) throw error;
    return await client.get(IPAddressClaims, key, { signal });
  }
}

async function addressOf({ context }: ServerScope, claim: IPAddressClaim): Promise<string | undefined> {
  const name = claim.status?.addressRef?.name;
  if (name === undefined || name === '') return undefined;
  const key = { namespace: claim.metadata.namespace ?? '', name };
  const cached = context.cache.lister(IPAddresses).get(key);
  if (cached) return cached.spec.address;
  try {
    return (await context.client.get(IPAddresses, key, { signal: context.signal })).spec.address;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Attaches the claimed address to the first port with a route to the external network. */
export async function attachAddress(scope: ServerScope, address: string): Promise<void> {
  const { server, memory, cloud, context } = scope;
  const ports = server.status?.resources?.ports?.map(({ id }) => id) ?? [];
  const floating = await floatingIpOf(scope, address);
  memory.poolAddress = { address, id: floating.id };
  scope.follows.push({ type: 'floatingIp', id: floating.id });
  if (floating.portId === undefined) {
    cloud.view.remember('floatingIp', await associate(scope, floating, ports));
    const message = `Associated floating IP ${address} with server ${server.metadata.name}`;
    context.events.event(server, 'Normal', 'Successfulassociatefloatingip', message);
  } else if (!ports.includes(floating.portId)) {
    throw new CloudFault(
      floatingIpErrorReason,
      `Floating IP ${address} leads to port ${floating.portId}, which is not of this server; take it off that port`,
      { retryMs: foreignPortMs },
    );
  }
  judge(scope, poolAddressCondition, readyVerdict);
}

const foreignPortMs = 60_000;

async function floatingIpOf({ memory, cloud, context }: ServerScope, address: string): Promise<FloatingIp> {
  const { signal } = context;
  const known = memory.poolAddress;
  const found = await attempt(`Floating IP ${address} cannot be read`, floatingIpErrorReason, async () =>
    known?.address === address
      ? await cloud.view.read('floatingIp', known.id, signal)
      : await cloud.openstack.network.floatingIps.find(address, { signal }),
  );
  if (found) return found;
  throw new CloudFault(
    floatingIpErrorReason,
    `Floating IP ${address} does not exist in this project any more; delete the machine to have it replaced`,
    { retryMs: foreignPortMs },
  );
}

async function associate(
  scope: ServerScope,
  { id, address }: FloatingIp,
  ports: readonly string[],
): Promise<FloatingIp> {
  const { floatingIps } = scope.cloud.openstack.network;
  return await attempt(`Floating IP ${address} cannot be associated`, floatingIpErrorReason, async () => {
    let refused: unknown;
    for (const portId of ports) {
      try {
        return await floatingIps.update(id, { portId }, { signal: scope.context.signal });
      } catch (error) {
        // Neutron knows which port has an external route; its refusal is the only test needed
        if (!isOpenStackError(error, 'notFound', 'badRequest')) throw error;
        refused = error;
      }
    }
    throw refused ?? new Error('the server has no ports');
  });
}

/** Deletes the claim, which returns the address to its pool. */
export async function releaseClaim(scope: ServerScope): Promise<void> {
  const { server, context } = scope;
  if (!server.spec.floatingIPPoolRef) return;
  const { client, cache, signal } = context;
  const claim = cache.lister(IPAddressClaims).get(claimKey(scope));
  if (!claim) return;
  if (claim.metadata.finalizers?.includes(ipClaimFinalizer) === true) {
    const finalizers = withoutFinalizer(claim.metadata.finalizers, ipClaimFinalizer);
    const { resourceVersion } = claim.metadata;
    const patch = { metadata: { finalizers, ...(resourceVersion !== undefined && { resourceVersion }) } };
    await client
      .patch(IPAddressClaims, objectKey(claim), 'merge', patch, { fieldManager, signal })
      .catch(ignoreNotFound);
  }
  if (!isDeleting(claim)) await client.delete(IPAddressClaims, objectKey(claim), { signal }).catch(ignoreNotFound);
}
