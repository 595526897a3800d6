import { ConfigMaps, PersistentVolumeClaims, type Pod, Pods, Secrets, Services } from '../../src/api/index.ts';
import type { KubeObject, Resource } from '../../src/machinery/index.ts';
import { collect } from '../../src/openstack/index.ts';
import { ensure } from './actions.ts';
import { type InjectedFault, injectFaultWith, onControllers } from './cloud-faults.ts';
import { namespace } from './cluster-manifests.ts';
import { etcdOf } from './hosted-invariants.ts';
import { workerHealthCheck } from './hosted-manifests.ts';
import { type HostedStory, namesOf, recoveryMs } from './hosted-story.ts';

/** Injects faults of a plane, caused by people or hardware without a request to the controllers. */
export async function injectPlaneFault(story: HostedStory): Promise<void> {
  const { client } = story.system;
  const pods = (await client.list(Pods, { namespace })).items;
  const groups = [
    onControllers(story),
    onPods(story, pods),
    onEtcd(story, pods),
    onHost(story),
    await onWorkers(story),
    await onObjects(story, Services, ({ metadata }) => metadata.name !== 'kubernetes'),
    await onObjects(story, Secrets, isOfPlane(story)),
    await onObjects(story, ConfigMaps, ({ metadata }) => metadata.ownerReferences !== undefined),
  ].filter((group) => group.length > 0);
  const group = groups[Math.floor(story.random.next() * groups.length)]!;
  await injectFaultWith(story, group[Math.floor(story.random.next() * group.length)]!);
  story.lastInjectedFault = story.system.clock.now();
}

const isEtcd =
  (story: HostedStory) =>
  ({ metadata }: Pod): boolean =>
    metadata.name?.startsWith(`${namesOf(story.desired).etcd}-`) ?? false;

const isWell = ({ metadata, status }: Pod): boolean =>
  !metadata.deletionTimestamp &&
  (status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') ?? false);

function onPods(story: HostedStory, pods: readonly Pod[]): InjectedFault[] {
  if (pods.length === 0) return [];
  const one = pods[Math.floor(story.random.next() * pods.length)]!;
  return [
    { what: `somebody deletes Pod ${one.metadata.name}`, land: () => killPods(story, [one], false) },
    { what: `Pod ${one.metadata.name} is killed`, land: () => killPods(story, [one], true) },
    { what: 'all Pods are killed at once', land: () => killPods(story, pods, true) },
  ];
}

function onEtcd(story: HostedStory, pods: readonly Pod[]): InjectedFault[] {
  const members = pods.filter(isEtcd(story));
  if (members.length === 0) return [];
  const blows: InjectedFault[] = [
    { what: 'all members of etcd are killed at once', land: () => killPods(story, members, true) },
  ];
  // A second lost member would lose the quorum.
  const etcd = etcdOf(story);
  const isWhole = etcd?.members.every(({ id, isLearner }) => !isLearner && etcd.isRunning(id)) ?? false;
  if (isWhole && etcd?.members.length === 3 && members.every(isWell)) {
    const lost = members[Math.floor(story.random.next() * members.length)]!;
    blows.push({
      what: `the volume of ${lost.metadata.name} is lost`,
      async land() {
        const name = `${namesOf(story.desired).etcdVolume}-${lost.metadata.name}`;
        await story.system.client.delete(PersistentVolumeClaims, { namespace, name });
        await killPods(story, [lost], true);
      },
    });
  }
  return blows;
}

/** kill -9 of the Pod runtime: all Pods stop at once and restart from their volumes. */
function onHost(story: HostedStory): InjectedFault[] {
  const { pods, clock } = story.system;
  if (!pods) return [];
  const land = (): void => {
    story.excusedUntil = clock.now() + recoveryMs;
    pods.crash();
  };
  return [{ what: 'the host of the Pods is killed', land }];
}

/** The server of a worker is lost. Only a health check replaces it. */
async function onWorkers(story: HostedStory): Promise<InjectedFault[]> {
  const { system, desired } = story;
  // kubeadm of another minor version cannot join.
  if (desired.kind !== 'k0smotron' && desired.version !== desired.workerVersion) return [];
  const [server] = await collect(system.admin.compute.servers.list({ allTenants: true }));
  if (!server) return [];
  const land = async (): Promise<void> => {
    // It is replaced in either case, faster with a health check.
    if (story.random.next() < 0.5) await ensure(story, workerHealthCheck(desired));
    story.hasNewWorkers = true;
    // A plane during an upgrade would meet new workers of the old version.
    story.reachedVersion = undefined;
    system.cloud.operator.deleteServer(server.id);
  };
  return [{ what: `worker ${server.name} is deleted in the cloud`, land }];
}

async function killPods(story: HostedStory, victims: readonly Pod[], atOnce: boolean): Promise<void> {
  const { client, clock } = story.system;
  const members = (await client.list(Pods, { namespace })).items.filter(isEtcd(story));
  const gone = new Set(victims.map(({ metadata }) => metadata.name));
  const left = members.filter((pod) => isWell(pod) && !gone.has(pod.metadata.name));
  if (members.some((pod) => gone.has(pod.metadata.name)) && left.length <= members.length / 2) {
    story.excusedUntil = clock.now() + recoveryMs;
  }
  for (const { metadata } of victims) {
    const key = { namespace, name: metadata.name ?? '' };
    await client.delete(Pods, key, atOnce ? { gracePeriodSeconds: 0 } : {}).catch(() => {});
  }
}

/** Includes CA Secrets: the loss of one Secret must not break the plane. */
function isOfPlane(story: HostedStory): (object: KubeObject) => boolean {
  const names = new Set(Object.values(namesOf(story.desired).secrets).map(({ name }) => name));
  return ({ metadata }) => names.has(metadata.name ?? '');
}

async function onObjects(
  story: HostedStory,
  resource: Resource<KubeObject>,
  isMeant: (object: KubeObject) => boolean,
): Promise<InjectedFault[]> {
  const { client } = story.system;
  const { items } = await client.list(resource, { namespace });
  return items.filter(isMeant).map(({ metadata }) => ({
    what: `somebody deletes ${resource.kind} ${metadata.name}`,
    land: async () => void (await client.delete(resource, { namespace, name: metadata.name ?? '' })),
  }));
}
