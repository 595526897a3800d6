import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Clusters,
  DataStores,
  Deployments,
  KamajiControlPlanes,
  Namespaces,
  ReferenceGrants,
  Secrets,
  Services,
  StatefulSets,
  TenantControlPlanes,
  ValidatingAdmissionPolicies,
} from '../../../api/index.ts';
import { conditionOf, isTrue } from '../../shared/index.ts';
import { FakeClusters } from '../../testing/provider-kinds.ts';
import { by } from '../../testing/world.ts';
import { worldsOfTests } from '../plane-driver/testing/hosting-world.ts';
import { dataStoreCondition } from './tenant/status.ts';
import {
  clusterName,
  controlPlaneName,
  createControlPlane,
  createKamajiWorld,
  createTenant,
  guideSpec,
  type KamajiWorld,
} from './testing/kamaji-world.ts';

const minute = 60_000;
const start = worldsOfTests(createKamajiWorld);

const untilAvailable = (world: KamajiWorld): Promise<void> =>
  world.until(async () => isTrue(await world.controlPlane(), 'Available'));
const change = async (world: KamajiWorld, spec: object): Promise<void> => {
  const key = { namespace: world.namespace, name: controlPlaneName };
  await world.client.patch(KamajiControlPlanes, key, 'merge', { spec } as never, by);
};

