import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Clusters,
  clusterNameLabel,
  Deployments,
  HostedControlPlanes,
  Namespaces,
  NetworkPolicies,
  PersistentVolumeClaims,
  PodDisruptionBudgets,
  Pods,
  ReferenceGrants,
  Secrets,
  Services,
  StatefulSets,
} from '../../../api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../../machinery/index.ts';
import { CoreEvents } from '../../../runtime/index.ts';
import { conditionOf, isTrue } from '../../shared/index.ts';
import { by } from '../../testing/world.ts';
import { worldsOfTests } from '../plane-driver/testing/hosting-world.ts';
import {
  clusterName,
  controlPlaneName,
  createControlPlane,
  createGateway,
  createHostedWorld,
  Gateways,
  type HostedWorld,
  TlsRoutes,
} from './testing/hosted-world.ts';

const minute = 60_000;
const start = worldsOfTests(createHostedWorld);

const untilAvailable = (world: HostedWorld): Promise<void> =>
  world.until(async () => isTrue(await world.controlPlane(), 'Available'));
const change = async (world: HostedWorld, spec: JsonObject): Promise<void> => {
  const key = { namespace: world.namespace, name: controlPlaneName };
  await world.client.patch(HostedControlPlanes, key, 'merge', { spec }, by);
};

describe('a HostedControlPlane', () => {
  let world: HostedWorld;
  beforeAll(async () => {
    world = await createHostedWorld();
    await createGateway(world);
    await createControlPlane(world);
    await untilAvailable(world);
  });
  afterAll(() => world.stop());

  it('becomes available with three API servers and three etcd members', async () => {
    await world.until(async () => (await world.controlPlane()).status?.readyReplicas === 3);
    expect((await world.controlPlane()).status).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      ready: true,
      externalManagedControlPlane: true,
      version: 'v1.33.6',
      replicas: 3,
      availableReplicas: 3,
      upToDateReplicas: 3,
      legacyIP: '127.65.0.1',
    });
    expect((await world.find(StatefulSets, 'c1-etcd'))?.spec.replicas).toBe(3);
    expect((await world.list(Deployments)).map(({ metadata }) => metadata.name)).toEqual(['c1-api-server']);
  });

  it('runs all its programs in every Pod with the label of its cluster', async () => {
    await world.until(async () => (await world.controlPlane()).status?.readyReplicas === 3);
    const { items } = await world.client.list(Pods, {
      namespace: world.namespace,
      labelSelector: `${clusterNameLabel}=${clusterName}`,
    });
    expect(items.map(({ spec }) => spec.containers.map(({ name }) => name))).toEqual(
      Array.from({ length: 3 }, () => [
        'kube-apiserver',
        'konnectivity-server',
        'kube-controller-manager',
        'kube-scheduler',
      ]),
    );
    const [manager] = items[0]!.spec.containers.filter(({ name }) => name === 'kube-controller-manager');
    expect(manager?.args).toContain('--leader-elect=true');
    // a compromised API server must not expose the CA key
    const sources = items[0]!.spec.volumes?.find(({ name }) => name === 'etc-kubernetes-pki')?.projected?.sources;
    expect(JSON.stringify(sources)).not.toContain('"ca.key"');
    const kubeconfig = await world.find(Secrets, 'c1-kube-controller-manager-kubeconfig');
    expect(Buffer.from(kubeconfig?.data?.['value'] ?? '', 'base64').toString()).toContain(
      'server: https://localhost:6443',
    );
  });

  it('is reached through the Gateway under a name of the Gateway domain', async () => {
    const host = `c1.${world.namespace}.planes.example.org`;
    await world.until(async () => (await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint !== undefined);
    expect((await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint).toEqual({ host, port: 443 });
    const route = await world.find(TlsRoutes, 'c1');
    expect(route?.spec).toMatchObject({ hostnames: [host], parentRefs: [{ name: 'planes' }] });
    const service = await world.find(Services, 's-c1');
    expect(service?.spec.ports?.map(({ port }) => port).sort()).toEqual([443, 6443, 8132]);
    const kubeconfig = await world.find(Secrets, 'c1-kubeconfig');
    expect(Buffer.from(kubeconfig?.data?.['value'] ?? '', 'base64').toString()).toContain(`https://${host}:443`);
  });

  it('enables NodeRestriction for kubelets', async () => {
    const deployment = await world.find(Deployments, 'c1-api-server');
    const container = deployment?.spec.template?.spec?.containers.find(({ args }) =>
      args?.some((arg) => arg.startsWith('--etcd-servers')),
    );
    expect(container?.args?.find((arg) => arg.startsWith('--enable-admission-plugins'))).toContain('NodeRestriction');
  });

  it('has a condition for every step', async () => {
    const controlPlane = await world.controlPlane();
    for (const type of [
      'CACertificatesReady',
      'CABundleReady',
      'APIServerServiceReady',
      'SyncControlPlaneEndpointReady',
      'APIServerTLSRoutesReady',
      'CertificatesReady',
      'EtcdClusterReady',
      'InternalKubeconfigReady',
      'APIServerDeploymentsReady',
      'AdminKubeconfigReady',
      'Ready',
    ]) {
      expect(conditionOf(controlPlane, type)?.status, type).toBe('True');
    }
  });

  it('writes nothing when all is as desired', async () => {
    await world.pass(15 * minute);
    const before = world.writes();
    await world.pass(minute);
    expect(world.writes()).toBe(before);
  });

  it('deletes everything it created when it is deleted', async () => {
    await world.client.delete(Clusters, { namespace: world.namespace, name: clusterName });
    await world.until(async () => (await world.find(Clusters, clusterName)) === undefined);
    expect(await world.find(HostedControlPlanes, controlPlaneName)).toBeUndefined();
    expect(await world.find(Deployments, 'c1-api-server')).toBeUndefined();
    expect(await world.list(PersistentVolumeClaims)).toEqual([]);
  });
});

