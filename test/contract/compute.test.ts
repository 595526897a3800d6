import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { collect } from '../../src/openstack/index.ts';
import { generateSshKeys } from '../../src/pki/index.ts';
import { contract } from './support/contract.ts';
import { nobody, refused } from './support/refused.ts';
import { uniqueName } from './support/tenant.ts';

const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPMZEEbIIO/zjhmg1lKkuPf9ldXGUIWzMfz2zKaiuToH contract';

contract('compute', (cloud) => {
  describe('flavors', () => {
    it('are listed with what they hold, and found by name', async () => {
      const { flavors } = cloud.member.compute;
      const { flavor } = cloud.world;
      expect(await flavors.get(flavor.id)).toEqual(flavor);
      expect((await flavors.find(flavor.name))?.id).toBe(flavor.id);
      expect(await flavors.find('no such flavor')).toBeUndefined();
      expect(flavor.vcpus).toBeGreaterThan(0);
    });

    it('are not looked up by name', async () => {
      const { name } = cloud.world.flavor;
      await refused(cloud.member.compute.flavors.get(name), {
        status: 404,
        says: `Flavor ${name} could not be found.`,
      });
    });

    it('can be filtered by size', async () => {
      const { flavors } = cloud.member.compute;
      const all = await collect(flavors.list());
      const largest = Math.max(...all.map(({ ram }) => ram));
      const large = await collect(flavors.list({ minRam: largest }));
      expect(large.every(({ ram }) => ram >= largest)).toBe(true);
      expect(large.length).toBeGreaterThan(0);
      await refused(cloud.member.compute.service.request({ method: 'GET', path: '/flavors', query: { minRam: 'x' } }), {
        status: 400,
        says: 'Invalid minRam filter [x]',
      });
    });

    it('come in pages', async () => {
      const { flavors } = cloud.member.compute;
      const all = (await collect(flavors.list())).map(({ id }) => id);
      const paged = (await collect(flavors.list({}, { pageSize: 1 }))).map(({ id }) => id);
      expect(paged).toEqual(all);
    });

    it('have extra specs of their own', async () => {
      const path = `/flavors/${cloud.world.flavor.id}/os-extra_specs`;
      expect((await cloud.member.compute.service.request({ method: 'GET', path })).member('extra_specs')).toBeTypeOf(
        'object',
      );
    });
  });

  describe('key pairs', () => {
    it('are made, shown and deleted by name', async () => {
      const { keypairs } = cloud.member.compute;
      const name = uniqueName('key');
      const made = await keypairs.create({ name, publicKey });
      expect(made).toMatchObject({ name, type: 'ssh', fingerprint: '15:c5:c1:36:d6:78:a2:95:20:09:e1:78:47:93:d2:38' });
      expect((await keypairs.get(name)).publicKey.trim()).toBe(publicKey);
      expect((await collect(keypairs.list())).map((key) => key.name)).toContain(name);
      await refused(keypairs.create({ name, publicKey }), {
        status: 409,
        kind: 'conflict',
        says: `Key pair '${name}' already exists.`,
      });
      expect(await keypairs.delete(name)).toBe(true);
      expect(await keypairs.delete(name)).toBe(false);
      await refused(keypairs.get(name), {
        status: 404,
        says: `Keypair ${name} not found for user ${cloud.tenant.userId}`,
      });
    });

    it('of our own making are keys', async () => {
      const { keypairs } = cloud.member.compute;
      const name = uniqueName('key');
      const keys = generateSshKeys(name);
      const made = await keypairs.create({ name, publicKey: keys.publicKey });
      const blob = Buffer.from(keys.publicKey.split(' ')[1] ?? '', 'base64');
      expect(made.fingerprint.replaceAll(':', '')).toBe(createHash('md5').update(blob).digest('hex'));
      expect(await keypairs.delete(name)).toBe(true);
    });

    it('must be keys', async () => {
      await refused(cloud.member.compute.keypairs.create({ name: uniqueName('key'), publicKey: 'nonsense' }), {
        status: 400,
        says: 'Keypair data is invalid: failed to generate fingerprint',
      });
    });

    it('are made by nova when no key is given, on clouds of that age', async () => {
      const name = uniqueName('key');
      const answer = await cloud.member.compute.service.request({
        method: 'POST',
        path: '/os-keypairs',
        json: { keypair: { name } },
        microversion: '2.60',
      });
      expect(String(answer.member('keypair')['private_key'])).toContain('PRIVATE KEY-----');
    });
  });

  describe('server groups', () => {
    it('are made, found and deleted', async () => {
      const { serverGroups } = cloud.member.compute;
      const name = uniqueName('group');
      const group = await serverGroups.create({ name, policy: 'soft-anti-affinity' });
      expect(group).toEqual({ id: group.id, name, policy: 'soft-anti-affinity', members: [] });
      expect(await serverGroups.find(name)).toEqual(group);
      await serverGroups.create({ name, policy: 'affinity' });
      await refusedAmbiguous(serverGroups.find(name));
      expect(await serverGroups.delete(group.id)).toBe(true);
      expect(await serverGroups.delete(group.id)).toBe(false);
    });

    it('had lists of policies before 2.64', async () => {
      const answer = await cloud.member.compute.service.request({
        method: 'POST',
        path: '/os-server-groups',
        json: { server_group: { name: uniqueName('group'), policies: ['anti-affinity'] } },
        microversion: '2.60',
      });
      expect(answer.member('server_group')).toMatchObject({ policies: ['anti-affinity'], metadata: {} });
    });

    it('know four policies', async () => {
      const json = { server_group: { name: 'g', policy: 'bogus' } };
      await refused(cloud.member.compute.service.request({ method: 'POST', path: '/os-server-groups', json }), {
        status: 400,
        says: "'bogus' is not one of ['anti-affinity', 'affinity', 'soft-anti-affinity', 'soft-affinity']",
      });
    });
  });

  describe('zones and limits', () => {
    it('tells its zones', async () => {
      const zones = await cloud.member.compute.availabilityZones.list();
      expect(zones.length).toBeGreaterThan(0);
      expect(zones.every(({ available }) => available)).toBe(true);
      await refused(cloud.member.compute.service.request({ method: 'GET', path: '/os-availability-zone/detail' }), {
        status: 403,
      });
    });

    it('tells limits and what is used of them', async () => {
      const limits = await cloud.member.compute.limits();
      expect(limits).toMatchObject({
        maxTotalInstances: 100,
        maxTotalCores: 1000,
        totalInstancesUsed: 0,
        maxServerMeta: expect.any(Number),
      });
      const quotas = await cloud.member.compute.quotas(cloud.tenant.projectId);
      expect(quotas['instances']).toEqual({ limit: 100, used: 0, reserved: 0 });
      expect(Object.keys(quotas).toSorted()).toEqual(
        [
          'cores',
          'instances',
          'key_pairs',
          'metadata_items',
          'ram',
          'server_group_members',
          'server_groups',
        ].toSorted(),
      );
    });

    it('keeps what is for administrators to them', async () => {
      const { service } = cloud.member.compute;
      await refused(service.request({ method: 'GET', path: '/os-hypervisors' }), {
        status: 403,
        kind: 'forbidden',
        says: "Policy doesn't allow os_compute_api:os-hypervisors:list to be performed.",
      });
      await refused(service.request({ method: 'GET', path: '/servers', query: { all_tenants: 1 } }), { status: 403 });
      const path = `/os-quota-sets/${cloud.tenant.projectId}`;
      await refused(service.request({ method: 'PUT', path, json: { quota_set: { cores: 1 } } }), { status: 403 });
      await refused(service.request({ method: 'GET', path: `/os-quota-sets/${nobody}` }), { status: 403 });
    });
  });
});

async function refusedAmbiguous(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ kind: 'ambiguous' });
}
