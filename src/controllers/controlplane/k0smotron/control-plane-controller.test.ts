import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  Clusters,
  ConfigMaps,
  Ingresses,
  K0smotronClusters,
  K0smotronControlPlanes,
  Namespaces,
  PersistentVolumeClaims,
  Secrets,
  Services,
  StatefulSets,
} from '../../../api/index.ts';
import { conditionOf, isTrue } from '../../shared/index.ts';
import { FakeClusters } from '../../testing/provider-kinds.ts';
import { by } from '../../testing/world.ts';
import { worldsOfTests } from '../plane-driver/testing/hosting-world.ts';
import {
  clusterName,
  controlPlaneName,
  createControlPlane,
  createK0smotronWorld,
  createPlane,
  guideSpec,
  type K0smotronWorld,
} from './testing/k0smotron-world.ts';

const minute = 60_000;
const start = worldsOfTests(async (options: Parameters<typeof createK0smotronWorld>[0] = {}) => {
  const world = await createK0smotronWorld(options);
  const kubeSystem = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system' } };
  await world.workload.create(Namespaces, kubeSystem, by);
  return world;
});

const untilAvailable = (world: K0smotronWorld): Promise<void> =>
  world.until(async () => {
    const controlPlane = await world.controlPlane();
    return isTrue(controlPlane, 'Available') && controlPlane.status?.readyReplicas === controlPlane.spec.replicas;
  });
const change = async (world: K0smotronWorld, spec: object): Promise<void> => {
  const key = { namespace: world.namespace, name: controlPlaneName };
  await world.client.patch(K0smotronControlPlanes, key, 'merge', { spec } as never, by);
};

describe('a K0smotronControlPlane of the guide', () => {
  it('may set no version, and warns about a chart that would mount nothing', async () => {
    const world = await start();
    const charts = [
      { chartname: 'openstack/openstack-cinder-csi', name: 'csi', namespace: 'kube-system', version: '2' },
    ];
    const k0sConfig = { ...guideSpec.k0sConfig, spec: { extensions: { helm: { charts } } } };
    await createControlPlane(world, { ...guideSpec, k0sConfig, version: null as never });
    expect((await world.controlPlane()).spec.version ?? undefined).toBeUndefined();
    await untilAvailable(world);
    expect((await world.controlPlane()).status?.version).toBe('v1.32.6+k0s.0');
    await world.until(async () => conditionOf(await world.controlPlane(), 'ArgumentsAccepted') !== undefined);
    expect(conditionOf(await world.controlPlane(), 'ArgumentsAccepted')).toMatchObject({
      status: 'False',
      reason: 'ChartUnsuitable',
      message: expect.stringContaining('/var/lib/k0s/kubelet'),
    });
  });

  it('becomes available and sets the status fields of the contract', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await world.until(async () => (await world.find(Clusters, clusterName))?.metadata.annotations !== undefined);
    expect((await world.controlPlane()).status).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      externalManagedControlPlane: true,
      version: 'v1.32.6+k0s.0',
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      upToDateReplicas: 1,
      selector: 'app=k0smotron,cluster=c1,component=cluster',
    });
    const cluster = await world.find(Clusters, clusterName);
    expect(cluster?.spec.controlPlaneEndpoint).toEqual({ host: '127.65.0.1', port: 6443 });
    expect(cluster?.metadata.annotations?.['k0sproject.io/cluster-id']).toMatch(/^kube-system:.+/);
    expect((await world.find(FakeClusters, clusterName))?.['spec']).toMatchObject({
      controlPlaneEndpoint: { host: '127.65.0.1', port: 6443 },
    });
    const set = await world.find(StatefulSets, 'kmc-c1');
    expect(set?.spec.template?.spec?.containers?.[0]?.image).toBe('ghcr.io/k0sproject/k0s:v1.32.6-k0s.0');
    expect((await world.find(StatefulSets, 'kmc-c1-etcd'))?.spec.replicas).toBe(1);
    for (const name of ['c1-ca', 'c1-sa', 'c1-proxy', 'c1-etcd', 'c1-kubeconfig']) {
      expect(await world.find(Secrets, name), name).toBeDefined();
    }
  });

  it('has its Service under two names', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    expect((await world.find(Services, 'kmc-c1-lb'))?.status?.loadBalancer?.ingress).toMatchObject([
      { ip: '127.65.0.1' },
    ]);
    await world.until(
      async () =>
        (await world.find(Services, controlPlaneName))?.status?.loadBalancer?.ingress?.[0]?.ip === '127.65.0.1',
    );
  });

  it('leaves a Service of that name alone when somebody else owns it', async () => {
    const world = await start();
    const { namespace, client } = world;
    const spec = { ports: [{ port: 80 }], selector: { app: 'mine' } };
    const metadata = { name: controlPlaneName, namespace };
    await client.create(Services, { apiVersion: 'v1', kind: 'Service', metadata, spec }, by);
    await createControlPlane(world);
    await untilAvailable(world);
    expect((await world.find(Services, controlPlaneName))?.spec?.selector).toEqual({ app: 'mine' });
  });

  it('does not change the spec written by the user', async () => {
    const world = await start();
    await createControlPlane(world);
    const before = (await world.controlPlane()).spec;
    await untilAvailable(world);
    expect((await world.controlPlane()).spec).toEqual(before);
    const plane = await world.plane();
    expect(plane?.spec).toEqual(expect.objectContaining(before));
    expect(plane?.spec.externalAddress).toBeUndefined();
    expect(plane?.status?.controlPlaneEndpoint).toMatchObject({ host: '127.65.0.1' });
  });

  it('moves a discovered address from the spec of the plane to its status', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    const endpoint = (await world.plane())?.status?.controlPlaneEndpoint;
    const key = { namespace: world.namespace, name: 'c1' };
    const observed = { spec: { externalAddress: '127.65.0.9' } };
    await world.client.patch(K0smotronClusters, key, 'merge', observed, { fieldManager: 'manager' });
    await world.until(async () => (await world.plane())?.spec.externalAddress === undefined);
    await world.pass(minute);
    expect((await world.plane())?.status?.controlPlaneEndpoint).toEqual(endpoint);
    expect((await world.find(Clusters, 'c1'))?.spec.controlPlaneEndpoint?.host).toBe('127.65.0.1');
  });

  it('writes nothing when nothing changes', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await world.pass(minute);
    const writes = world.writes();
    await world.pass(10 * minute);
    expect(world.writes()).toBe(writes);
  });

  it('reports what it waits for', async () => {
    const world = await start({ balances: false });
    await createControlPlane(world);
    await world.until(
      async () => conditionOf(await world.controlPlane(), 'Available')?.reason === 'WaitingForLoadBalancer',
    );
    expect(conditionOf(await world.controlPlane(), 'Available')?.message).toMatch(/kmc-c1-lb/);
    expect((await world.controlPlane()).status?.externalManagedControlPlane).toBe(true);
  });
});

