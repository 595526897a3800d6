import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import { clusterConfigurationDocument } from '../kubeadm-documents/index.ts';
import type { PlaneWish } from '../wish.ts';

/** kubeadm's ClusterConfiguration for the plane, as YAML: joining machines read versions and networks from it. */
export function planeClusterConfiguration(wish: PlaneWish, facts: PlaneFacts): string {
  const { identity, network, exposure } = wish;
  const answer = planeEndpoint(wish, facts);
  const endpoint = answer.known ? answer.endpoint : undefined;
  const host = endpoint?.host.includes(':') ? `[${endpoint.host}]` : endpoint?.host;
  return clusterConfigurationDocument(
    {
      certificatesDir: '/etc/kubernetes/pki',
      imageRepository: 'registry.k8s.io',
      ...(exposure.sans.length > 0 && { apiServer: { certSANs: [...exposure.sans] } }),
    },
    {
      clusterName: wish.layout === 'together' ? wish.naming.controlPlane : identity.clusterName,
      kubernetesVersion: wish.version,
      ...(endpoint && { controlPlaneEndpoint: `${host}:${endpoint.port}` }),
      dnsDomain: network.domain,
      podSubnet: network.podCidrs.join(','),
      serviceSubnet: network.serviceCidrs.join(','),
    },
  ).text;
}
