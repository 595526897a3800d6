import { must } from '../../../machinery/index.ts';
import { collect, type Port, type Router } from '../../../openstack/index.ts';
import { resolveRouter, resolveSubnet } from '../common/filters.ts';
import { clusterDescription, networkName } from '../common/names.ts';
import { attempt, UnusableInput, type Wait } from '../common/outcomes.ts';
import { ownerMark } from '../common/ownership.ts';
import { managesNetwork } from './desired.ts';
import { record } from './events.ts';
import { type ClusterScope, follow, look, statusOf, wasThereBefore } from './scope.ts';
import { ensureTags, oldest, tagsOf } from './tags.ts';
import { isMadeFor } from './upstream.ts';

const reason = 'RouterCreateFailed';

/** Reconciles the router between the nodes and the external network, with an interface in every managed subnet. */
export async function reconcileRouter(scope: ClusterScope): Promise<Wait | undefined> {
  const { spec } = scope.draft;
  const status = statusOf(scope);
  const managed = managesNetwork(spec);
  // without an external network there is nothing to route to
  if (!spec.router && (!managed || !status.externalNetwork)) {
    delete status.router;
    return undefined;
  }
  const router = spec.router ? await broughtRouter(scope) : await ownRouter(scope);
  if (managed) {
    await attempt(`router ${router.name} could not be connected to the network`, reason, () =>
      ensureInterfaces(scope, router),
    );
  }
  const addresses = router.gateway?.fixedIps.flatMap(({ address }) => address ?? []) ?? [];
  status.router = {
    name: router.name,
    id: router.id,
    ...tagsOf(router),
    ...(addresses.length > 0 && { ips: addresses }),
  };
  return undefined;
}

async function broughtRouter(scope: ClusterScope): Promise<Router> {
  const { openstack, view } = scope.access;
  const { signal } = scope.context;
  const recorded = scope.draft.status?.router;
  return attempt('the router of the cluster could not be found', reason, async () => {
    if (recorded?.id) {
      const known = await look(scope, 'router', recorded.id);
      if (known) return known;
      throw new UnusableInput(
        `router ${recorded.name} (${recorded.id}) does not exist any more; the cluster cannot do without it`,
      );
    }
    const router = await resolveRouter(openstack, scope.draft.spec.router ?? {}, { field: 'spec.router', signal });
    follow(scope, 'router', router.id);
    view.remember('router', router);
    return router;
  });
}

async function ownRouter(scope: ClusterScope): Promise<Router> {
  const { openstack, view } = scope.access;
  const name = networkName(scope.base);
  const recorded = scope.draft.status?.router?.id;
  let router = await attempt(`router ${name} could not be created`, reason, async () => {
    const known = recorded === undefined ? undefined : await look(scope, 'router', recorded);
    return known ?? (await findOwnRouter(scope)) ?? (await createRouter(scope));
  });
  follow(scope, 'router', router.id);
  router = await attempt(`the gateway of router ${name} could not be set`, reason, () => ensureGateway(scope, router));
  router = await attempt(`router ${name} could not be tagged`, reason, () =>
    ensureTags(scope, router, openstack.network.routers),
  );
  view.remember('router', router);
  return router;
}

/** Finds the router with our mark. */
export async function findOwnRouter(scope: ClusterScope): Promise<Router | undefined> {
  const { openstack, projectId } = scope.access;
  const { signal } = scope.context;
  const named = await collect(openstack.network.routers.list({ name: networkName(scope.base), projectId }, { signal }));
  return oldest(named.filter((router) => isMadeFor(scope, router)));
}

async function createRouter(scope: ClusterScope): Promise<Router> {
  const { access, context, base, owner, draft } = scope;
  const networkId = draft.status?.externalNetwork?.id;
  // fixed external addresses are set by an update afterwards, because its errors are more precise
  const withGateway = networkId !== undefined && draft.spec.managedRouter === undefined;
  const router = await access.openstack.network.routers.create(
    {
      name: networkName(base),
      description: clusterDescription(base, ownerMark(owner)),
      ...(withGateway && { gateway: { networkId } }),
    },
    { signal: context.signal },
  );
  record(scope, 'SuccessfulCreateRouter', `Created router ${router.name} with id ${router.id}`);
  access.view.remember('router', router);
  scope.memory.interfaces.clear();
  scope.memory.newRouterId = router.id;
  return router;
}

