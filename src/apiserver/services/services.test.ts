import { describe, expect, it } from 'vitest';
import {
  type Answer,
  at,
  configMap,
  mergePatch,
  onTargets,
  type Sent,
  startTestServer,
  targets,
} from '../testing/index.ts';

const service = (name: string, spec: object = {}): Sent => ({
  ...configMap(name),
  kind: 'Service',
  spec: { ports: [{ port: 80 }], ...spec },
});
const specOf = (answer: Answer): Record<string, unknown> => answer.body['spec'] as Record<string, unknown>;

onTargets(targets, (on, { real }) => {
  describe('cluster IPs', () => {
    it('are allocated one per Service, and kept by updates that leave them out', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const made = [await api.create(path, service('a')), await api.create(path, service('b'))];
      const [a, b] = made.map(specOf);
      expect(a).toMatchObject({
        clusterIP: expect.stringMatching(/^10\.\d+\.\d+\.\d+$/),
        clusterIPs: [a!['clusterIP']],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
      });
      expect(a!['clusterIP']).not.toBe(b!['clusterIP']);
      const replaced = await api.put(`${path}/a`, service('a', { ports: [{ port: 81 }] }));
      expect(replaced.status, replaced.text).toBe(200);
      expect(specOf(replaced)['clusterIP']).toBe(a!['clusterIP']);
    });

    it('can be requested when free, are refused when taken, and cannot be changed', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const taken = String(specOf(await api.create(path, service('a')))['clusterIP']);
      const refused = await api.post(path, service('b', { clusterIP: taken }));
      expect(refused.status).toBe(422);
      expect(refused.body['message']).toBe(
        `Service "b" is invalid: spec.clusterIPs: Invalid value: ["${taken}"]: failed to allocate IP ${taken}: provided IP is already allocated`,
      );
      await api.delete(`${path}/a`);
      const asked = await api.post(path, service('b', { clusterIP: taken }));
      expect([asked.status, specOf(asked)['clusterIP']]).toEqual([201, taken]);
      const changed = await api.patch(`${path}/b`, mergePatch, {
        spec: { clusterIP: '10.0.0.77', clusterIPs: ['10.0.0.77'] },
      });
      expect(changed.status).toBe(422);
    });

    it('are refused when they are outside the range', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const answer = await api.post(path, service('a', { clusterIP: '192.0.2.7' }));
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain(
        'spec.clusterIPs: Invalid value: ["192.0.2.7"]: failed to allocate IP 192.0.2.7: the provided network does not match the current range',
      );
    });

    it('are not allocated for headless Services and external names', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const headless = await api.create(path, service('headless', { clusterIP: 'None' }));
      expect(specOf(headless)).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] });
      const external = await api.create(path, {
        ...service('external'),
        spec: { type: 'ExternalName', externalName: 'example.com' },
      });
      expect(specOf(external)).not.toHaveProperty('clusterIP');
    });

    it('are released when a Service becomes an external name', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const address = specOf(await api.create(path, service('a')))['clusterIP'];
      const changed = await api.patch(`${path}/a`, mergePatch, {
        spec: { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null },
      });
      expect(changed.status, changed.text).toBe(200);
      expect(specOf(changed)).not.toHaveProperty('clusterIP');
      expect((await api.post(path, service('b', { clusterIP: address }))).status).toBe(201);
    });

    it.skipIf(real)('are not allocated by a dry run', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const tried = await api.post(`${path}?dryRun=All`, service('a'));
      const address = specOf(tried)['clusterIP'];
      expect((await api.post(path, service('b', { clusterIP: address }))).status).toBe(201);
    });
  });

  describe('node ports', () => {
    it('are allocated from their range to Services that need them', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      for (const type of ['NodePort', 'LoadBalancer']) {
        const made = await api.create(path, service(type.toLowerCase(), { type }));
        const port = Number(at(made.body, 'spec.ports.0.nodePort'));
        expect(port).toBeGreaterThanOrEqual(30000);
        expect(port).toBeLessThanOrEqual(32767);
        expect(specOf(made)).toMatchObject({ externalTrafficPolicy: 'Cluster' });
      }
      const without = await api.create(
        path,
        service('none', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }),
      );
      expect(at(without.body, 'spec.ports.0')).not.toHaveProperty('nodePort');
    });

    it('are refused when taken or out of range, and one Service may use one for several protocols', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const made = await api.create(path, service('a', { type: 'NodePort' }));
      const nodePort = Number(at(made.body, 'spec.ports.0.nodePort'));
      const taken = await api.post(path, service('b', { type: 'NodePort', ports: [{ port: 80, nodePort }] }));
      expect(taken.status).toBe(422);
      expect(taken.body['message']).toBe(
        `Service "b" is invalid: spec.ports[0].nodePort: Invalid value: ${nodePort}: provided port is already allocated`,
      );
      const outside = await api.post(path, service('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }));
      expect(outside.status).toBe(422);
      expect(outside.body['message']).toContain('The range of valid ports is 30000-32767');
      const udp = { type: 'NodePort', ports: [{ port: 80, nodePort, protocol: 'UDP' }] };
      expect((await api.post(path, service('udp', udp))).status).toBe(422);
      const both = ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol }));
      const dns = await api.create(path, service('dns', { type: 'NodePort', ports: both }));
      expect(at(dns.body, 'spec.ports.0.nodePort')).toBe(at(dns.body, 'spec.ports.1.nodePort'));
    });

    it('are kept by updates that leave them out, and released when no longer needed', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('services');
      const made = await api.create(path, service('a', { type: 'NodePort' }));
      const nodePort = at(made.body, 'spec.ports.0.nodePort');
      const replaced = await api.put(`${path}/a`, service('a', { type: 'NodePort' }));
      expect(at(replaced.body, 'spec.ports.0.nodePort')).toBe(nodePort);
      const back = await api.put(`${path}/a`, service('a', { type: 'ClusterIP' }));
      expect(back.status, back.text).toBe(200);
      expect(at(back.body, 'spec.ports.0')).not.toHaveProperty('nodePort');
      const again = await api.post(path, service('b', { type: 'NodePort', ports: [{ port: 80, nodePort }] }));
      expect(again.status).toBe(201);
    });
  });

  it('a load balancer with traffic policy Local gets a health check port and keeps it', async () => {
    const { api, namespace } = on();
    const path = (await namespace()).core('services');
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const port = specOf(await api.create(path, service('a', local)))['healthCheckNodePort'];
    expect(port).toBeTypeOf('number');
    const replaced = await api.put(`${path}/a`, service('a', { ...local, ports: [{ port: 81 }] }));
    expect(specOf(replaced)['healthCheckNodePort']).toBe(port);
  });

  it.skipIf(real)('many Services created at once get different addresses and ports', async () => {
    const { api, namespace } = on();
    const path = (await namespace()).core('services');
    const names = Array.from({ length: 40 }, (_, i) => `s${i}`);
    const made = await Promise.all(names.map((name) => api.post(path, service(name, { type: 'NodePort' }))));
    const taken = made.map((answer) => [specOf(answer)['clusterIP'], at(answer.body, 'spec.ports.0.nodePort')]);
    expect(new Set(taken.map(([address]) => address)).size).toBe(names.length);
    expect(new Set(taken.map(([, port]) => port)).size).toBe(names.length);
  });
});

describe('a small Service range', () => {
  it('is exhausted with an error, and usable again when an address is released', async () => {
    const server = await startTestServer({ serviceCidr: '10.5.0.0/29' });
    const api = server.api();
    const path = '/api/v1/namespaces/default/services';
    const before = (await api.get('/api/v1/services')).items.length;
    const free = 6 - before;
    for (let i = 0; i < free; i++) await api.create(path, service(`s${i}`));
    const full = await api.post(path, service('full'));
    expect(full.status).toBe(500);
    expect(full.body['message']).toContain('range is full');
    await api.delete(`${path}/s0`);
    expect((await api.post(path, service('fits'))).status).toBe(201);
    await server.stop();
  });
});