describe('a KamajiControlPlane of the guide', () => {
  let world: KamajiWorld;
  beforeAll(async () => {
    world = await createKamajiWorld();
    await createControlPlane(world);
    await untilAvailable(world);
  });
  afterAll(() => world.stop());

  it('becomes available with a DataStore it created', async () => {
    await world.until(async () => ((await world.controlPlane()).status?.readyReplicas ?? 0) > 0);
    expect((await world.controlPlane()).status).toMatchObject({
      initialization: { controlPlaneInitialized: true },
      ready: true,
      externalManagedControlPlane: true,
      version: 'v1.28.10',
      replicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      upToDateReplicas: 1,
      selector: `kamaji.clastix.io/name=${controlPlaneName}`,
    });
    const store = await world.find(DataStores, world.storeName);
    expect(store?.status).toMatchObject({ ready: true, usedBy: [`${world.namespace}/${controlPlaneName}`] });
    expect((await world.find(StatefulSets, 'kamaji-etcd'))?.spec.replicas).toBe(3);
    const uid = (await world.tenant())?.metadata.uid;
    expect(world.tenants.get(uid!)).toEqual({ user: uid, role: uid, prefix: `/${uid}/` });
  });

  it('reports endpoint and kubeconfig to Cluster API', async () => {
    const endpoint = { host: '127.65.0.1', port: 6443 };
    await world.until(async () => (await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint !== undefined);
    expect((await world.find(Clusters, clusterName))?.spec.controlPlaneEndpoint).toEqual(endpoint);
    expect((await world.find(FakeClusters, clusterName))?.['spec']).toMatchObject({ controlPlaneEndpoint: endpoint });
    expect((await world.controlPlane()).spec.controlPlaneEndpoint).toEqual(endpoint);
    const kubeconfig = await world.find(Secrets, 'c1-kubeconfig');
    expect(kubeconfig?.type).toBe('cluster.x-k8s.io/secret');
    expect(Buffer.from(kubeconfig?.data?.['value'] ?? '', 'base64').toString()).toContain('https://127.65.0.1:6443');
    expect(Object.keys((await world.find(Secrets, 'c1-ca'))?.data ?? {}).sort()).toEqual(['tls.crt', 'tls.key']);
  });

  it('creates its objects under the names of Kamaji', async () => {
    const deployment = await world.find(Deployments, controlPlaneName);
    const containers = deployment?.spec.template?.spec?.containers ?? [];
    expect(containers.map(({ name }) => name).sort()).toEqual([
      'konnectivity-server',
      'kube-apiserver',
      'kube-controller-manager',
      'kube-scheduler',
    ]);
    const apiServer = containers.find(({ name }) => name === 'kube-apiserver');
    expect(apiServer?.image).toBe('registry.k8s.io/kube-apiserver:v1.28.10');
    expect(apiServer?.args).toContain('--cloud-provider=external');
    expect(apiServer?.args?.find((arg) => arg.startsWith('--enable-admission-plugins'))).toContain('NodeRestriction');
    const service = await world.find(Services, controlPlaneName);
    expect(service?.metadata.annotations).toMatchObject(guideSpec.network!.serviceAnnotations!);
    const endings = ['ca', 'api-server-certificate', 'sa-certificate', 'admin-kubeconfig', 'datastore-certificate'];
    for (const ending of endings) {
      expect(await world.find(Secrets, `${controlPlaneName}-${ending}`), ending).toBeDefined();
    }
  });

  it('reports its state in its TenantControlPlane', async () => {
    expect((await world.tenant())?.status).toMatchObject({
      controlPlaneEndpoint: '127.65.0.1:6443',
      kubernetesResources: {
        version: { version: 'v1.28.10', status: 'Ready' },
        deployment: { name: controlPlaneName, replicas: 1, readyReplicas: 1 },
        service: { name: controlPlaneName, port: 6443 },
      },
      storage: { driver: 'etcd', dataStoreName: world.storeName },
      kubeconfig: { admin: { secretName: `${controlPlaneName}-admin-kubeconfig` } },
      addons: { coreDNS: { enabled: true }, kubeProxy: { enabled: true }, konnectivity: { enabled: true } },
    });
  });

  it('writes nothing when all is as desired', async () => {
    await world.pass(5 * minute);
    const before = world.writes();
    await world.pass(minute);
    expect(world.writes()).toBe(before);
  });

  it('leaves nothing behind when it is deleted', async () => {
    expect(world.tenants.size).toBe(1);
    await world.client.delete(Clusters, { namespace: world.namespace, name: clusterName });
    await world.until(async () => (await world.find(Clusters, clusterName)) === undefined);
    expect(await world.tenant()).toBeUndefined();
    expect(await world.find(Deployments, controlPlaneName)).toBeUndefined();
    expect(world.tenants.size).toBe(0);
    await world.until(async () => (await world.find(DataStores, world.storeName))?.status?.usedBy?.length === 0);
  });
});

describe('a change of a KamajiControlPlane', () => {
  it('to zero replicas hibernates it, and to more starts it again', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await change(world, { replicas: 0 });
    await world.until(async () => {
      const tenant = await world.tenant();
      return tenant?.status?.kubernetesResources?.version?.status === 'Sleeping';
    });
    await world.until(async () => conditionOf(await world.controlPlane(), 'Available')?.reason === 'Sleeping');
    expect((await world.controlPlane()).status).toMatchObject({ initialization: { controlPlaneInitialized: true } });
    await change(world, { replicas: 2 });
    await world.until(async () => (await world.controlPlane()).status?.readyReplicas === 2);
    await untilAvailable(world);
  });

  it('to a newer version upgrades it one minor version at a time', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await change(world, { version: 'v1.29.3' });
    await world.until(async () => (await world.controlPlane()).status?.version === 'v1.29.3');
    await untilAvailable(world);
    await expect(change(world, { version: 'v1.28.0' })).rejects.toThrow(/cannot go back to v1.28.0/);
  });
});