describe('a change of a HostedControlPlane', () => {
  it('scales it, hibernates it at zero replicas and starts it again', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 1 });
    await untilAvailable(world);
    await change(world, { replicas: 2 });
    await world.until(async () => (await world.controlPlane()).status?.readyReplicas === 2);
    await change(world, { replicas: 0 });
    await world.until(async () => conditionOf(await world.controlPlane(), 'Available')?.reason === 'Hibernated');
    await change(world, { replicas: 1 });
    await untilAvailable(world);
  });

  it('is ignored and reported once for an argument that the plane sets itself', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 1 });
    await untilAvailable(world);
    const told = async () => (await world.list(CoreEvents)).filter(({ reason }) => reason === 'ArgumentOverridden');
    expect(await told()).toEqual([]);
    await change(world, { deployment: { apiServer: { args: { 'secure-port': '7443', 'event-ttl': '2h' } } } });
    const condition = async () => conditionOf(await world.controlPlane(), 'ArgumentsAccepted');
    await world.until(async () => (await condition())?.status === 'False');
    await world.until(async () => (await told()).length > 0);
    const message =
      'without effect, because the control plane sets them itself: kube-apiserver --secure-port; take them out';
    expect(await condition()).toMatchObject({ reason: 'ArgumentOverridden', message });
    await world.restart();
    await world.pass(10 * minute);
    expect(await told()).toMatchObject([{ type: 'Warning', message, count: 1 }]);
    await untilAvailable(world);
    await change(world, { deployment: { apiServer: { args: null } } });
    await world.until(async () => (await condition()) === undefined);
  });

  it('to a deleted Gateway is reported, and a new Gateway is used', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 1 });
    await untilAvailable(world);
    const generation = async () => (await world.find(Deployments, 'c1-api-server'))?.metadata.generation;
    const before = await generation();
    await world.client.delete(Gateways, { namespace: world.namespace, name: 'planes' });
    world.setWorkloadDown(true);
    const condition = async (type: string) => conditionOf(await world.controlPlane(), type);
    await world.until(async () => (await condition('Available'))?.reason === 'GatewayNotUsable');
    expect((await condition('APIServerTLSRoutesReady'))?.message).toBe(
      `Gateway ${world.namespace}/planes does not exist`,
    );
    await createGateway(world);
    world.setWorkloadDown(false);
    await untilAvailable(world);
    expect(await generation()).toBe(before);
  });

  it('to the priority of one program causes a warning, because all share a Pod', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 1, deployment: { scheduler: { priorityClassName: 'low' } } });
    await untilAvailable(world);
    const warnings = async () =>
      (await world.client.list(CoreEvents, { namespace: world.namespace })).items.filter(
        ({ reason }) => reason === 'SettingWithoutEffect',
      );
    await world.until(async () => (await warnings()).length === 1);
    expect((await warnings())[0]?.message).toContain('deployment.scheduler.priorityClassName');
  });

  it('to zero replicas of a program omits that program', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 1, deployment: { scheduler: { replicas: 0 } } });
    await untilAvailable(world);
    const deployment = await world.find(Deployments, 'c1-api-server');
    const names = deployment?.spec.template?.spec?.containers.map(({ name }) => name);
    expect(names).toEqual(['kube-apiserver', 'konnectivity-server', 'kube-controller-manager']);
  });

  it('to one replica deletes the PodDisruptionBudget', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 2 });
    await untilAvailable(world);
    expect(await world.find(PodDisruptionBudgets, 'c1-api-server')).toBeDefined();
    await change(world, { replicas: 1 });
    await world.until(async () => (await world.find(PodDisruptionBudgets, 'c1-api-server')) === undefined);
    expect(await world.find(PodDisruptionBudgets, 'c1-etcd')).toBeDefined();
  });

  it('to a newer version upgrades it', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 1 });
    await untilAvailable(world);
    await change(world, { version: 'v1.34.2' });
    await world.until(async () => (await world.controlPlane()).status?.version === 'v1.34.2');
  });
});

