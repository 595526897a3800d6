import {
  ConfigMaps,
  type Deployment,
  Deployments,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  ReplicaSets,
  type Service,
  Services,
  type StatefulSet,
  StatefulSets,
} from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { isNotFound, type JsonObject, type KubeObject, type Resource } from '../../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchMapped,
  watchObjects,
} from '../../../../runtime/index.ts';
import type { FakeEtcd } from '../../etcd-client/testing/fake-etcd.ts';
import type { EtcdInPods } from './etcd-in-pods.ts';

const by = { fieldManager: 'fake-kubelet' };

export interface FakeHost {
  etcd: FakeEtcd;
  etcdInPods: EtcdInPods;
  /** exit message of components other than etcd; empty if they run */
  broken: string;
  /** whether load balancers get addresses */
  balances: boolean;
  nextAddress: number;
}

/** Minimal kubelet, load balancer controller and garbage collector. */
export function fakeHost(host: FakeHost): ControllerDefinition[] {
  const started = new Map<string, string>();
  return [
    defineController({
      name: 'fake-kubelet',
      for: Pods,
      watches: [watchObjects(Pods), watchMapped(ConfigMaps, () => []), watchMapped(PersistentVolumeClaims, () => [])],
      async reconcile(context, key) {
        const pod = context.cache.lister(Pods).get(key);
        if (pod) await runPod(context, host, pod, started);
        else host.etcd.stop(key.name);
        // readiness of the other members depends on which ones run
        const others = context.cache.lister(Pods).list();
        for (const other of others) await showReadiness(context, host, other, started);
        // probes notice membership changes
        const own = context.cache.lister(Pods).get(key);
        return own && isUnready(own) ? after(1_000, 'probes') : done();
      },
    }),
    defineController({
      name: 'fake-load-balancer',
      for: Services,
      async reconcile({ client, cache }, key) {
        const service: Service | undefined = cache.lister(Services).get(key);
        if (!host.balances || service?.spec?.type !== 'LoadBalancer' || service.status?.loadBalancer?.ingress)
          return done();
        const status = { loadBalancer: { ingress: [{ ip: `127.65.0.${host.nextAddress++}` }] } };
        await client.patch(Services, key, 'merge', { status } as JsonObject, { ...by, subresource: 'status' });
        return done();
      },
    }),
    ...[StatefulSets, Deployments].map((resource) =>
      defineController({
        name: `fake-collector-${resource.plural}`,
        for: resource,
        watches: [watchObjects(resource), watchMapped(Pods, (pod) => ofPod(pod, resource.kind))],
        setup(informers) {
          informers.informer(ReplicaSets);
        },
        async reconcile(context, key) {
          const set = context.cache.lister<StatefulSet | Deployment>(resource).get(key);
          if (set?.metadata.deletionTimestamp !== undefined) await collect(context, resource, set);
          return done();
        },
      }),
    ),
  ];
}

const isUnready = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') !== true;

function ofPod({ metadata }: Pod, kind: string) {
  const owner = metadata.ownerReferences?.[0];
  if (!owner) return [];
  const name = owner.kind === 'ReplicaSet' ? owner.name.replace(/-[^-]+$/, '') : owner.name;
  const isOf = owner.kind === kind || (owner.kind === 'ReplicaSet' && kind === 'Deployment');
  return isOf ? [{ namespace: metadata.namespace ?? '', name }] : [];
}

