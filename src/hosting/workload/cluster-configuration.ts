import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import { clusterConfigurationDocument } from '../kubeadm-documents/index.ts';
import type { PlaneSpec } from '../spec.ts';

/** Renders kubeadm's ClusterConfiguration; joining machines read versions and networks from it. */
export function planeClusterConfiguration(desired: PlaneSpec, facts: PlaneFacts): string {
  const { identity, network, exposure } = desired;
  const answer = planeEndpoint(desired, facts);
  const endpoint = answer.known ? answer.endpoint : undefined;
  const host = endpoint?.host.includes(':') ? `[${endpoint.host}]` : endpoint?.host;
  return clusterConfigurationDocument(
    {
      certificatesDir: '/etc/kubernetes/pki',
      imageRepository: 'registry.k8s.io',
      ...(exposure.sans.length > 0 && { apiServer: { certSANs: [...exposure.sans] } }),
    },
    {
      clusterName: desired.layout === 'together' ? desired.naming.controlPlane : identity.clusterName,
      kubernetesVersion: desired.version,
      ...(endpoint && { controlPlaneEndpoint: `${host}:${endpoint.port}` }),
      dnsDomain: network.domain,
      podSubnet: network.podCidrs.join(','),
      serviceSubnet: network.serviceCidrs.join(','),
    },
  ).text;
}