describe('a HostedControlPlane that does not become available', () => {
  it('reports a missing Gateway, and continues when it exists', async () => {
    const world = await start();
    await createControlPlane(world, { replicas: 1 });
    const condition = async () => conditionOf(await world.controlPlane(), 'Available');
    await world.until(async () => (await condition())?.status === 'False');
    await world.until(async () => (await condition())?.message?.includes('does not exist') === true);
    await createGateway(world);
    await untilAvailable(world);
  });

  it('reports a Gateway of another namespace that does not admit its routes', async () => {
    const world = await start();
    const { client, namespace } = world;
    const other = `${namespace}-gateways`;
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } }, by);
    await createGateway({ ...world, namespace: other });
    const key = { namespace: other, name: 'planes' };
    const allow = async (namespaces: object): Promise<void> => {
      const [listener] = ((await client.get(Gateways, key))['spec'] as { listeners: object[] }).listeners;
      const spec = { listeners: [{ ...listener, allowedRoutes: { namespaces } }] };
      await client.patch(Gateways, key, 'merge', { spec } as never, by);
    };
    await allow({ from: 'Selector', selector: { matchLabels: { planes: 'welcome' } } });
    await createControlPlane(world, { replicas: 1, gateway: key });
    const available = async () => conditionOf(await world.controlPlane(), 'Available');
    await world.until(async () => (await available())?.reason === 'GatewayNotUsable');
    // the message for a missing Gateway is the same and reveals nothing about the Gateway
    expect((await available())?.message).toBe(
      `Gateway ${other}/planes does not exist, or allowedRoutes of its listeners do not let namespace ${namespace} use it`,
    );
    const warnings = async () =>
      (await client.list(CoreEvents, { namespace })).items.filter(({ reason }) => reason === 'GatewayNotUsable');
    await world.until(async () => (await warnings()).length === 1);
    await client.patch(Namespaces, { name: namespace }, 'merge', { metadata: { labels: { planes: 'welcome' } } }, by);
    await untilAvailable(world);
  });

  it('without a Gateway uses the load balancer of its Service', async () => {
    const world = await start();
    await createControlPlane(world, { gateway: { name: '', namespace: 'default' } });
    await untilAvailable(world);
    const service = await world.find(Services, 's-c1');
    const [address] = service?.status?.loadBalancer?.ingress ?? [];
    expect((await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint).toEqual({
      host: address?.ip,
      port: 6443,
    });
    expect(await world.list(TlsRoutes)).toEqual([]);
  });

  it('reports a Secret of another namespace until a ReferenceGrant exists', async () => {
    const world = await start();
    await createGateway(world);
    const { client, namespace } = world;
    const other = `${namespace}-other`;
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } }, by);
    const data = { token: Buffer.from('s3cret').toString('base64') };
    await client.create(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'theirs', namespace: other }, data },
      by,
    );
    const authentication = { secretName: 'theirs', secretNamespace: other };
    const targets = [{ server: 'https://audit.example.org', authentication }];
    const audit = { policy: { rules: [{ level: 'Metadata' }] }, webhook: { targets } };
    await createControlPlane(world, { replicas: 1, deployment: { apiServer: { audit } } } as never);
    const available = async () => conditionOf(await world.controlPlane(), 'Available');
    await world.until(async () => (await available())?.reason === 'ReferenceNotGranted');
    const message = (await available())?.message ?? '';
    expect(message).toBe(
      `the token of an audit target: Secret ${other}/theirs is in another namespace, and no ReferenceGrant there lets ` +
        `HostedControlPlane objects (group controlplane.cluster.x-k8s.io) of namespace ${namespace} refer to it`,
    );
    // without a grant the message does not reveal what exists
    await client.delete(Secrets, { namespace: other, name: 'theirs' });
    await change(world, { replicas: 2 });
    await world.until(async () => (await world.controlPlane()).status?.observedGeneration === 2);
    expect((await available())?.message).toBe(message);
    expect(await world.find(Secrets, 'c1-audit-webhook')).toBeUndefined();
    await client.create(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'theirs', namespace: other }, data },
      by,
    );
    const grant = (name: string, from: object, to: object): Promise<unknown> =>
      client.create(
        ReferenceGrants,
        {
          apiVersion: 'gateway.networking.k8s.io/v1',
          kind: 'ReferenceGrant',
          metadata: { name, namespace: other },
          spec: { from: [from], to: [to] },
        } as never,
        by,
      );
    const from = { group: 'controlplane.cluster.x-k8s.io', kind: 'HostedControlPlane', namespace };
    await grant('another-secret', from, { group: '', kind: 'Secret', name: 'another' });
    await grant('another-kind', { ...from, kind: 'KamajiControlPlane' }, { group: '', kind: 'Secret' });
    await grant('another-namespace', { ...from, namespace: 'third' }, { group: '', kind: 'Secret' });
    await change(world, { replicas: 3 });
    await world.until(async () => (await world.controlPlane()).status?.observedGeneration === 3);
    expect((await available())?.reason).toBe('ReferenceNotGranted');
    await grant('right', from, { group: '', kind: 'Secret', name: 'theirs' });
    await untilAvailable(world);
    const secret = await world.find(Secrets, 'c1-audit-webhook');
    expect(Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64').toString()).toContain('token: s3cret');
  });

  it('reports a backup Secret of another namespace in the condition EtcdBackupReady', async () => {
    const world = await start();
    await createGateway(world);
    const secret = { namespace: 'kube-system', name: 'bucket' };
    await createControlPlane(world, { replicas: 1, etcd: { backup: { schedule: '* * * * *', secret } } } as never);
    const backup = async () => conditionOf(await world.controlPlane(), 'EtcdBackupReady');
    await world.until(async () => (await backup())?.reason === 'BackupFailed');
    expect((await backup())?.message).toMatch(
      /^Secret kube-system\/bucket is in another namespace, and no ReferenceGrant/,
    );
  });

  it('refuses a directory of the management host for backups', async () => {
    const world = await start();
    await createGateway(world);
    await createControlPlane(world, { replicas: 1 });
    const annotations = {
      'controlplane.cluster.x-k8s.io/backup-schedule': '* * * * *',
      'controlplane.cluster.x-k8s.io/backup-directory': '/tmp/capstan-must-not-be-made',
    };
    const key = { namespace: world.namespace, name: controlPlaneName };
    await world.client.patch(HostedControlPlanes, key, 'merge', { metadata: { annotations } }, by);
    const backup = async () => conditionOf(await world.controlPlane(), 'EtcdBackupReady');
    await world.until(async () => (await backup())?.reason === 'BackupRefused');
    expect((await backup())?.message).toContain('backup-directory is not followed');
  });

  it('reports a missing audit token, and accepts several audit targets', async () => {
    const world = await start();
    await createGateway(world);
    const audit = (targets: object[]): JsonObject =>
      ({
        deployment: { apiServer: { audit: { policy: { rules: [{ level: 'Metadata' }] }, webhook: { targets } } } },
      }) as never;
    const server = 'https://audit.example.org';
    const reason = async () => conditionOf(await world.controlPlane(), 'Available')?.reason;
    const authentication = { secretName: 'audit-token' };
    await createControlPlane(world, { replicas: 1, ...(audit([{ server, authentication }]) as object) });
    await world.until(async () => (await reason()) === 'AuditTokenMissing');
    await world.client.create(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'audit-token', namespace: world.namespace },
        data: { token: Buffer.from('s3cret').toString('base64') },
      },
      by,
    );
    await untilAvailable(world);
    const secret = await world.find(Secrets, 'c1-audit-webhook');
    expect(Buffer.from(secret?.data?.['kubeconfig'] ?? '', 'base64').toString()).toContain('token: s3cret');
    await change(world, audit([{ server, authentication }, { server: 'https://other.example.org' }]));
    const text = async (key: string): Promise<string> =>
      Buffer.from((await world.find(Secrets, 'c1-audit-webhook'))?.data?.[key] ?? '', 'base64').toString();
    await world.until(async () => (await text('kubeconfig')).includes('server: http://127.0.0.1:8090'));
    expect(await text('nginx.conf')).toMatch(/Bearer s3cret"[\s\S]*proxy_pass https:\/\/other\.example\.org\//);
    const containers = async () =>
      (await world.find(Deployments, 'c1-api-server'))?.spec.template?.spec?.containers.map(({ name }) => name);
    await world.until(async () => (await containers())?.includes('audit-relay') === true);
    await untilAvailable(world);
    await change(world, audit([{ server }]));
    await world.until(async () => (await containers())?.includes('audit-relay') === false);
    expect(await text('nginx.conf')).toBe('');
  });
});

