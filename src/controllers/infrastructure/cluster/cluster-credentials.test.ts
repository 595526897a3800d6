import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  Namespaces,
  type OpenStackCluster,
  OpenStackClusterIdentities,
  type OpenStackClusterSpec,
  OpenStackClusters,
  Secrets,
} from '../../../api/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { footprint } from '../testing/footprint.ts';
import {
  by,
  createInfrastructureWorld,
  createOpenStackCluster,
  credentialsName,
  credentialsSecret,
  type InfrastructureWorld,
} from '../testing/world.ts';
import { openStackClusterController } from './cluster-controller.ts';

let world: InfrastructureWorld;
let serial = 0;

beforeAll(async () => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackClusterController(dependencies)],
  });
});
afterAll(() => world.stop());

const managed: Partial<OpenStackClusterSpec> = { managedSubnets: [{ cidr: '10.6.0.0/24' }] };
const key = (name: string) => ({ namespace: world.namespace, name });
const find = (name: string): Promise<OpenStackCluster | undefined> => world.find(OpenStackClusters, name);

async function create(spec: Partial<OpenStackClusterSpec>): Promise<string> {
  const name = `c${++serial}`;
  await createOpenStackCluster(world, name, spec);
  return name;
}

async function provisioned(name: string): Promise<OpenStackCluster> {
  await world.until(async () => (await find(name))?.status?.initialization?.provisioned === true);
  return world.get(OpenStackClusters, name);
}

/** Returns the condition message after the credentials were refused. */
async function refused(name: string): Promise<string> {
  const condition = async () => conditionOf(await find(name), 'OpenStackAuthenticationSucceeded');
  await world.until(async () => (await condition())?.status === 'False');
  return (await condition())?.message ?? '';
}

async function remove(name: string): Promise<void> {
  await world.client.delete(OpenStackClusters, key(name));
  await world.until(async () => (await find(name)) === undefined);
}

