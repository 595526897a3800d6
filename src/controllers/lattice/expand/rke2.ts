import {
  type LatticePoolSettings,
  type LatticeSettings,
  type RKE2ConfigSpec,
  RKE2ConfigTemplates,
  type RKE2ControlPlane,
  RKE2ControlPlanes,
} from '../../../api/index.ts';
import { controlPlaneName } from '../names.ts';
import { type ExpandedObject, type Maker, templateName } from './naming.ts';
import { kubeletLabels } from './node-labels.ts';
import { referenceTo } from './reference.ts';

/** The cloud controller manager sets provider IDs on nodes: rke2 user data cannot contain the server id. */
const kubelet = { extraArgs: ['cloud-provider=external'] };

/** Approved cipher suites only, because rke2 is built for environments that require them. */
const cipherSuites = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
].join(',');

/** Appends the first rke2 build of a Kubernetes release, unless the version names a build. */
export const rke2Version = (version: string): string => (version.includes('+') ? version : `${version}+rke2r1`);

function machineContent({ sshAuthorizedKeys }: LatticeSettings): RKE2ConfigSpec {
  if (sshAuthorizedKeys.length === 0) return {};
  const content = `${sshAuthorizedKeys.join('\n')}\n`;
  return { files: [{ path: '/root/.ssh/authorized_keys', owner: 'root:root', permissions: '0600', content }] };
}

export function rke2ControlPlane(maker: Maker, settings: LatticeSettings, template: ExpandedObject): ExpandedObject {
  const spec: RKE2ControlPlane['spec'] = {
    replicas: settings.controlPlane.replicas,
    version: rke2Version(settings.version),
    registrationMethod: 'control-plane-endpoint',
    machineTemplate: { spec: { infrastructureRef: referenceTo(template) } },
    agentConfig: { kubelet },
    serverConfig: {
      cni: 'none',
      cloudProviderName: 'external',
      disableComponents: { kubernetesComponents: ['cloudController'] },
      kubeAPIServer: { extraArgs: ['anonymous-auth=true', `tls-cipher-suites=${cipherSuites}`] },
      ...(settings.certSANs.length > 0 && { tlsSan: [...settings.certSANs] }),
    },
    rolloutStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    ...machineContent(settings),
  };
  return maker.make(RKE2ControlPlanes, controlPlaneName(maker.cluster), { spec });
}

export function rke2Workers(
  maker: Maker,
  settings: LatticeSettings,
  { base, pool }: { base: string; pool: LatticePoolSettings },
): ExpandedObject {
  const { taints = [] } = pool.pool;
  const config: RKE2ConfigSpec = {
    ...machineContent(settings),
    agentConfig: {
      kubelet,
      nodeLabels: kubeletLabels(pool),
      ...(taints.length > 0 && {
        nodeTaints: taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`),
      }),
    },
  };
  const spec = { template: { spec: config } };
  return maker.make(RKE2ConfigTemplates, templateName(base, spec), { spec }, pool.id);
}
