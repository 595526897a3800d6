import { stringify } from 'yaml';
import type { Taint } from '../../../../api/index.ts';
import type { JsonObject } from '../../../../machinery/index.ts';
import { formatTaint, writeKubeletFlags } from '../kubelet/flags.ts';
import { versionFile } from '../kubelet/kubelet.ts';
import { dnsAddress } from './addons.ts';
import type { KubeadmContext } from './context.ts';
import type { Argument, ClusterConfiguration, NodeRegistration } from './documents.ts';
import { controlPlaneMarks } from './marks.ts';
import { paths } from './names.ts';
import { type KubernetesVersion, pauseVersion } from './version.ts';

/** Builds the kubelet configuration, which all nodes of a cluster share. */
export function kubeletConfiguration(cluster: ClusterConfiguration, given: JsonObject | undefined): string {
  const dns = dnsAddress(cluster.serviceSubnet);
  return stringify(
    {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      authentication: {
        anonymous: { enabled: false },
        webhook: { cacheTTL: '0s', enabled: true },
        x509: { clientCAFile: `${cluster.certificatesDir}/ca.crt` },
      },
      authorization: { mode: 'Webhook' },
      cgroupDriver: 'systemd',
      ...(dns !== undefined && { clusterDNS: [dns] }),
      clusterDomain: cluster.dnsDomain,
      containerRuntimeEndpoint: '',
      kind: 'KubeletConfiguration',
      rotateCertificates: true,
      staticPodPath: paths.manifests,
      ...given,
    },
    { lineWidth: 0 },
  );
}

/** Returns the taints of a new Node: those of the configuration, else the default of a control plane. */
export function registrationTaints(
  registration: NodeRegistration,
  { isControlPlane, version }: { isControlPlane: boolean; version: KubernetesVersion },
): readonly Taint[] {
  return registration.taints ?? (isControlPlane ? controlPlaneMarks(version).taints : []);
}

/** Writes the files the kubelet needs to start. */
export function writeKubeletFiles(
  { machine, say }: KubeadmContext,
  facts: {
    readonly nodeName: string;
    readonly registration: NodeRegistration;
    readonly isControlPlane: boolean;
    readonly configuration: string;
    readonly version: KubernetesVersion;
    readonly imageRepository: string;
  },
): void {
  const { nodeName, registration, version } = facts;
  const taints = registrationTaints(registration, facts);
  const flags: Argument[] = [
    ['container-runtime-endpoint', registration.criSocket],
    ['hostname-override', nodeName],
    ['pod-infra-container-image', `${facts.imageRepository}/pause:${pauseVersion(version)}`],
    ...(taints.length > 0 ? [['register-with-taints', taints.map(formatTaint).join(',')] as const] : []),
  ];
  const given = new Set(registration.kubeletExtraArgs.map(([name]) => name));
  say(`[kubelet-start] Writing kubelet environment file with flags to file "${paths.kubeletFlags}"`);
  writeKubeletFlags(machine.disk, [...flags.filter(([name]) => !given.has(name)), ...registration.kubeletExtraArgs]);
  say(`[kubelet-start] Writing kubelet configuration to file "${paths.kubeletConfig}"`);
  machine.disk.write(paths.kubeletConfig, facts.configuration, 0o644);
  machine.disk.write(versionFile, `${version.text}\n`, 0o644);
}

/** Returns the name of the Node. */
export function nodeNameOf({ machine }: KubeadmContext, registration: NodeRegistration): string {
  const override = registration.kubeletExtraArgs.find(([name]) => name === 'hostname-override')?.[1];
  return (registration.name ?? override ?? machine.hostname).toLowerCase();
}
