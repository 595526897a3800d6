import type { KubeObject } from '../../machinery/index.ts';
import { formatAddress, type ServiceRange } from './address-allocator.ts';

/**
 * Builds the default Service of the API server, which has the first address of the range. It has no endpoints, because
 * the server listens on loopback, which is not allowed in endpoints.
 */
export function kubernetesService(range: ServiceRange): KubeObject {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kubernetes',
      namespace: 'default',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      clusterIP: formatAddress(range.base),
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
    },
  };
  return service;
}