describe('the credentials of an OpenStackCluster', () => {
  it('are reported when wrong, and used as soon as they are corrected', async () => {
    const good = (await world.get(Secrets, credentialsName)).data?.['clouds.yaml'] ?? '';
    const text = Buffer.from(good, 'base64').toString();
    const bad = text.replaceAll(/password: .*/g, 'password: wrong');
    await world.client.create(Secrets, credentialsSecret(world.namespace, bad, 'rotating'), by);
    const name = await create({ ...managed, identityRef: { name: 'rotating', cloudName: 'openstack' } });
    expect(await refused(name)).toMatch(
      /cloud "openstack" does not accept user "demo" with this password .*; check .* in Secret world-\d+\/rotating/,
    );
    await world.client.patch(Secrets, key('rotating'), 'merge', { data: { 'clouds.yaml': good } }, by);
    await provisioned(name);
    await remove(name);
  });

  it('are replaced in a running cluster when they change', async () => {
    const clouds = parse(
      Buffer.from((await world.get(Secrets, credentialsName)).data?.['clouds.yaml'] ?? '', 'base64').toString(),
    ).clouds;
    const text = (cloud: object): string => stringify({ clouds: { mine: cloud } });
    await world.client.create(Secrets, credentialsSecret(world.namespace, text(clouds.openstack), 'living'), by);
    const name = await create({
      ...managed,
      managedSecurityGroups: {},
      identityRef: { name: 'living', cloudName: 'mine' },
    });
    const { status } = await provisioned(name);
    const next = Buffer.from(text(clouds['demo-application-credential'])).toString('base64');
    const logins = (): number => world.requests.filter(({ path }) => path === '/identity/v3/auth/tokens').length;
    const before = logins();
    await world.client.patch(Secrets, key('living'), 'merge', { data: { 'clouds.yaml': next } }, by);
    await world.until(() => logins() > before);
    const { securityGroups, securityGroupRules } = world.tenant.network;
    const id = status?.workerSecurityGroup?.id ?? '';
    await securityGroupRules.delete((await securityGroups.get(id)).rules[0]?.id ?? '');
    await world.until(async () => (await securityGroups.get(id)).rules.length === 10);
    await remove(name);
  });

  it('of an identity are used only when its namespace selector matches', async () => {
    const { namespace } = world;
    await world.client.create(
      OpenStackClusterIdentities,
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'OpenStackClusterIdentity',
        metadata: { name: `shared-${namespace}` },
        spec: {
          secretRef: { name: credentialsName, namespace },
          namespaceSelector: { matchLabels: { team: 'a' } },
        },
      },
      by,
    );
    const identityRef = { type: 'ClusterIdentity', name: `shared-${namespace}`, cloudName: 'openstack' } as const;
    const name = await create({ ...managed, identityRef });
    expect(await refused(name)).toMatch(/may not be used in namespace "world-\d+"; give the namespace the labels/);
    await world.client.patch(Namespaces, { name: namespace }, 'merge', { metadata: { labels: { team: 'a' } } }, by);
    await provisioned(name);
    await remove(name);
  });

  it('are used until the cluster is gone when they were deleted together with it', async () => {
    const secret = { ...(await world.get(Secrets, credentialsName)) };
    const metadata = { name: 'same-file', namespace: world.namespace };
    await world.client.create(Secrets, { ...secret, metadata }, by);
    const before = await footprint(world.tenant);
    const name = await create({ ...managed, identityRef: { name: 'same-file', cloudName: 'openstack' } });
    await provisioned(name);
    await world.client.delete(Secrets, key('same-file'));
    expect(await refused(name)).toMatch(/Secret world-\d+\/same-file does not exist; create it/);
    await remove(name);
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it('are missed as soon as they are deleted, and used again as soon as they are back', async () => {
    const secret = {
      ...(await world.get(Secrets, credentialsName)),
      metadata: { name: 'gone', namespace: world.namespace },
    };
    await world.client.create(Secrets, secret, by);
    const name = await create({ ...managed, identityRef: { name: 'gone', cloudName: 'openstack' } });
    await provisioned(name);
    const isAuthenticated = async (): Promise<string | undefined> =>
      conditionOf(await find(name), 'OpenStackAuthenticationSucceeded')?.status;
    await world.pass(600_000);
    await world.client.delete(Secrets, key('gone'));
    await world.until(async () => (await isAuthenticated()) === 'False', 2_000);
    expect(await refused(name)).toContain('does not exist');
    await world.client.create(Secrets, secret, by);
    await world.until(async () => (await isAuthenticated()) === 'True', 2_000);
    await remove(name);
  });

  it('that never worked neither block deletion nor correction', async () => {
    const wrong = { name: credentialsName, cloudName: 'openstack', region: 'Nowhere' };
    const [first, second] = [
      await create({ ...managed, identityRef: wrong }),
      await create({ ...managed, identityRef: wrong }),
    ];
    for (const name of [first, second]) expect(await refused(name)).toContain('Nowhere');
    expect((await find(first))?.metadata.finalizers ?? []).toEqual([]);
    await world.client.delete(OpenStackClusters, key(first));
    expect(await find(first)).toBeUndefined();
    await world.client.patch(OpenStackClusters, key(second), 'merge', { spec: { identityRef: { region: null } } }, by);
    await provisioned(second);
    const late = { spec: { identityRef: { region: 'RegionOne' } } };
    await expect(world.client.patch(OpenStackClusters, key(second), 'merge', late, by)).rejects.toThrow(
      'region is immutable',
    );
    await remove(second);
  });

  it('that are permanently gone do not block an object that its user abandons', async () => {
    await world.client.create(
      Secrets,
      { ...(await world.get(Secrets, credentialsName)), metadata: { name: 'short-lived', namespace: world.namespace } },
      by,
    );
    const before = await footprint(world.tenant);
    const name = await create({ ...managed, identityRef: { name: 'short-lived', cloudName: 'openstack' } });
    const { status } = await provisioned(name);
    const wrong = Buffer.from('clouds: {openstack: {}}').toString('base64');
    await world.client.patch(Secrets, key('short-lived'), 'merge', { data: { 'clouds.yaml': wrong } }, by);
    await world.client.delete(OpenStackClusters, key(name));
    await world.until(
      async () => conditionOf(await find(name), 'OpenStackAuthenticationSucceeded')?.status === 'False',
    );
    const annotations = { 'infrastructure.cluster.x-k8s.io/abandon-cloud-resources': 'true' };
    await world.client.patch(OpenStackClusters, key(name), 'merge', { metadata: { annotations } }, by);
    await world.until(async () => (await find(name)) === undefined);
    expect(await footprint(world.tenant)).not.toEqual(before);
    expect((await world.tenant.network.networks.get(status?.network?.id ?? '')).id).toBe(status?.network?.id);
  });
});
