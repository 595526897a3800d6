import { Nodes, type Service, Services } from '../../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../../client/index.ts';
import { asJson, deepEqual, errorMessage } from '../../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  foreignReason,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../../runtime/index.ts';
import { klog } from '../../klog.ts';
import { ensureBalancer, removeBalancer } from './balancer.ts';
import {
  balancerIdAnnotation,
  balancerName,
  balancerSpec,
  floatingIpDescription,
  internalAddress,
  wantsBalancer,
} from './balancer-spec.ts';
import { type CloudControllerRun, fieldManager } from './run.ts';

const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
/** Poll interval while octavia is busy. */
const busyMs = 1_000;

/** Provides Services of type LoadBalancer with an octavia load balancer and an address. */
export function serviceController(run: CloudControllerRun): ControllerDefinition {
  /** last applied spec by Service; while unchanged, no request to the cloud is needed */
  const made = new Map<string, string>();
  let balanced: () => ObjectKey[] = () => [];
  return defineController({
    name: 'service',
    for: Services,
    concurrency: 1,
    setup(cache) {
      const { lister } = cache.informer(Services);
      balanced = () => lister.list({ filter: wantsBalancer }).map(objectKey);
    },
    watches: [
      watchObjects(Services, {
        predicates: [({ object }) => object.spec.type === 'LoadBalancer' || hasFinalizer(object)],
      }),
      watchMapped(Nodes, () => balanced(), {
        predicates: [(event) => event.type !== 'update' || isMoved(event.old, event.object)],
      }),
    ],
    async reconcile(context, key) {
      const service = context.cache.lister(Services).get(key);
      const name = `${key.namespace}/${key.name}`;
      if (!service) {
        made.delete(name);
        return done();
      }
      try {
        if (wantsBalancer(service)) return await ensure(run, context, service, made);
        made.delete(name);
        return hasFinalizer(service) ? await remove(run, context, service) : done();
      } catch (error) {
        if (context.signal.aborted) throw error;
        const what = wantsBalancer(service) ? 'ensure' : 'delete';
        const message = `Error syncing load balancer: failed to ${what} load balancer: ${errorMessage(error)}`;
        context.events.event(service, 'Warning', foreignReason('SyncLoadBalancerFailed'), message);
        klog(
          run.process,
          'E',
          'controller.go:298',
          `error processing service ${name} (retrying with backoff): ${errorMessage(error)}`,
        );
        throw error;
      }
    },
  });
}

async function ensure(
  run: CloudControllerRun,
  { client, cache, events, signal }: ReconcileContext,
  service: Service,
  made: Map<string, string>,
): Promise<Result> {
  const { cloud, conf, clusterName } = run;
  const key = objectKey(service);
  const name = `${key.namespace}/${key.name}`;
  const desired = balancerSpec(service, cache.lister(Nodes).list(), conf, clusterName);
  const fingerprint = JSON.stringify({ ...desired, id: undefined });
  const hasAddress = (service.status?.loadBalancer?.ingress?.length ?? 0) > 0;
  const before = made.get(name);
  if (before === fingerprint && hasAddress) return done();
  if (before !== `making ${fingerprint}`) {
    made.set(name, `making ${fingerprint}`);
    events.event(service, 'Normal', foreignReason('EnsuringLoadBalancer'), 'Ensuring load balancer');
    klog(run.process, 'I', 'controller.go:401', `Ensuring load balancer for service ${name}`);
  }
  if (!hasFinalizer(service)) {
    const finalizers = [...(service.metadata.finalizers ?? []), finalizer];
    await client.patch(Services, key, 'merge', { metadata: { finalizers } }, { fieldManager });
  }
  const outcome = await ensureBalancer({ cloud, desired, signal }, floatingIpDescription(clusterName, service));
  if (outcome.id !== undefined && service.metadata.annotations?.[balancerIdAnnotation] !== outcome.id) {
    const metadata = { annotations: { [balancerIdAnnotation]: outcome.id } };
    await client.patch(Services, key, 'merge', { metadata }, { fieldManager });
  }
  if (outcome.kind === 'busy') return after(busyMs, 'octavia works on the load balancer');
  const ingress = [{ ip: outcome.address, ipMode: 'VIP' }];
  if (!deepEqual(asJson(service.status?.loadBalancer?.ingress ?? []), asJson(ingress))) {
    const status = { loadBalancer: { ingress: asJson(ingress) } };
    await client.patch(Services, key, 'merge', { status }, { fieldManager, subresource: 'status' });
  }
  made.set(name, fingerprint);
  events.event(service, 'Normal', foreignReason('EnsuredLoadBalancer'), 'Ensured load balancer');
  return done();
}

async function remove(
  run: CloudControllerRun,
  { client, events, signal }: ReconcileContext,
  service: Service,
): Promise<Result> {
  const { annotations = {}, finalizers = [] } = service.metadata;
  const key = objectKey(service);
  events.event(service, 'Normal', foreignReason('DeletingLoadBalancer'), 'Deleting load balancer');
  const isGone = await removeBalancer(
    { cloud: run.cloud, signal },
    {
      name: balancerName(run.clusterName, service),
      id: annotations[balancerIdAnnotation],
      keepsFloatingIp: annotations['loadbalancer.openstack.org/keep-floatingip'] === 'true',
    },
  );
  if (!isGone) return after(busyMs, 'octavia deletes the load balancer');
  events.event(service, 'Normal', foreignReason('DeletedLoadBalancer'), 'Deleted load balancer');
  if (service.metadata.deletionTimestamp === undefined) {
    const status = { loadBalancer: null };
    await client.patch(Services, key, 'merge', { status }, { fieldManager, subresource: 'status' });
  }
  const rest = finalizers.filter((each) => each !== finalizer);
  await client.patch(
    Services,
    key,
    'merge',
    { metadata: { finalizers: rest.length === 0 ? null : rest, annotations: { [balancerIdAnnotation]: null } } },
    { fieldManager },
  );
  return done();
}

function hasFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** Reports whether a node change affects load balancer members. Heartbeats do not. */
function isMoved(before: NodeFacts, now: NodeFacts): boolean {
  return (
    internalAddress(before) !== internalAddress(now) ||
    before.spec?.providerID !== now.spec?.providerID ||
    before.metadata.deletionTimestamp !== now.metadata.deletionTimestamp ||
    !deepEqual(before.metadata.labels, now.metadata.labels)
  );
}

type NodeFacts = Parameters<typeof internalAddress>[0];
