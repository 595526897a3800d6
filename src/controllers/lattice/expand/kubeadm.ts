import {
  type KubeadmConfigSpec,
  KubeadmConfigTemplates,
  type KubeadmControlPlane,
  KubeadmControlPlanes,
  type KubeadmNodeRegistration,
  type LatticePoolSettings,
  type LatticeSettings,
} from '../../../api/index.ts';
import type { CloudFacts } from '../facts.ts';
import { controlPlaneName } from '../names.ts';
import { type ExpandedObject, type Maker, templateName } from './naming.ts';
import { kubeletLabels } from './node-labels.ts';
import { packagesFor } from './packages.ts';
import { referenceTo } from './reference.ts';

const everyAddress = [{ name: 'bind-address', value: '0.0.0.0' }];

/**
 * Must equal the provider ID set by the infrastructure controller: without region, because the identityRef has none.
 */
const providerId = 'openstack:///{{ instance_id }}';

function registration(more: { labels?: string } = {}): KubeadmNodeRegistration {
  return {
    name: '{{ local_hostname }}',
    criSocket: 'unix:///run/containerd/containerd.sock',
    kubeletExtraArgs: [
      { name: 'cloud-provider', value: 'external' },
      ...(more.labels === undefined ? [] : [{ name: 'node-labels', value: more.labels }]),
      { name: 'provider-id', value: providerId },
    ],
  };
}

/** Content common to all machines. */
function machineContent({ version, sshAuthorizedKeys }: LatticeSettings, { image }: CloudFacts): KubeadmConfigSpec {
  const packages = image === 'stock' ? packagesFor(version) : undefined;
  return {
    ...(packages && { files: packages.files, preKubeadmCommands: packages.commands }),
    ...(sshAuthorizedKeys.length > 0 && { users: [{ name: 'root', sshAuthorizedKeys: [...sshAuthorizedKeys] }] }),
  };
}

export function kubeadmControlPlane(
  maker: Maker,
  settings: LatticeSettings,
  cloud: CloudFacts,
  template: ExpandedObject,
): ExpandedObject {
  const spec: KubeadmControlPlane['spec'] = {
    replicas: settings.controlPlane.replicas,
    version: settings.version,
    machineTemplate: { spec: { infrastructureRef: referenceTo(template) } },
    kubeadmConfigSpec: {
      ...machineContent(settings, cloud),
      clusterConfiguration: {
        apiServer: {
          extraArgs: everyAddress,
          ...(settings.certSANs.length > 0 && { certSANs: [...settings.certSANs] }),
        },
        controllerManager: { extraArgs: [...everyAddress, { name: 'cloud-provider', value: 'external' }] },
        scheduler: { extraArgs: everyAddress },
      },
      initConfiguration: { nodeRegistration: registration() },
      joinConfiguration: { nodeRegistration: registration() },
    },
  };
  return maker.make(KubeadmControlPlanes, controlPlaneName(maker.cluster), { spec });
}

export function kubeadmWorkers(
  maker: Maker,
  settings: LatticeSettings,
  cloud: CloudFacts,
  { base, pool }: { base: string; pool: LatticePoolSettings },
): ExpandedObject {
  const { taints = [] } = pool.pool;
  const config: KubeadmConfigSpec = {
    ...machineContent(settings, cloud),
    joinConfiguration: {
      nodeRegistration: {
        ...registration({ labels: kubeletLabels(pool).join(',') }),
        ...(taints.length > 0 && { taints: taints.map((taint) => ({ ...taint })) }),
      },
    },
  };
  const spec = { template: { spec: config } };
  return maker.make(KubeadmConfigTemplates, templateName(base, spec), { spec }, pool.id);
}
