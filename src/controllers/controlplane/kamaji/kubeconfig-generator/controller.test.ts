import { describe, expect, it } from 'vitest';
import {
  type KubeconfigGenerator,
  type KubeconfigGeneratorSpec,
  KubeconfigGenerators,
  type Secret,
  Secrets,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import { parseKubeconfig } from '../../../../client/index.ts';
import { ManualClock } from '../../../../machinery/index.ts';
import { createAuthority, parseCertificate } from '../../../../pki/index.ts';
import { secretText } from '../../../shared/index.ts';
import { by } from '../../../testing/world.ts';
import { worldsOfTests } from '../../plane-driver/testing/hosting-world.ts';
import { controlPlaneName, createKamajiWorld, createTenant, type KamajiWorld } from '../testing/kamaji-world.ts';
import { makeKubeconfig, renewalOf } from './kubeconfig.ts';

const start = worldsOfTests(createKamajiWorld);
const day = 24 * 3_600_000;

async function generate(world: KamajiWorld, spec: KubeconfigGeneratorSpec): Promise<string> {
  // generators are cluster-scoped, and test worlds share one API
  const name = `of-${world.namespace}`;
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } };
  const generator: KubeconfigGenerator = {
    apiVersion: 'kamaji.clastix.io/v1alpha1',
    kind: 'KubeconfigGenerator',
    metadata: { name },
    spec: { namespaceSelector, ...spec },
  };
  await world.client.create(KubeconfigGenerators, generator, by);
  return name;
}
const statusOf = async (world: KamajiWorld) =>
  (await world.client.get(KubeconfigGenerators, { name: `of-${world.namespace}` })).status;
const secretOf = (world: KamajiWorld) => world.find(Secrets, `${controlPlaneName}-of-${world.namespace}`);
const certificateOf = async (world: KamajiWorld) => {
  const { users } = parseKubeconfig(secretText(await secretOf(world), 'value') ?? '', 'test');
  const data = users?.[0]?.user['client-certificate-data'] ?? '';
  return parseCertificate(Buffer.from(data, 'base64').toString());
};

describe('a KubeconfigGenerator', () => {
  it('creates a kubeconfig Secret for every selected control plane', async () => {
    const world = await start();
    await createTenant(world, {});
    await generate(world, { user: { fromDefinition: 'metadata.name' }, groups: [{ stringValue: 'viewers' }] });
    await world.until(async () => (await secretOf(world)) !== undefined);
    await world.until(async () => (await statusOf(world))?.availableResources === 1);
    expect(await statusOf(world)).toMatchObject({ resources: 1, availableResources: 1 });
    const secret = await secretOf(world);
    expect(secret?.metadata.labels).toEqual({
      'kamaji.clastix.io/managed-by': `of-${world.namespace}`,
      'kamaji.clastix.io/managed-for': controlPlaneName,
    });
    const kubeconfig = parseKubeconfig(secretText(secret, 'value') ?? '', 'test');
    expect(kubeconfig.clusters?.[0]?.cluster.server).toBe(`https://${controlPlaneName}.${world.namespace}.svc:6443`);
    const { subject, notAfter } = await certificateOf(world);
    expect(subject).toMatchObject({ commonName: controlPlaneName, organizations: ['viewers'] });
    expect(notAfter - world.clock.now()).toBeGreaterThan(364 * day);
    await world.pass(3_600_000);
    expect((await secretOf(world))?.metadata.resourceVersion).toBe(secret?.metadata.resourceVersion);
  });

  it('renews a kubeconfig before it expires or when its content changes', async () => {
    const clock = new ManualClock();
    const authority = await createAuthority({ commonName: 'test', clock });
    const desired = {
      ...{ user: 'u', groups: [], server: 'https://x:6443', trust: authority.certificate, authority },
      ...{ cluster: 'c', checksum: 'a' },
    };
    const text = await makeKubeconfig(desired, clock);
    const secret = (checksum: string, value: string): Secret => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { annotations: { 'kamaji.clastix.io/checksum': checksum } },
      data: { value: Buffer.from(value).toString('base64') },
    });
    const left = (renewalOf(secret('a', text), desired) ?? 0) - clock.now();
    expect(Math.round(left / day)).toBe(275);
    expect(renewalOf(secret('b', text), desired)).toBeUndefined();
    expect(renewalOf(secret('a', 'nothing'), desired)).toBeUndefined();
    expect(renewalOf(undefined, desired)).toBeUndefined();
  });

  it('deletes the Secrets of control planes that are no longer selected', async () => {
    const world = await start();
    await createTenant(world, {});
    const name = await generate(world, { user: { stringValue: 'me' } });
    await world.until(async () => (await secretOf(world)) !== undefined);
    const selector = { spec: { tenantControlPlaneSelector: { matchLabels: { chosen: 'yes' } } } };
    await world.client.patch(KubeconfigGenerators, { name }, 'merge', selector, by);
    await world.until(async () => (await secretOf(world)) === undefined);
    expect(await statusOf(world)).toMatchObject({ resources: 0, availableResources: 0 });
    const key = { namespace: world.namespace, name: controlPlaneName };
    await world.client.patch(TenantControlPlanes, key, 'merge', { metadata: { labels: { chosen: 'yes' } } }, by);
    await world.until(async () => (await secretOf(world)) !== undefined);
  });

  it('reports errors in its status, and does not overwrite a Secret of another owner', async () => {
    const world = await start();
    await createTenant(world, {});
    await generate(world, { user: { fromDefinition: 'metadata.labels.owner' } });
    const message = async () => (await statusOf(world))?.errors?.[0];
    await world.until(async () => (await message()) !== undefined);
    expect(await message()).toEqual({
      resource: `${world.namespace}/${controlPlaneName}`,
      message: 'spec.user: the control plane has no value at metadata.labels.owner',
    });
    const taken = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: `${controlPlaneName}-of-${world.namespace}`, namespace: world.namespace },
    };
    await world.client.create(Secrets, taken, by);
    const key = { namespace: world.namespace, name: controlPlaneName };
    await world.client.patch(TenantControlPlanes, key, 'merge', { metadata: { labels: { owner: 'me' } } }, by);
    await world.until(async () => (await message())?.message.includes('not ours') === true);
    expect((await secretOf(world))?.data).toBeUndefined();
  });
});