async function runPod(
  { client, cache }: ReconcileContext,
  host: FakeHost,
  pod: Pod,
  started: Map<string, string>,
): Promise<void> {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const container = pod.spec?.containers?.[0];
  const isEtcd = container?.name === 'etcd';
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (isEtcd) host.etcd.stop(name);
    await client.delete(Pods, objectKey(pod), { gracePeriodSeconds: 0 }).catch(ignoreAbsence);
    return;
  }
  if (started.has(uid)) return;
  if (!isEtcd) {
    started.set(uid, '');
    return;
  }
  // a predecessor with the same name may have gone unseen; stop its member too
  host.etcd.stop(name);
  const set = name.replace(/-\d+$/, '');
  const settings = cache.lister(ConfigMaps).get({ namespace, name: `${set}-settings` })?.data ?? {};
  // Pods of another program have them in their template
  const given = container.env?.find((variable) => variable.name === 'ETCD_INITIAL_CLUSTER')?.value;
  const volume = cache.lister(PersistentVolumeClaims).get({ namespace, name: `etcd-data-${name}` })?.metadata.uid;
  const problem =
    host.etcdInPods.start({
      name,
      volume: volume ?? uid,
      initialCluster: given ?? settings['ETCD_INITIAL_CLUSTER'] ?? '',
      initialClusterState: given === undefined ? (settings['ETCD_INITIAL_CLUSTER_STATE'] ?? '') : 'new',
    }) ?? '';
  started.set(uid, problem);
}

async function showReadiness(
  { client }: ReconcileContext,
  host: FakeHost,
  pod: Pod,
  started: Map<string, string>,
): Promise<void> {
  const { name = '', uid = '' } = pod.metadata;
  const container = pod.spec?.containers?.[0];
  if (pod.metadata.deletionTimestamp !== undefined || !started.has(uid) || !container) return;
  const isEtcd = container.name === 'etcd';
  const problem = (isEtcd ? '' : host.broken) || started.get(uid) || '';
  const isReady = problem === '' && (!isEtcd || host.etcd.isReady(name));
  const before = pod.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const waits = pod.status?.containerStatuses?.[0]?.state?.waiting?.reason;
  if (before === (isReady ? 'True' : 'False') && (waits !== undefined) === (problem !== '')) return;
  const state = problem === '' ? { running: {} } : { waiting: { reason: 'CrashLoopBackOff' } };
  const status = {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    containerStatuses: [
      {
        name: container.name,
        image: container.image ?? '',
        imageID: '',
        ready: isReady,
        restartCount: 0,
        state,
        lastState: problem === '' ? {} : { terminated: { exitCode: 1, message: problem } },
      },
    ],
  };
  await client
    .patch(Pods, objectKey(pod), 'merge', { status } as JsonObject, { ...by, subresource: 'status' })
    .catch(ignoreAbsence);
}

/** Deletes Pods first, then their foreground-deleted set. */
async function collect(
  { client, cache }: ReconcileContext,
  resource: Resource<KubeObject>,
  set: KubeObject,
): Promise<void> {
  const { namespace = '', uid } = set.metadata;
  if (set.metadata.finalizers?.includes('orphan')) {
    const left = cache
      .lister(Pods)
      .list({ namespace, filter: ({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid });
    for (const pod of left) {
      await client
        .patch(Pods, objectKey(pod), 'merge', { metadata: { ownerReferences: null } }, by)
        .catch(ignoreAbsence);
    }
    await client.patch(resource, objectKey(set), 'merge', { metadata: { finalizers: [] } }, by);
    return;
  }
  const below = cache
    .lister(ReplicaSets)
    .list({ namespace, filter: ({ metadata }) => metadata.ownerReferences?.[0]?.uid === uid });
  const owners = new Set([uid, ...below.map(({ metadata }) => metadata.uid)]);
  for (const replicaSet of below) await client.delete(ReplicaSets, objectKey(replicaSet)).catch(ignoreAbsence);
  const pods = cache
    .lister(Pods)
    .list({ namespace, filter: ({ metadata }) => owners.has(metadata.ownerReferences?.[0]?.uid) });
  for (const pod of pods) await client.delete(Pods, objectKey(pod), { gracePeriodSeconds: 0 }).catch(ignoreAbsence);
  if (pods.length === 0)
    await client.patch(resource, objectKey(set), 'merge', { metadata: { finalizers: [] } }, by).catch(ignoreAbsence);
}

function ignoreAbsence(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
