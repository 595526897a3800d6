import {
  Clusters,
  KubeadmConfigTemplates,
  KubeadmControlPlanes,
  MachineDeployments,
  OpenStackClusters,
  OpenStackMachineTemplates,
  RKE2ControlPlanes,
  Secrets,
} from '../../../src/api/index.ts';
import type { JsonObject, KubeObject } from '../../../src/machinery/index.ts';
import { namespace } from '../cluster-manifests.ts';
import { by, type System } from '../system.ts';
import { type CausedFault, ofControlPlane, ofWorkers, wrongSpec } from './fault.ts';

const identity = (changes: JsonObject): NonNullable<CausedFault['manifests']> =>
  wrongSpec(OpenStackClusters, { identityRef: { name: 'cloud-config', cloudName: 'openstack', ...changes } });
const machine = (spec: JsonObject): NonNullable<CausedFault['manifests']> =>
  wrongSpec(OpenStackMachineTemplates, { template: { spec } }, ofControlPlane);
const inOpenStackCluster = /^OpenStackCluster\/\*$/;
const inMachine = /^OpenStackMachine\/\*-control-plane-/;
const secretCure = /Secret that identityRef names/;
const nameCure = /correct the name/;

const secret =
  (name: string, data: (system: System) => Record<string, string>) =>
  async (system: System): Promise<void> => {
    const encoded = Object.fromEntries(
      Object.entries(data(system)).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    );
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: encoded };
    await system.client.create(Secrets, object, by);
  };

const image =
  (spec: { name: string; minDisk?: number }) =>
  async (system: System): Promise<void> => {
    const { images } = system.tenant.image;
    const made = await images.create({ diskFormat: 'raw', containerFormat: 'bare', ...spec });
    await images.upload(made.id, Buffer.from('disk'));
  };

