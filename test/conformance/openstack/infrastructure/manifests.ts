import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { cloudName, identityName, secret } from './stage.ts';

const examples = fileURLToPath(new URL('../../../../examples/', import.meta.url));

/** Secret with the user data of machines without a bootstrap provider. */
export const userDataName = 'given-user-data';

/** Lets workers be created although their control plane never becomes available. */
const skipPreflight = { 'machineset.cluster.x-k8s.io/skip-preflight-checks': 'All' };

interface Document {
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: examples of known shape, taken apart here
  spec: any;
}

/** User data of machines without a bootstrap provider, needed by all clusters here. */
export function userData(): object {
  return secret(userDataName, { value: '#cloud-config\nruncmd:\n  - [echo, hello]\n', format: 'cloud-config' });
}

async function readExample(name: string): Promise<Document[]> {
  const text = await readFile(`${examples}${name}/cluster.yaml`, 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as Document);
}

/** Adapts an example to this cloud. */
function adapt(document: Document, keyName: string): Document {
  const adapted = structuredClone(document);
  delete adapted.metadata.namespace;
  const { spec } = adapted;
  switch (adapted.kind) {
    case 'OpenStackCluster':
      spec.identityRef = { name: identityName, cloudName };
      break;
    case 'OpenStackMachineTemplate':
      spec.template.spec.sshKeyName = keyName;
      if (spec.template.spec.rootVolume) delete spec.template.spec.rootVolume.type;
      break;
    case 'MachineDeployment':
      adapted.metadata.annotations = { ...adapted.metadata.annotations, ...skipPreflight };
      spec.template.spec.bootstrap = { dataSecretName: userDataName };
      break;
  }
  return adapted;
}

/** examples/vm-cluster: one kubeadm control plane machine, two workers with given user data. */
export async function floatingIpCluster(keyName: string): Promise<Document[]> {
  const documents = (await readExample('vm-cluster'))
    .filter(({ kind }) => kind !== 'KubeadmConfigTemplate')
    .map((document) => adapt(document, keyName));
  for (const { kind, metadata, spec } of documents) {
    if (kind === 'OpenStackCluster') spec.tags = ['conformance'];
    if (kind === 'OpenStackMachineTemplate' && metadata.name.endsWith('-md-0')) {
      spec.template.spec.configDrive = true;
      spec.template.spec.serverMetadata = [{ key: 'purpose', value: 'conformance' }];
      spec.template.spec.tags = ['worker'];
    }
  }
  return documents;
}

/** Zones of the second cluster's control plane machines, one each. */
export const controlPlaneZones = ['nova', 'az2', 'az3'] as const;

/**
 * examples/vm-cluster-ha with a bastion. A KubeadmControlPlane would create a second machine only after the first has
 * joined, so three Machines replace it.
 */
export async function loadBalancerCluster(keyName: string): Promise<Document[]> {
  const documents = (await readExample('vm-cluster-ha'))
    .filter(({ kind }) => !['KubeadmConfigTemplate', 'KubeadmControlPlane', 'MachineHealthCheck'].includes(kind))
    .map((document) => adapt(document, keyName));
  for (const { kind, spec } of documents) {
    if (kind === 'Cluster') delete spec.controlPlaneRef;
    if (kind === 'OpenStackCluster') {
      spec.managedSecurityGroups = {};
      spec.apiServer.managedLoadBalancer.additionalPorts = [9345];
      spec.bastion = {
        enabled: true,
        spec: {
          flavor: { filter: { name: 'm1.small' } },
          image: { filter: { name: 'ubuntu-22.04-x86_64' } },
          sshKeyName: keyName,
        },
      };
    }
    if (kind === 'MachineDeployment') {
      spec.template.metadata.annotations = {
        'infrastructure.cluster.x-k8s.io/managed-server-group': 'soft-anti-affinity',
      };
    }
  }
  const template = documents.find(
    ({ kind, metadata }) => kind === 'OpenStackMachineTemplate' && metadata.name === 'vm-cluster-ha-control-plane',
  );
  const machines = controlPlaneZones.flatMap((zone, index) =>
    controlPlaneMachine('vm-cluster-ha', `vm-cluster-ha-cp-${index}`, zone, template?.spec.template.spec),
  );
  return [...documents, ...machines];
}

function controlPlaneMachine(cluster: string, name: string, zone: string, spec: object): Document[] {
  const labels = { 'cluster.x-k8s.io/cluster-name': cluster, 'cluster.x-k8s.io/control-plane': '' };
  const infrastructure = 'infrastructure.cluster.x-k8s.io';
  const documents = [
    {
      apiVersion: `${infrastructure}/v1beta2`,
      kind: 'OpenStackMachine',
      metadata: { name, labels },
      spec: {
        ...spec,
        additionalBlockDevices: [{ name: 'etcd', sizeGiB: 2, storage: { type: 'Volume' } }],
      },
    },
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { name, labels },
      spec: {
        clusterName: cluster,
        version: 'v1.33.6',
        failureDomain: zone,
        bootstrap: { dataSecretName: userDataName },
        infrastructureRef: { apiGroup: infrastructure, kind: 'OpenStackMachine', name },
      },
    },
  ];
  return documents;
}
