import {
  type LatticeSettings,
  type OpenStackCluster,
  OpenStackClusters,
  type SecurityGroupRule,
} from '../../../api/index.ts';
import type { CloudFacts } from '../facts.ts';
import { credentialsName } from '../names.ts';
import type { ExpandedObject, Maker } from './naming.ts';

/** Port at which rke2 machines register. */
const rke2SupervisorPort = 9345;

/** Rules for Cilium between nodes: tunnels, agent health checks, Hubble. */
const ciliumRules: readonly SecurityGroupRule[] = [
  rule('cilium-vxlan', 'udp', 8472),
  rule('cilium-health', 'tcp', 4240),
  rule('cilium-hubble', 'tcp', 4244),
  { ...common('cilium-ping'), protocol: 'icmp' },
];

function common(name: string): SecurityGroupRule {
  return { name, direction: 'ingress', etherType: 'IPv4', remoteManagedGroups: ['controlplane', 'worker'] };
}

function rule(name: string, protocol: string, port: number): SecurityGroupRule {
  return { ...common(name), protocol, portRangeMin: port, portRangeMax: port };
}

/** Builds the infrastructure cluster: network, router, load balancer and security groups. */
export function infrastructureCluster(maker: Maker, settings: LatticeSettings, cloud: CloudFacts): ExpandedObject {
  const { loadBalancerFlavor, controlPlane } = settings;
  const spec: OpenStackCluster['spec'] = {
    identityRef: { name: credentialsName(maker.cluster), cloudName: settings.cloudName },
    externalNetwork: { id: cloud.externalNetworkId },
    managedSubnets: [{ cidr: settings.nodeCidr, dnsNameservers: [...settings.dnsNameservers] }],
    apiServer: {
      managedLoadBalancer: {
        enabled: true,
        ...(loadBalancerFlavor !== undefined && { flavor: loadBalancerFlavor }),
        ...(settings.bootstrap === 'rke2' && { additionalPorts: [rke2SupervisorPort] }),
      },
    },
    ...(settings.managedSecurityGroups && {
      managedSecurityGroups: settings.allowAllInClusterTraffic
        ? { allowAllInClusterTraffic: true }
        : { allowAllInClusterTraffic: false, clusterNodesSecurityGroupRules: [...ciliumRules] },
    }),
    ...(controlPlane.zone !== undefined && { controlPlaneAvailabilityZones: [controlPlane.zone] }),
  };
  return maker.make(OpenStackClusters, maker.cluster, { spec });
}