/** Sets the gateway with the specified addresses; compares first to avoid needless changes. */
async function ensureGateway(scope: ClusterScope, router: Router): Promise<Router> {
  const networkId = scope.draft.status?.externalNetwork?.id;
  if (networkId === undefined) return router;
  const wanted = await outsideAddresses(scope, networkId);
  const has = router.gateway?.fixedIps ?? [];
  const isRight =
    router.gateway?.networkId === networkId &&
    wanted.every((desired) =>
      has.some(
        ({ subnetId, address }) =>
          subnetId === desired.subnetId && (desired.address === undefined || desired.address === address),
      ),
    );
  if (isRight) return router;
  const changed = await scope.access.openstack.network.routers.update(
    router.id,
    { gateway: { networkId, ...(wanted.length > 0 && { fixedIps: wanted }) } },
    { signal: scope.context.signal },
  );
  record(scope, 'SuccessfulUpdateRouter', `Updated router ${router.name} with id ${router.id}`);
  return changed;
}

async function outsideAddresses(
  scope: ClusterScope,
  networkId: string,
): Promise<{ subnetId: string; address: string | undefined }[]> {
  const { routerAddresses } = scope.memory;
  const { signal } = scope.context;
  const wanted: { subnetId: string; address: string | undefined }[] = [];
  for (const [index, { fixedIP, subnet }] of (scope.draft.spec.managedRouter?.externalIPs ?? []).entries()) {
    const key = JSON.stringify([networkId, fixedIP, subnet]);
    let known = routerAddresses.get(key);
    if (!known) {
      const field = `spec.managedRouter.externalIPs[${index}].subnet`;
      const found = await resolveSubnet(scope.access.openstack, subnet, { field, networkId, signal });
      known = { subnetId: found.id, address: fixedIP === '' ? undefined : fixedIP };
      routerAddresses.set(key, known);
    }
    wanted.push(known);
  }
  return wanted;
}

const interfaceOwners = [
  'network:router_interface',
  'network:router_interface_distributed',
  'network:ha_router_replicated_interface',
];

/** Shared list, so that after a restart one request serves all clusters. */
function interfacesOfProject(scope: ClusterScope): Promise<readonly Port[]> {
  const { openstack, projectId } = scope.access;
  return scope.lookups.get(openstack, 'router interfaces', () =>
    collect(openstack.network.ports.list({ projectId, deviceOwner: interfaceOwners })),
  );
}

async function ensureInterfaces(scope: ClusterScope, router: Router): Promise<void> {
  const { access, context, memory, draft } = scope;
  const { signal } = context;
  const subnets = draft.status?.network?.subnets ?? [];
  if (memory.interfaces.size === 0 && memory.newRouterId === undefined && wasThereBefore(scope)) {
    for (const port of await interfacesOfProject(scope)) {
      if (port.deviceId !== router.id) continue;
      for (const { subnetId } of port.fixedIps) memory.interfaces.set(subnetId, port.id);
    }
  }
  let isAllThere = true;
  for (const { id } of subnets) {
    const portId = memory.interfaces.get(id);
    if (portId === undefined || !(await look(scope, 'port', portId))) {
      memory.interfaces.delete(id);
      isAllThere = false;
    }
  }
  if (isAllThere) return;
  if (memory.newRouterId !== router.id) {
    for await (const port of access.openstack.network.ports.list({ deviceId: router.id }, { signal })) {
      for (const { subnetId } of port.fixedIps) memory.interfaces.set(subnetId, port.id);
      access.view.remember('port', port);
    }
  }
  // from here on, a lost response may leave an unknown interface
  memory.newRouterId = undefined;
  for (const { id } of subnets) {
    if (!memory.interfaces.has(id)) {
      const { portId } = await access.openstack.network.routers.addInterface(router.id, { subnetId: id }, { signal });
      memory.interfaces.set(id, portId);
    }
    follow(scope, 'port', must(memory.interfaces.get(id), 'the port of an interface'));
  }
}