/** Errors in manifests, each with its own cluster in the same world. */
export const wrongManifests: readonly CausedFault[] = [
  {
    what: 'the Secret of the credentials does not exist',
    manifests: identity({ name: 'absent' }),
    says: { object: inOpenStackCluster, message: /Secret default\/absent does not exist/, next: secretCure },
  },
  {
    what: 'the Secret has no clouds.yaml',
    before: secret('no-key', () => ({ 'cloud.yaml': 'clouds: {}' })),
    manifests: identity({ name: 'no-key' }),
    says: { object: inOpenStackCluster, message: /clouds\.yaml/, next: secretCure },
  },
  {
    what: 'the clouds.yaml is no YAML',
    before: secret('no-yaml', () => ({ 'clouds.yaml': 'clouds: [' })),
    manifests: identity({ name: 'no-yaml' }),
    says: { object: inOpenStackCluster, message: /YAML|yaml/, next: secretCure },
  },
  {
    what: 'the password is wrong',
    before: secret('wrong-password', ({ cloudsYaml }) => ({
      'clouds.yaml': cloudsYaml.replaceAll(/password: .*/g, 'password: wrong'),
    })),
    manifests: identity({ name: 'wrong-password' }),
    says: { object: inOpenStackCluster, message: /does not accept user/, next: secretCure },
  },
  {
    what: 'the cloud is not in clouds.yaml',
    manifests: identity({ cloudName: 'elsewhere' }),
    says: { object: inOpenStackCluster, message: /elsewhere/, next: secretCure },
  },
  {
    what: 'the region is not one of the cloud',
    manifests: identity({ region: 'Nowhere' }),
    says: { object: inOpenStackCluster, message: /"Nowhere" is not one of its regions/, next: /region/ },
  },
  {
    what: 'the catalogue lacks the region',
    before: secret('other-region', ({ cloudsYaml }) => ({
      'clouds.yaml': cloudsYaml.replaceAll('RegionOne', 'Elsewhere'),
    })),
    manifests: identity({ name: 'other-region' }),
    says: { object: inOpenStackCluster, message: /region "Elsewhere"/, next: /region/ },
  },
  {
    what: 'keystone is not there',
    before: secret('nobody-there', ({ cloudsYaml }) => ({
      'clouds.yaml': cloudsYaml.replaceAll('http://cloud.test', 'http://nobody.test'),
    })),
    manifests: identity({ name: 'nobody-there' }),
    says: { object: inOpenStackCluster, message: /ECONNREFUSED/, next: /auth_url/ },
  },
  {
    what: 'the authority of the cloud is not known',
    before: secret('untrusted', ({ cloudsYaml }) => ({
      'clouds.yaml': cloudsYaml.replaceAll('http://cloud.test', 'https://untrusted.test'),
    })),
    manifests: identity({ name: 'untrusted' }),
    says: { object: inOpenStackCluster, message: /certificate/, next: /cacert/ },
  },
  {
    what: 'the user may only read',
    manifests: identity({ cloudName: 'demo-reader' }),
    says: { object: inOpenStackCluster, message: /[Pp]olicy|forbidden|disallowed/, next: /role/ },
  },
  {
    what: 'the external network does not exist',
    manifests: wrongSpec(OpenStackClusters, { externalNetwork: { filter: { name: 'outer-space' } } }),
    says: { object: inOpenStackCluster, message: /outer-space/, next: nameCure },
  },
  {
    what: 'the network does not exist',
    manifests: wrongSpec(OpenStackClusters, { network: { filter: { name: 'no-such-network' } }, managedSubnets: null }),
    says: { object: inOpenStackCluster, message: /no-such-network/, next: nameCure },
  },
  {
    what: 'the subnet does not exist',
    manifests: wrongSpec(OpenStackClusters, {
      network: { filter: { name: 'k8s-clusterapi-cluster-default-capo-test' } },
      subnets: [{ filter: { name: 'no-such-subnet' } }],
      managedSubnets: null,
    }),
    says: { object: inOpenStackCluster, message: /no-such-subnet/, next: nameCure },
  },
  {
    what: 'the router does not exist',
    manifests: wrongSpec(OpenStackClusters, { router: { filter: { name: 'no-such-router' } } }),
    says: { object: inOpenStackCluster, message: /no-such-router/, next: nameCure },
  },
  {
    what: 'the floating IP belongs to nobody here',
    manifests: wrongSpec(OpenStackClusters, { apiServer: { floatingIP: '127.64.99.99' } }),
    says: { object: /./, message: /127\.64\.99\.99/, next: /./ },
  },
  {
    what: 'the image does not exist',
    manifests: machine({ image: { filter: { name: 'no-such-image' } } }),
    says: { object: inMachine, message: /no-such-image/, next: nameCure },
  },
  {
    what: 'two images have the name',
    before: async (system) => {
      await image({ name: 'twice' })(system);
      await image({ name: 'twice' })(system);
    },
    manifests: machine({ image: { filter: { name: 'twice' } } }),
    says: { object: inMachine, message: /twice/, next: /id|tags/ },
  },
  {
    what: 'the image has no Kubernetes on it',
    manifests: machine({ image: { filter: { name: 'Ubuntu 22.04' } } }),
    says: { object: inMachine, message: /no Kubernetes on it/, next: /image/ },
  },
  {
    what: 'the image has another version of Kubernetes',
    manifests: machine({ image: { filter: { name: 'ubuntu-capi-image-v1.31.14' } } }),
    says: {
      object: /^KubeadmControlPlane\/\*/,
      message: /v1\.31\.14, v1\.33\.6 required: the image/,
      next: /image of the right version/,
    },
  },
  {
    what: 'the flavor does not exist',
    manifests: machine({ flavor: { filter: { name: 'no-such-flavor' } } }),
    says: { object: inMachine, message: /no-such-flavor/, next: nameCure },
  },
  {
    what: 'the disk of the flavor is too small for the image',
    before: image({ name: 'large', minDisk: 500 }),
    manifests: machine({ image: { filter: { name: 'large' } } }),
    says: { object: inMachine, message: /disk is (?:smaller|too small)|too small/, next: /flavor/ },
  },
  {
    what: 'the flavor is too small for kubeadm',
    manifests: machine({ flavor: { filter: { name: 'm1.tiny' } } }),
    says: { object: inMachine, message: /preflight check of kubeadm failed: "?.*\[ERROR/, next: /flavor/ },
  },
  {
    what: 'the key pair does not exist',
    manifests: machine({ sshKeyName: 'no-such-key' }),
    says: { object: inMachine, message: /no-such-key/, next: /capstan create keypair/ },
  },
  {
    what: 'the security group does not exist',
    manifests: machine({ securityGroups: [{ filter: { name: 'no-such-group' } }] }),
    says: { object: inMachine, message: /no-such-group/, next: nameCure },
  },
  {
    what: 'the network of a port does not exist',
    manifests: machine({ ports: [{ network: { filter: { name: 'no-such-port-network' } } }] }),
    says: { object: inMachine, message: /no-such-port-network/, next: nameCure },
  },
  {
    what: 'the server group does not exist',
    manifests: machine({ serverGroup: { filter: { name: 'no-such-servers' } } }),
    says: { object: inMachine, message: /no-such-servers/, next: nameCure },
  },
  {
    what: 'the type of the root volume does not exist',
    manifests: machine({ rootVolume: { sizeGiB: 20, type: 'no-such-type' } }),
    says: { object: inMachine, message: /no-such-type/, next: nameCure },
  },
  {
    what: 'a Secret with a file of the bootstrap config is missing',
    manifests: wrongSpec(KubeadmControlPlanes, {
      kubeadmConfigSpec: { files: [{ path: '/etc/x', contentFrom: { secret: { name: 'no-such-file', key: 'x' } } }] },
    }),
    says: { object: /^KubeadmConfig\/\*/, message: /no-such-file/, next: /./ },
  },
  {
    what: 'a command of the bootstrap config fails',
    manifests: wrongSpec(KubeadmControlPlanes, { kubeadmConfigSpec: { preKubeadmCommands: ['exit 7'] } }),
    says: { object: inMachine, message: /command of the user data failed/, next: /bootstrap config/ },
  },
  {
    what: 'kubeadm gets an argument its API server does not know',
    manifests: wrongSpec(KubeadmControlPlanes, {
      kubeadmConfigSpec: { clusterConfiguration: { apiServer: { extraArgs: [{ name: 'no-such-flag', value: 'x' }] } } },
    }),
    says: {
      object: inMachine,
      message: /control plane does not start.*unknown flag: --no-such-flag/,
      next: /extraArgs/,
    },
  },
  {
    what: 'the template of the workers is missing',
    manifests: (manifests) =>
      manifests.filter(({ resource, object }) => resource !== OpenStackMachineTemplates || ofControlPlane(object)),
    cluster: { workers: 1 },
    says: {
      object: /^OpenStackMachineTemplate\/\*|^MachineDeployment\/\*|MachineSet/,
      message: /./,
      next: /create OpenStackMachineTemplate/,
    },
  },
  {
    what: 'the bootstrap template of the workers is missing',
    manifests: (manifests) => manifests.filter(({ resource }) => resource !== KubeadmConfigTemplates),
    cluster: { workers: 1 },
    says: { object: /./, message: /KubeadmConfigTemplate/, next: /create KubeadmConfigTemplate/ },
  },
  {
    what: 'the OpenStackCluster is missing',
    manifests: (manifests) => manifests.filter(({ resource }) => resource !== OpenStackClusters),
    says: { object: inOpenStackCluster, message: /does not exist/, next: /create OpenStackCluster/ },
  },
  {
    what: 'the control plane is missing',
    manifests: (manifests) => manifests.filter(({ resource }) => resource !== KubeadmControlPlanes),
    says: { object: /^KubeadmControlPlane\/\*/, message: /does not exist/, next: /create KubeadmControlPlane/ },
  },
  {
    what: 'the cluster is paused',
    manifests: wrongSpec(Clusters, { paused: true }),
    says: { object: /^Cluster\/\*$/, message: /spec\.paused/, next: /kubectl patch/ },
  },
  {
    what: 'the zone of the workers does not exist',
    cluster: { workers: 1 },
    manifests: wrongSpec(MachineDeployments, { template: { spec: { failureDomain: 'venus' } } }),
    says: { object: /^OpenStackMachine\/\*-md-0/, message: /venus/, next: /zone/ },
  },
  {
    what: 'the image of the workers does not exist',
    cluster: { workers: 1 },
    manifests: wrongSpec(
      OpenStackMachineTemplates,
      { template: { spec: { image: { filter: { name: 'no-worker' } } } } },
      ofWorkers,
    ),
    says: { object: /^OpenStackMachine\/\*-md-0/, message: /no-worker/, next: nameCure },
  },
  {
    what: 'there is no such version of rke2',
    cluster: { distribution: 'rke2' },
    manifests: wrongSpec(RKE2ControlPlanes, { version: 'v1.39.0+rke2r1' }),
    says: {
      object: inMachine,
      message: /release of Kubernetes cannot be had.*v1\.39\.0\+rke2r1/,
      next: /correct version/,
    },
  },
  {
    what: 'the class of the topology does not exist',
    manifests: (manifests) =>
      manifests
        .filter(({ resource }) => resource === Clusters)
        .map(({ resource, object }) => ({
          resource,
          object: {
            ...object,
            spec: { topology: { classRef: { name: 'no-such-class' }, version: 'v1.33.6' } },
          } as KubeObject,
        })),
    says: { object: /^Cluster\/\*$/, message: /no-such-class/, next: /./ },
  },
  {
    what: 'the image of the workers is of another version',
    cluster: { workers: 1 },
    manifests: wrongSpec(
      OpenStackMachineTemplates,
      { template: { spec: { image: { filter: { name: 'ubuntu-capi-image-v1.34.2' } } } } },
      ofWorkers,
    ),
    says: { object: /-md-0/, message: /version/, next: /image/ },
  },
];