describe('a KamajiControlPlane that does not become available', () => {
  const reasonOf = async (world: KamajiWorld): Promise<string | undefined> =>
    conditionOf(await world.controlPlane(), 'Available')?.reason;

  it('reports a DataStore that does not exist', async () => {
    const world = await start();
    await createControlPlane(world, { ...guideSpec, dataStoreName: 'elsewhere' });
    await world.until(async () => (await reasonOf(world)) === 'DataStoreNotFound');
    expect(conditionOf(await world.controlPlane(), 'Available')?.message).toBe(
      'spec.dataStore: there is no DataStore elsewhere; make it, or leave the field out for one that is made for you',
    );
    expect(await world.find(Deployments, controlPlaneName)).toBeUndefined();
  });

  it('reports a DataStore that does not answer, until it does', async () => {
    const world = await start();
    world.refuse('etcd is out for lunch');
    await createControlPlane(world);
    const message = async () => conditionOf(await world.controlPlane(), 'Available')?.message ?? '';
    await world.until(async () => (await message()).includes('etcd is out for lunch'));
    expect(await reasonOf(world)).toBe('DataStoreNotReady');
    expect(await world.find(Deployments, controlPlaneName)).toBeUndefined();
    world.refuse(undefined);
    await untilAvailable(world);
  });

  it('refuses a backup schedule, because its data is in a shared store', async () => {
    const world = await start();
    await createControlPlane(world);
    const annotations = { 'controlplane.cluster.x-k8s.io/backup-schedule': '* * * * *' };
    const key = { namespace: world.namespace, name: controlPlaneName };
    await world.client.patch(KamajiControlPlanes, key, 'merge', { metadata: { annotations } }, by);
    const backup = async () => {
      const tenant = await world.tenant();
      return tenant && conditionOf(tenant, 'BackupSucceeded');
    };
    await world.until(async () => (await backup())?.reason === 'BackupRefused');
    expect((await backup())?.message).toContain('back up the store with its data');
    await untilAvailable(world);
  });

  it('refuses an external cluster as unsupported', async () => {
    const world = await start();
    const externalClusterReference = { kubeconfigSecretName: 's', kubeconfigSecretKey: 'k', deploymentNamespace: 'n' };
    await createControlPlane(world, { ...guideSpec, deployment: { externalClusterReference } });
    await world.until(async () => (await reasonOf(world)) === 'ExternalClusterNotSupported');
  });

  it('reports a TenantControlPlane of the same name with another owner', async () => {
    const world = await start();
    await createTenant(world, { dataStore: 'elsewhere' });
    await createControlPlane(world);
    await world.until(async () => (await reasonOf(world)) === 'TenantControlPlaneNameTaken');
  });
});

it('a TenantControlPlane without a Cluster uses its own kubeconfig', async () => {
  const world = await start();
  await createTenant(world, { dataStoreSchema: 'mine', dataStoreUsername: 'me' });
  await world.until(async () => (await world.tenant())?.status?.kubernetesResources?.version?.status === 'Ready');
  expect([...world.tenants.values()]).toEqual([{ user: 'me', role: 'mine', prefix: '/mine/' }]);
});

it('a TenantControlPlane with write permissions blocked reports WriteLimited until they are restored', async () => {
  const world = await start();
  await createTenant(world, { writePermissions: { blockCreation: true } });
  const phase = async () => (await world.tenant())?.status?.kubernetesResources?.version?.status;
  await world.until(async () => (await phase()) === 'WriteLimited');
  const names = async () =>
    (await world.workload.list(ValidatingAdmissionPolicies)).items.map(({ metadata }) => metadata.name).sort();
  await world.until(async () => (await names()).length === 2);
  expect(await names()).toEqual(['kamaji-write-permissions', 'kamaji-write-permissions-leases']);
  const key = { namespace: world.namespace, name: controlPlaneName };
  await world.client.patch(TenantControlPlanes, key, 'merge', { spec: { writePermissions: null } } as never, by);
  await world.until(async () => (await phase()) === 'Ready' && (await names()).length === 0);
});

