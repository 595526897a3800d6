import { expect, it } from 'vitest';
import type { Service } from '../../api/index.ts';
import { serviceVariables } from './service-links.ts';

it('points to Services with an address by their names and ports', () => {
  const service = (name: string, clusterIP: string): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: {
      clusterIP,
      ports: [
        { name: 'http-api', port: 80 },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    },
  });
  expect(serviceVariables([service('web-front', '10.0.0.9'), service('headless', 'None')])).toEqual({
    WEB_FRONT_SERVICE_HOST: '10.0.0.9',
    WEB_FRONT_SERVICE_PORT: '80',
    WEB_FRONT_SERVICE_PORT_HTTP_API: '80',
    WEB_FRONT_SERVICE_PORT_DNS: '53',
    WEB_FRONT_PORT: 'tcp://10.0.0.9:80',
    WEB_FRONT_PORT_80_TCP: 'tcp://10.0.0.9:80',
    WEB_FRONT_PORT_80_TCP_PROTO: 'tcp',
    WEB_FRONT_PORT_80_TCP_PORT: '80',
    WEB_FRONT_PORT_80_TCP_ADDR: '10.0.0.9',
    WEB_FRONT_PORT_53_UDP: 'udp://10.0.0.9:53',
    WEB_FRONT_PORT_53_UDP_PROTO: 'udp',
    WEB_FRONT_PORT_53_UDP_PORT: '53',
    WEB_FRONT_PORT_53_UDP_ADDR: '10.0.0.9',
  });
});
