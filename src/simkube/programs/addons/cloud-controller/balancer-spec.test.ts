import { describe, expect, it } from 'vitest';
import type { Node, Service } from '../../../../api/index.ts';
import { parseCloudConf } from '../cloud-conf.ts';
import { balancerSpec, wantsBalancer } from './balancer-spec.ts';

const node = (name: string, address: string, more: Partial<Node['metadata']> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...more },
  spec: { providerID: `openstack:///${name}` },
  status: { addresses: [{ type: 'InternalIP', address }] },
});
const service = (annotations: Record<string, string> = {}, spec: Partial<Service['spec']> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'shop', annotations },
  spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30080 }], ...spec },
});
const conf = parseCloudConf('[LoadBalancer]\nfloating-network-id=default\n[LoadBalancerClass "inner"]\nsubnet-id=s1\n');
const prefix = 'loadbalancer.openstack.org/';

describe('the load balancer of a Service', () => {
  it('has the name, the ports and the nodes of the Service', () => {
    const excluded = { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } };
    const nodes = [node('b', '10.0.0.2'), node('a', '10.0.0.1'), node('plane', '10.0.0.9', excluded)];
    const { name, ports, members, floatingNetworkId, isInternal, monitor } = balancerSpec(service(), nodes, conf, 'c1');
    expect(name).toBe('kube_service_c1_shop_web');
    expect(ports).toEqual([{ protocol: 'TCP', poolProtocol: 'TCP', port: 80, nodePort: 30080 }]);
    expect(members.map((member) => member.address)).toEqual(['10.0.0.1', '10.0.0.2']);
    expect({ floatingNetworkId, isInternal, monitor }).toEqual({
      floatingNetworkId: 'default',
      isInternal: false,
      monitor: undefined,
    });
  });

  it('takes its settings from annotations, then its class, then the configuration', () => {
    const spec = balancerSpec(
      service({
        [`${prefix}class`]: 'inner',
        [`${prefix}floating-network-id`]: 'mine',
        [`${prefix}proxy-protocol`]: 'true',
        [`${prefix}enable-health-monitor`]: 'true',
        [`${prefix}health-monitor-delay`]: '10',
        'service.beta.kubernetes.io/openstack-internal-load-balancer': 'true',
      }),
      [],
      conf,
      'c1',
    );
    expect(spec).toMatchObject({ floatingNetworkId: 'mine', subnetId: 's1', isInternal: true });
    expect(spec.monitor).toEqual({ delay: 10, timeout: 3, maxRetries: 1, maxRetriesDown: 3 });
    expect(spec.ports[0]?.poolProtocol).toBe('PROXY');
  });

  it.each([
    ['an unknown class', { [`${prefix}class`]: 'nosuch' }, {}, 'invalid loadbalancer class "nosuch"'],
    ['a number that is none', { [`${prefix}connection-limit`]: 'many' }, {}, 'connection-limit'],
    [
      'what excludes each other',
      { [`${prefix}proxy-protocol`]: 'true', [`${prefix}x-forwarded-for`]: 'true' },
      {},
      'cannot be used together',
    ],
    ['no ports', {}, { ports: [] }, 'no service ports provided'],
  ])('is refused for %s', (_what, annotations, spec, words) => {
    expect(() => balancerSpec(service(annotations, spec), [], conf, 'c1')).toThrow(words);
  });

  it('is not wanted by Services of another class, another type, or in deletion', () => {
    expect(wantsBalancer(service())).toBe(true);
    expect(wantsBalancer(service({}, { loadBalancerClass: 'other' }))).toBe(false);
    expect(wantsBalancer(service({}, { type: 'ClusterIP' }))).toBe(false);
    const going = service();
    expect(
      wantsBalancer({ ...going, metadata: { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ).toBe(false);
  });
});