describe('a change of a K0smotronControlPlane', () => {
  it('scales controllers and etcd up and down', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await change(world, { replicas: 3 });
    await world.until(async () => (await world.controlPlane()).status?.readyReplicas === 3);
    await world.until(() => world.etcd.members.length === 3);
    await change(world, { replicas: 1 });
    await world.until(async () => (await world.controlPlane()).status?.replicas === 1);
    await world.until(() => world.etcd.members.length === 1);
    expect(world.etcd.violations).toEqual([]);
  });

  it('upgrades the version and keeps its spelling', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await change(world, { image: 'ghcr.io/k0sproject/k0s', version: 'v1.33.1-k0s.0' });
    await world.until(async () => (await world.controlPlane()).status?.version === 'v1.33.1-k0s.0');
    expect((await world.controlPlane()).status?.upToDateReplicas).toBe(1);
  });

  it('hibernates the plane and starts it again', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await change(world, { replicas: 0 });
    await world.until(async () => (await world.controlPlane()).status?.replicas === 0);
    await world.until(async () => (await world.find(StatefulSets, 'kmc-c1-etcd'))?.spec.replicas === 0);
    expect((await world.controlPlane()).status).toMatchObject({
      version: 'v1.32.6+k0s.0',
      initialization: { controlPlaneInitialized: true },
    });
    await change(world, { replicas: 1 });
    await world.until(async () => (await world.controlPlane()).status?.readyReplicas === 1);
    await untilAvailable(world);
  });

  it('waits while the Cluster is paused', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    const key = { namespace: world.namespace, name: clusterName };
    await world.client.patch(Clusters, key, 'merge', { spec: { paused: true } }, by);
    await world.until(async () => isTrue(await world.controlPlane(), 'Paused'));
    await change(world, { replicas: 3 });
    await world.pass(10 * minute);
    expect((await world.find(StatefulSets, 'kmc-c1'))?.spec.replicas).toBe(1);
    await world.client.patch(Clusters, key, 'merge', { spec: { paused: null } }, by);
    await world.until(async () => (await world.controlPlane()).status?.readyReplicas === 3);
  });
});

