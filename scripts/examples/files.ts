import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { derivedAnswers, firstOf } from '../../src/cli/generate/variables.ts';
import { replaceVariables } from '../../src/template/index.ts';

const root = resolve(import.meta.dirname, '../..');

/** Values for the cloud of `capstan up --simulated-cloud`. */
const simulatedCloud = {
  NAMESPACE: 'default',
  OPENSTACK_CLOUD: 'openstack',
  OPENSTACK_CLOUD_CONFIG_SECRET: 'simulated-cloud',
  OPENSTACK_EXTERNAL_NETWORK_ID: 'public',
  OPENSTACK_SSH_KEY_NAME: 'demo',
  OPENSTACK_NODE_MACHINE_FLAVOR: 'm1.small',
  KUBERNETES_VERSION: 'v1.33.6',
  OPENSTACK_IMAGE_NAME: 'ubuntu-capi-image-v1.33.6',
};

/** Examples generated from templates of `capstan generate cluster`, for the simulated cloud. */
const examples: readonly { folder: string; template: string; values: Readonly<Record<string, string>> }[] = [
  {
    folder: 'vm-cluster',
    template: 'cluster-template.yaml',
    values: {
      CLUSTER_NAME: 'vm-cluster',
      OPENSTACK_API_SERVER_LOAD_BALANCER: 'false',
      OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR: 'm1.medium',
    },
  },
  {
    folder: 'vm-cluster-rke2',
    template: 'cluster-template-rke2.yaml',
    values: {
      CLUSTER_NAME: 'vm-cluster-rke2',
      OPENSTACK_IMAGE_NAME: 'ubuntu-22.04-x86_64',
      OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR: 'm1.medium',
      OPENSTACK_NODE_MACHINE_FLAVOR: 'm1.medium',
      OPENSTACK_NODE_CIDR: '10.8.0.0/24',
    },
  },
  {
    folder: 'hosted-k0smotron',
    template: 'cluster-template-k0smotron.yaml',
    values: {
      CLUSTER_NAME: 'hosted-k0smotron',
      KUBERNETES_VERSION: 'v1.32.6',
      OPENSTACK_IMAGE_NAME: 'Ubuntu 22.04',
      OPENSTACK_NODE_CIDR: '10.7.0.0/24',
    },
  },
  {
    folder: 'hosted-kamaji',
    template: 'cluster-template-kamaji.yaml',
    values: { CLUSTER_NAME: 'hosted-kamaji', OPENSTACK_NODE_CIDR: '10.8.0.0/24' },
  },
  {
    folder: 'hosted-control-plane',
    template: 'cluster-template-hosted.yaml',
    values: { CLUSTER_NAME: 'hosted', OPENSTACK_NODE_CIDR: '10.9.0.0/24' },
  },
  {
    folder: 'hosted-cluster-stack',
    template: 'cluster-template-stack.yaml',
    values: { CLUSTER_NAME: 'stacked', CLUSTER_STACK_OBJECT: 'hosted', OPENSTACK_NODE_MACHINE_FLAVOR: 'SCS-2V-4' },
  },
  {
    folder: 'lattice-cluster',
    template: 'cluster-template-lattice.yaml',
    values: {
      CLUSTER_NAME: 'lattice',
      OPENSTACK_IMAGE_NAME: 'Ubuntu 24.04',
      OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR: 'm1.large',
      OPENSTACK_NODE_MACHINE_FLAVOR: 'b2-7',
    },
  },
];

/** Returns the examples by path below examples/. The header above the first object is handwritten and kept. */
export function exampleFiles(): Map<string, string> {
  return new Map(
    examples.map(({ folder, template, values }) => {
      const path = `${folder}/cluster.yaml`;
      const [heading = ''] = /^(?:#.*\n)*/.exec(readFileSync(resolve(root, 'examples', path), 'utf8')) ?? [];
      return [path, heading + filledIn(template, { ...simulatedCloud, ...values })];
    }),
  );
}

function filledIn(template: string, values: Readonly<Record<string, string>>): string {
  const given = (variable: string): string | undefined => values[variable];
  const answers = firstOf([given, derivedAnswers(given, { cloudControllerVersion: (minor) => `v${minor}.1` })]);
  const result = replaceVariables(readFileSync(resolve(root, 'templates', template), 'utf8'), answers);
  if (!result.ok) throw result.error;
  return result.value;
}
