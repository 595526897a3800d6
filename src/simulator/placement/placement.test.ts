import { describe, expect, it } from 'vitest';
import { testTenant } from '../testing/test-tenant.ts';

describe('placement', () => {
  it('shows administrators the inventories and usages of hypervisors', async () => {
    const { admin, user, makeServer, clock } = await testTenant();
    await makeServer();
    await clock.advance(3000);
    const list = await admin.request('GET', '/placement/resource_providers');
    const providers = (list.body as { resource_providers: { uuid: string; name: string }[] }).resource_providers;
    expect(providers.map(({ name }) => name)).toEqual(['host-1', 'host-2', 'host-3']);
    const used = await Promise.all(
      providers.map(async ({ uuid }) => {
        const { body } = await admin.request('GET', `/placement/resource_providers/${uuid}/usages`);
        return (body as { usages: { VCPU: number } }).usages.VCPU;
      }),
    );
    expect(used.reduce((sum, each) => sum + each)).toBe(1);
    const newest = { 'openstack-api-version': 'placement 1.39' };
    expect(
      await admin.request('GET', `/placement/usages?project_id=${user.projectId}`, undefined, newest),
    ).toMatchObject({
      headers: { 'openstack-api-version': 'placement 1.39' },
      body: { usages: { VCPU: 1, MEMORY_MB: 1024 } },
    });
  });

  it('refuses members', async () => {
    const { user } = await testTenant();
    expect(await user.request('GET', '/placement/resource_providers')).toMatchObject({
      status: 403,
      body: { errors: [{ status: 403, title: 'Forbidden' }] },
    });
  });
});
