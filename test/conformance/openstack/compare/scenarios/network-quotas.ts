import type { Scenario } from '../scenario.ts';

export const networkQuotas: Scenario = {
  name: 'network: quotas',
  service: 'network',
  async play(cloud) {
    const { network } = await cloud.post('/v2.0/networks', { network: { name: 'cmp-quota' } });
    const project = network.tenant_id as string;
    await cloud.get(`/v2.0/quotas/${project}/default`);
    await cloud.get(`/v2.0/quotas/${project}/default.json`);
    await cloud.get('/v2.0/quotas');
    await cloud.get('/v2.0/quotas/tenant');
    await cloud.get('/v2.0/quotas/project');
    await cloud.get('/v2.0/quotas/00000000000000000000000000000001');
    await cloud.get('/v2.0/quotas/00000000000000000000000000000001/details.json');
    await cloud.put(`/v2.0/quotas/${project}`, { quota: { network: 1 } });
    await cloud.delete(`/v2.0/quotas/${project}`);
    cloud.as('admin');
    await cloud.put(`/v2.0/quotas/${project}`, { quota: { bogus: 1 } });
    await cloud.put(`/v2.0/quotas/${project}`, { quota: { network: 'x' } });
    await cloud.put(`/v2.0/quotas/${project}`, { quota: { network: -2 } });
    await cloud.put(`/v2.0/quotas/${project}`, { quota: {} });
    await cloud.put(`/v2.0/quotas/${project}`, {});
    const { quota: before } = await cloud.until(`/v2.0/quotas/${project}`, () => true);
    cloud.undo('PUT', `/v2.0/quotas/${project}`, { quota: { network: before.network, trunk: before.trunk } });
    await cloud.put(`/v2.0/quotas/${project}`, { quota: { network: 0, trunk: 7 } });
    cloud.as('openstack');
    await cloud.post('/v2.0/networks', { network: { name: 'cmp-over' } });
    await cloud.post('/v2.0/networks', { networks: [{ name: 'cmp-over' }, { name: 'cmp-over' }] });
    await cloud.get('/v2.0/networks?name=cmp-over');
  },
};
