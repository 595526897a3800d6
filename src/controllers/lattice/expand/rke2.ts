import {
  bootstrapGroup,
  controlPlaneGroup,
  type LatticePoolSettings,
  type LatticeSettings,
} from '../../../api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../../machinery/index.ts';
import { controlPlaneName } from '../names.ts';
import { type ExpandedObject, type Maker, templateName } from './naming.ts';
import { kubeletLabels } from './node-labels.ts';
import { referenceTo } from './reference.ts';

interface Rke2Object extends KubeObject {
  spec: JsonObject;
}

export const rke2ControlPlanes: Resource<Rke2Object> = {
  group: controlPlaneGroup,
  version: 'v1beta1',
  kind: 'RKE2ControlPlane',
  plural: 'rke2controlplanes',
  namespaced: true,
};

const configTemplates: Resource<Rke2Object> = {
  group: bootstrapGroup,
  version: 'v1beta1',
  kind: 'RKE2ConfigTemplate',
  plural: 'rke2configtemplates',
  namespaced: true,
};

/** Nodes learn their provider ids from the cloud controller: user data of rke2 has no place for the id of the server. */
const kubelet = { extraArgs: ['cloud-provider=external'] };

/** The approved ciphers, as rke2 is built for places that ask for them. */
const cipherSuites = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
].join(',');

/** `v1.32.0` is the first build for that release of Kubernetes. */
const rke2Version = (version: string): string => (version.includes('+') ? version : `${version}+rke2r1`);

function machineContent({ sshAuthorizedKeys }: LatticeSettings): JsonObject {
  if (sshAuthorizedKeys.length === 0) return {};
  const content = `${sshAuthorizedKeys.join('\n')}\n`;
  return { files: [{ path: '/root/.ssh/authorized_keys', owner: 'root:root', permissions: '0600', content }] };
}

export function rke2ControlPlane(maker: Maker, settings: LatticeSettings, template: ExpandedObject): ExpandedObject {
  const { apiGroup, ...reference } = referenceTo(template);
  const spec: JsonObject = {
    replicas: settings.controlPlane.replicas,
    version: rke2Version(settings.version),
    registrationMethod: 'control-plane-endpoint',
    machineTemplate: { infrastructureRef: { ...reference, apiVersion: `${apiGroup}/${template.resource.version}` } },
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
  return maker.make(rke2ControlPlanes, controlPlaneName(maker.cluster), { spec });
}

export function rke2Workers(
  maker: Maker,
  settings: LatticeSettings,
  { base, pool }: { base: string; pool: LatticePoolSettings },
): ExpandedObject {
  const { taints = [] } = pool.pool;
  const spec: JsonObject = {
    template: {
      spec: {
        ...machineContent(settings),
        agentConfig: {
          kubelet,
          nodeLabels: kubeletLabels(pool),
          ...(taints.length > 0 && {
            nodeTaints: taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`),
          }),
        },
      },
    },
  };
  return maker.make(configTemplates, templateName(base, spec), { spec }, pool.id);
}