describe('a HostedControlPlane of an earlier version', () => {
  const part = (name: string) => ({ [clusterNameLabel]: clusterName, 'app.kubernetes.io/component': name });

  /** Restores the old layout: a Deployment per component, with Pods labeled by cluster name. */
  async function setBack(world: HostedWorld): Promise<void> {
    const { client, namespace } = world;
    const { ownerReferences } = (await world.find(Deployments, 'c1-api-server'))!.metadata;
    const owned = (apiVersion: string, kind: string, name: string) => ({
      apiVersion,
      kind,
      metadata: { name: `c1-${name}`, namespace, labels: part(name), ownerReferences: ownerReferences! },
    });
    for (const name of ['controller-manager', 'scheduler']) {
      const template = {
        metadata: { labels: part(name) },
        spec: { containers: [{ name: `kube-${name}`, image: 'x' }] },
      };
      const spec = { replicas: 2, selector: { matchLabels: part(name) }, template };
      await client.create(Deployments, { ...owned('apps/v1', 'Deployment', name), spec } as never, by);
      const budget = { minAvailable: 1, selector: { matchLabels: part(name) } };
      await client.create(
        PodDisruptionBudgets,
        { ...owned('policy/v1', 'PodDisruptionBudget', name), spec: budget } as never,
        by,
      );
      const policy = { podSelector: { matchLabels: part(name) }, policyTypes: ['Ingress'] };
      await client.create(
        NetworkPolicies,
        { ...owned('networking.k8s.io/v1', 'NetworkPolicy', name), spec: policy } as never,
        by,
      );
    }
    const set = (await world.find(StatefulSets, 'c1-etcd'))!;
    await client.delete(StatefulSets, { namespace, name: 'c1-etcd' }, { propagationPolicy: 'Orphan' });
    await world.until(async () => (await world.find(StatefulSets, 'c1-etcd')) === undefined);
    const labels = { ...part('etcd'), 'controlplane.cluster.x-k8s.io/plane': null };
    const kept: Resource<KubeObject>[] = [Pods, PersistentVolumeClaims];
    for (const resource of kept) {
      for (const { metadata } of await world.list(resource)) {
        if (!/etcd-\d$/.test(metadata.name ?? '')) continue;
        await client.patch(resource, { namespace, name: metadata.name! }, 'merge', { metadata: { labels } }, by);
      }
    }
    const former = structuredClone(set);
    former.metadata = { name: 'c1-etcd', namespace, labels: part('etcd'), ownerReferences: ownerReferences! };
    former.spec.selector = { matchLabels: part('etcd') };
    former.spec.template!.metadata!.labels = part('etcd');
    former.spec.volumeClaimTemplates![0]!.metadata!.labels = part('etcd');
    await client.create(StatefulSets, former, by);
    await world.until(async () => (await world.find(StatefulSets, 'c1-etcd'))?.status?.readyReplicas === 3);
  }

  it('moves its programs into one Pod and relabels etcd without losing a member', async () => {
    const world = await start();
    const { client, namespace } = world;
    await createGateway(world);
    await createControlPlane(world);
    await untilAvailable(world);
    const claims = async () => (await world.list(PersistentVolumeClaims)).map(({ metadata }) => metadata.uid).sort();
    const before = await claims();
    const pause = (paused: boolean) =>
      client.patch(Clusters, { namespace, name: clusterName }, 'merge', { spec: { paused } }, by);
    await pause(true);
    await setBack(world);
    const podsOfCluster = async () =>
      (await client.list(Pods, { namespace, labelSelector: `${clusterNameLabel}=${clusterName}` })).items;
    await world.until(async () => (await podsOfCluster()).length === 3 + 3 + 4);

    await pause(false);
    await world.until(
      async () => (await podsOfCluster()).every(({ spec }) => spec.containers[0]?.name === 'kube-apiserver'),
      30 * minute,
    );
    await untilAvailable(world);
    expect((await world.list(Deployments)).map(({ metadata }) => metadata.name)).toEqual(['c1-api-server']);
    expect((await world.list(PodDisruptionBudgets)).map(({ metadata }) => metadata.name).sort()).toEqual([
      'c1-api-server',
      'c1-etcd',
    ]);
    expect((await world.list(NetworkPolicies)).map(({ metadata }) => metadata.name).sort()).toEqual([
      'c1-api-server',
      'c1-etcd',
    ]);
    await world.until(async () => (await world.find(StatefulSets, 'c1-etcd'))?.status?.readyReplicas === 3);
    expect(await claims()).toEqual(before);
  });
});