describe('a DataStore', () => {
  it('is not deleted while it is used', async () => {
    const world = await start();
    await createControlPlane(world);
    await untilAvailable(world);
    await world.client.delete(DataStores, { name: world.storeName });
    const deletion = async () =>
      conditionOf(await world.find(DataStores, world.storeName), 'kamaji.clastix.io/DataStoreAllowedDeletion');
    await world.until(async () => (await deletion())?.status === 'False');
    expect((await deletion())?.message).toBe(`used by ${world.namespace}/${controlPlaneName}; delete them first`);
    await world.client.delete(Clusters, { namespace: world.namespace, name: clusterName });
    await world.until(async () => (await world.find(DataStores, world.storeName)) === undefined);
  });

  it('refuses the schema and user of a control plane in another namespace', async () => {
    const world = await start();
    const { client, namespace } = world;
    const other = `${namespace}-other`;
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } }, by);
    const place = { dataStoreSchema: 'theirs', dataStoreUsername: 'they' };
    await createTenant({ client, namespace: other }, { dataStore: world.storeName, ...place });
    const theirs = { namespace: other, name: controlPlaneName };
    const setup = { schema: 'theirs', user: 'they' };
    const status = { storage: { dataStoreName: world.storeName, setup } };
    await client.patch(TenantControlPlanes, theirs, 'merge', { status }, { ...by, subresource: 'status' });
    const verdict = async (name: string, spec: object): Promise<string> => {
      await createTenant(world, spec, name);
      const condition = async () =>
        conditionOf(await world.find(TenantControlPlanes, name), dataStoreCondition)?.message ?? '';
      await world.until(async () => !['', `DataStore ${world.storeName} is being made`].includes(await condition()));
      const message = await condition();
      await client.delete(TenantControlPlanes, { namespace, name });
      await world.until(async () => (await world.find(TenantControlPlanes, name)) === undefined);
      return message;
    };
    // the first control plane without a DataStore creates the default one
    await createTenant(world, { dataStoreSchema: 'mine', dataStoreUsername: 'me' });
    await world.until(() => world.tenants.has('me'));
    const taken = 'a control plane of another namespace has one of these names';
    expect(await verdict('same-schema', { dataStoreSchema: 'theirs' })).toContain(taken);
    expect(await verdict('same-user', { dataStoreUsername: 'they' })).toContain(taken);
    expect(await verdict('everybody', { dataStoreUsername: 'root' })).toContain('"root" is no name for it');
    expect(await verdict('below', { dataStoreSchema: 'theirs/registry' })).toContain('is no name for it');
    // deleting the refused rival deletes nothing
    expect([...world.tenants.values()]).toEqual([{ user: 'me', role: 'mine', prefix: '/mine/' }]);
  });

  it('of SQL needs a ReferenceGrant for a Secret of another namespace', async () => {
    const world = await start();
    const { client, namespace } = world;
    const other = `${namespace}-db`;
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: other } }, by);
    const encoded = Buffer.from('s3cret').toString('base64');
    await client.create(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: other }, data: { password: encoded } },
      by,
    );
    const secretReference = { name: 'db', namespace: other, keyPath: 'password' };
    await client.create(
      DataStores,
      {
        apiVersion: 'kamaji.clastix.io/v1alpha1',
        kind: 'DataStore',
        metadata: { name: `sql-${namespace}` },
        spec: {
          driver: 'PostgreSQL',
          endpoints: ['db.example.org:5432'],
          basicAuth: { username: { secretReference }, password: { secretReference } },
        },
      },
      by,
    );
    await createTenant(world, { dataStore: `sql-${namespace}` });
    const condition = async () => conditionOf(await world.tenant(), dataStoreCondition);
    await world.until(async () => (await condition())?.reason === 'ReferenceNotGranted');
    expect(await world.find(Secrets, `${controlPlaneName}-datastore-config`)).toBeUndefined();
    await client.create(
      ReferenceGrants,
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'ReferenceGrant',
        metadata: { name: 'planes', namespace: other },
        spec: {
          from: [{ group: 'kamaji.clastix.io', kind: 'TenantControlPlane', namespace }],
          to: [{ group: '', kind: 'Secret', name: 'db' }],
        },
      },
      by,
    );
    // this manager sees only one namespace, so the granted Secret is not visible to it
    await world.until(async () => (await condition())?.reason === 'DataStoreNotReady');
  });

  it('of SQL is opened by kine with the schema and user names of Kamaji', async () => {
    const world = await start();
    const text = (value: string) => ({ content: Buffer.from(value).toString('base64') });
    await world.client.create(
      DataStores,
      {
        apiVersion: 'kamaji.clastix.io/v1alpha1',
        kind: 'DataStore',
        metadata: { name: 'sql' },
        spec: {
          driver: 'PostgreSQL',
          endpoints: ['db.example.org:5432'],
          basicAuth: { username: text('kamaji'), password: text('secret') },
        },
      },
      by,
    );
    await createControlPlane(world, { ...guideSpec, dataStoreName: 'sql', dataStoreSchema: 'plane' });
    await untilAvailable(world);
    const config = await world.find(Secrets, `${controlPlaneName}-datastore-config`);
    const values = Object.entries(config?.data ?? {}).map(([key, data]) => [
      key,
      Buffer.from(data, 'base64').toString(),
    ]);
    expect(Object.fromEntries(values)).toEqual({
      DB_CONNECTION_STRING: 'db.example.org:5432',
      DB_SCHEMA: 'plane',
      DB_USER: 'kamaji',
      DB_PASSWORD: 'secret',
    });
    const containers = (await world.find(Deployments, controlPlaneName))?.spec.template?.spec?.containers ?? [];
    expect(containers.map(({ name }) => name)).toContain('kine');
  });
});
