import { describe, expect, it } from 'vitest';
import { Namespaces, OpenStackClusterIdentities, type Secret, Secrets } from '../../../api/index.ts';
import { ignoreNotFound, type JsonValue } from '../../../machinery/index.ts';
import { secretText } from '../../shared/index.ts';
import { by } from '../../testing/world.ts';
import { annotatedRequests } from './annotations.ts';
import { worldsOfTests } from './testing/hosting-world.ts';
import { createPlaneWorld, type PlaneWorld } from './testing/plane-world.ts';

const start = worldsOfTests(createPlaneWorld);
const identity = { name: 'creds', cloudName: 'mine', region: 'R1' };
const cloudsOf = (secret: string): string => `clouds:
  mine: {auth: {auth_url: "https://cloud.example/v3", application_credential_id: i, application_credential_secret: ${secret}}}
  other: {auth: {auth_url: "https://other.example/v3", application_credential_id: o, application_credential_secret: hidden}}
`;
const data = (text: string): Record<string, string> => ({ 'clouds.yaml': Buffer.from(text).toString('base64') });
const where = { namespace: 'kube-system', name: 'openstack-credentials' };

async function put(world: PlaneWorld, secret: string, namespace = world.namespace): Promise<void> {
  const metadata = { name: identity.name, namespace };
  await world.client.apply(
    Secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata, data: data(cloudsOf(secret)) },
    { ...by, force: true },
  );
}
const inside = (world: PlaneWorld, key = where): Promise<Secret | undefined> =>
  world.workload.get(Secrets, key).catch(ignoreNotFound);
const confOf = async (world: PlaneWorld, key = where): Promise<string> =>
  secretText(await inside(world, key), 'cloud.conf') ?? '';
const requests = (value?: string) =>
  annotatedRequests({
    apiVersion: 'v1',
    kind: 'X',
    metadata: value === undefined ? {} : { annotations: { 'controlplane.cluster.x-k8s.io/cloud-credentials': value } },
  });

/** Starts a plane in the cloud of the identity, with credentials in the workload cluster enabled. */
async function plane(identityRef: { name: string; cloudName: string; type?: 'ClusterIdentity' }, annotation?: string) {
  const world = await start({ identity: identityRef });
  await world.ask(requests(annotation));
  return world;
}

describe('cloud credentials in a workload cluster', () => {
  it('are written in both forms and follow a rotation without other writes', async () => {
    const world = await plane(identity);
    await put(world, 'first');
    await world.until(async () => (await confOf(world)) !== '');
    expect(await confOf(world)).toBe(
      '[Global]\nauth-url=https://cloud.example/v3\napplication-credential-id=i\napplication-credential-secret=first\nregion=R1\n',
    );
    expect(secretText(await inside(world), 'clouds.yaml')).toContain('region_name: R1');
    expect(secretText(await inside(world), 'clouds.yaml')).not.toContain('hidden');
    await world.untilSettled();
    await put(world, 'second');
    await world.until(async () => (await confOf(world)).includes('=second\n'));
    const version = (await inside(world))?.metadata.resourceVersion;
    await world.pass(60 * 60_000);
    expect((await inside(world))?.metadata.resourceVersion).toBe(version);
  });

  it('are reported when unusable, and written once they are usable', async () => {
    const world = await plane(identity);
    const told = () => world.report().stages.get('cloudCredentials');
    await world.until(() => told()?.status === 'False');
    expect(told()).toMatchObject({
      reason: 'CredentialsNotUsable',
      message: `Secret ${world.namespace}/creds does not exist; create it with the key clouds.yaml`,
    });
    await put(world, 'late');
    await world.until(async () => (await confOf(world)).includes('=late\n'));
    await world.until(() => told()?.status === 'True');
  });

  it('of an OpenStackClusterIdentity come from its Secret', async () => {
    const world = await plane({ ...identity, name: 'shared-identity', type: 'ClusterIdentity' });
    await put(world, 'shared');
    await world.client.create(
      OpenStackClusterIdentities,
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'OpenStackClusterIdentity',
        metadata: { name: 'shared-identity' },
        spec: { secretRef: { namespace: world.namespace, name: identity.name } },
      },
      by,
    );
    await world.until(async () => (await confOf(world)).includes('=shared\n'));
  });

  it('follow an OpenStackClusterIdentity that names another Secret or namespace', async () => {
    const world = await plane({ ...identity, name: 'changing-identity', type: 'ClusterIdentity' });
    await put(world, 'first');
    const secret = { name: 'another', namespace: world.namespace };
    await world.client.create(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: secret, data: data(cloudsOf('second')) },
      by,
    );
    const edit = (spec: Record<string, JsonValue>): Promise<unknown> =>
      world.client.patch(OpenStackClusterIdentities, { name: 'changing-identity' }, 'merge', { spec }, by);
    await world.client.create(
      OpenStackClusterIdentities,
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
        kind: 'OpenStackClusterIdentity',
        metadata: { name: 'changing-identity' },
        spec: { secretRef: { namespace: world.namespace, name: identity.name } },
      },
      by,
    );
    await world.until(async () => (await confOf(world)).includes('=first\n'));
    await world.untilSettled();
    const begin = world.clock.now();
    await edit({ secretRef: { namespace: world.namespace, name: 'another' } });
    await world.until(async () => (await confOf(world)).includes('=second\n'));
    const told = () => world.report().stages.get('cloudCredentials');
    await edit({ namespaceSelector: { matchLabels: { clouds: 'yes' } } });
    await world.until(() => told()?.status === 'False');
    expect(told()?.message).toContain('may not be used in namespace');
    await world.client.patch(
      Namespaces,
      { name: world.namespace },
      'merge',
      { metadata: { labels: { clouds: 'yes' } } },
      by,
    );
    await world.until(() => told()?.status === 'True');
    // well before the periodic recheck
    expect(world.clock.now() - begin).toBeLessThan(5 * 60_000);
  });

  it('do not overwrite Secrets that somebody else manages', async () => {
    const world = await plane(identity, 'mine, csi-ns/other');
    const key = { namespace: 'kube-system', name: 'mine' };
    await world.workload.create(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: key, data: data('their own') },
      by,
    );
    const other = { namespace: 'csi-ns', name: 'other' };
    await put(world, 'ours');
    await world.until(async () => (await confOf(world, other)) !== '');
    expect((await inside(world, key))?.data).toEqual(data('their own'));
    expect(await inside(world)).toBeUndefined();
  });

  it('are not written when disabled, nor to clusters outside of OpenStack', async () => {
    const world = await plane(identity, 'none');
    await put(world, 'x');
    await world.untilSettled();
    expect(await inside(world)).toBeUndefined();
    const elsewhere = await start();
    await elsewhere.ask(requests());
    await elsewhere.untilSettled();
    expect(await inside(elsewhere)).toBeUndefined();
  });
});