describe('a K0smotronControlPlane behind an Ingress', () => {
  it('is reached by its API name from outside, from Nodes and from Pods', async () => {
    const world = await start();
    const ingress = {
      apiHost: 'api.example.org',
      konnectivityHost: 'konnectivity.example.org',
      className: 'nginx',
      annotations: { 'nginx.ingress.kubernetes.io/ssl-passthrough': 'true' },
    };
    const { image: _, ...rest } = guideSpec;
    await createControlPlane(world, { ...rest, version: 'v1.34.1+k0s.0', service: { type: 'ClusterIP' }, ingress });
    await untilAvailable(world);
    const endpoint = { host: 'api.example.org', port: 443 };
    await world.until(async () => (await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint !== undefined);
    expect((await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint).toEqual(endpoint);
    expect((await world.find(FakeClusters, clusterName))?.['spec']).toMatchObject({ controlPlaneEndpoint: endpoint });

    const made = await world.find(Ingresses, 'kmc-c1');
    expect(made?.metadata.annotations).toMatchObject(ingress.annotations);
    expect(made?.spec?.ingressClassName).toBe('nginx');
    const service = await world.find(Services, 'kmc-c1');
    const numbers = new Map(service?.spec?.ports?.map(({ name, port }) => [name, port]));
    expect(
      made?.spec?.rules?.map(({ host, http }) => {
        const to = http?.paths?.[0]?.backend?.service;
        return [host, to?.name, to?.port?.number ?? numbers.get(to?.port?.name ?? '')];
      }),
    ).toEqual([
      ['api.example.org', 'kmc-c1', numbers.get('api')],
      ['konnectivity.example.org', 'kmc-c1', numbers.get('konnectivity')],
    ]);

    const text = async (name: string, key: string): Promise<string> =>
      Buffer.from((await world.find(Secrets, name))?.data?.[key] ?? '', 'base64').toString();
    expect(await text('c1-kubeconfig', 'value')).toContain('server: https://api.example.org:443');
    // the node proxies present this certificate to Pods that call the API by IP address
    expect(new X509Certificate(await text('c1-ingress-haproxy', 'tls.crt')).subjectAltName).toContain(
      'IP Address:10.96.0.1',
    );

    const config = (await world.find(ConfigMaps, 'kmc-c1-config'))?.data?.['K0SMOTRON_K0S_YAML'] ?? '';
    expect(parse(config).spec).toMatchObject({
      api: {
        externalAddress: 'api.example.org:443',
        sans: expect.arrayContaining(['api.example.org', 'konnectivity.example.org']),
        extraArgs: { 'endpoint-reconciler-type': 'none' },
      },
      konnectivity: { externalAddress: 'konnectivity.example.org' },
    });
    const volumes = (await world.find(StatefulSets, 'kmc-c1'))?.spec.template?.spec?.volumes ?? [];
    const mounted = volumes.map(({ configMap }) => configMap?.name).filter((name) => name !== undefined);
    expect(mounted).toContain('kmc-c1-ingress');
    const script = Object.values((await world.find(ConfigMaps, 'kmc-entrypoint-c1-config'))?.data ?? {}).join();
    expect(script).toContain('--disable-components=endpoint-reconciler');

    await world.client.delete(Clusters, { namespace: world.namespace, name: clusterName });
    await world.until(async () => (await world.find(Clusters, clusterName)) === undefined);
    expect(await world.list(Ingresses)).toEqual([]);
  });
});

describe('deletion of a K0smotronControlPlane', () => {
  it.each([
    [false, 1],
    [true, 0],
  ])('deletes the plane, and its volumes only with autoDeletePVCs (%s)', async (autoDeletePVCs, left) => {
    const world = await start();
    const etcd = { ...guideSpec.storage?.etcd, image: 'quay.io/k0sproject/etcd:v3.5.13', autoDeletePVCs };
    await createControlPlane(world, { ...guideSpec, storage: { type: 'etcd', etcd } });
    await untilAvailable(world);
    const asked = world.clock.now();
    await world.client.delete(Clusters, { namespace: world.namespace, name: clusterName });
    await world.until(async () => (await world.find(Clusters, clusterName)) === undefined);
    // simulated time: the step is triggered by an event, not by a requeue
    expect(world.clock.now() - asked).toBeLessThan(20_000);
    expect(await world.plane()).toBeUndefined();
    expect(await world.find(K0smotronControlPlanes, controlPlaneName)).toBeUndefined();
    expect(await world.list(StatefulSets)).toEqual([]);
    expect(await world.list(PersistentVolumeClaims)).toHaveLength(left);
  });

  it('is not caused by deleting the plane, which is created again', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    const before = (await world.plane())?.metadata.uid;
    await world.client.delete(K0smotronClusters, { namespace: world.namespace, name: clusterName });
    await world.until(async () => {
      const plane = await world.plane();
      return plane !== undefined && plane.metadata.uid !== before && isTrue(plane, 'Available');
    });
  });
});

describe('a K0smotronCluster of the same name with another owner', () => {
  it('stays unchanged and is reported as PlaneNameTaken', async () => {
    const world = await start();
    await createPlane(world, { ...guideSpec, replicas: 1 });
    await world.until(async () => isTrue(await world.plane(), 'Available'));
    const before = await world.plane();
    await createControlPlane(world);
    await world.until(async () => conditionOf(await world.controlPlane(), 'Available')?.reason === 'PlaneNameTaken');
    expect((await world.plane())?.metadata.ownerReferences).toEqual(before?.metadata.ownerReferences);
  });
});
