import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';
import { fillIn } from '../../support/placeholders.ts';

/** Environment of the guide, with the reader's files. */
export interface Workbench extends HostedBench {
  /** manifest of the guide with its placeholders replaced */
  readonly manifest: string;
  /** configuration of the cloud controller manager */
  readonly cloudConf: string;
}

const networkName = 'k8s-clusterapi-cluster-default-capo-test';

/** Uses a new environment, or the given one. */
export async function openWorkbench(there?: HostedBench): Promise<Workbench> {
  const bench = there ?? (await openHostedBench());
  const { network, image } = bench.cloud.openstack;
  const idOf = async (found: Promise<{ id: string } | undefined>): Promise<string> => (await found)?.id ?? '';
  const clouds = await readFile(bench.cloudsYaml);
  return {
    ...bench,
    manifest: fillIn(await testdata('capi-quickstart.yaml'), {
      AVAILABILITY_ZONE: 'az2',
      NETWORK_ID: await idOf(network.networks.find(networkName)),
      SUBNET_ID: await idOf(network.subnets.find(networkName)),
      FLOATING_NETWORK_ID: await idOf(network.networks.find('public')),
      FLAVOR: 'm1.medium',
      IMAGE_ID: await idOf(image.images.find('ubuntu-capi-image')),
      SSH_KEY_NAME: 'demo',
      CLOUDS_YAML_B64: clouds.toString('base64'),
    }),
    cloudConf: cloudConfOf(clouds.toString()),
  };
}

/** Returns the same manifest with other names, another namespace, and the documents in reverse order. */
export function anotherReading(
  manifest: string,
  names: { cluster: string; controlPlane: string; namespace: string },
): string {
  return manifest
    .replaceAll('kamaji-quickstart-control-plane', names.controlPlane)
    .replaceAll('capi-quickstart', names.cluster)
    .replaceAll('namespace: default', `namespace: ${names.namespace}`)
    .split('\n---\n')
    .toReversed()
    .join('\n---\n');
}

/** Upstream manifest of the cloud controller manager, for clusters with control plane nodes. */
export const cloudControllerManager = (): Promise<string> => testdata('cloud-controller-manager.yaml');

/** Makes the two changes of the guide: removes the node selector and adds a toleration. */
export function forWorkers(manifest: string): string {
  return parseAllDocuments(manifest)
    .map((document) => {
      if (document.get('kind') !== 'DaemonSet') return document.toString();
      const pod = ['spec', 'template', 'spec'];
      document.deleteIn([...pod, 'nodeSelector']);
      document.addIn([...pod, 'tolerations'], { effect: 'NoSchedule', key: 'node.cluster.x-k8s.io/uninitialized' });
      return document.toString();
    })
    .join('---\n');
}

function cloudConfOf(cloudsYaml: string): string {
  const [cloud] = parseAllDocuments(cloudsYaml);
  const of = (...path: string[]): string => String(cloud?.getIn(['clouds', 'openstack', ...path]) ?? '');
  return `[Global]
auth-url=${of('auth', 'auth_url')}
username=${of('auth', 'username')}
password=${of('auth', 'password')}
tenant-name=${of('auth', 'project_name')}
domain-name=${of('auth', 'user_domain_name')}
region=${of('region_name')}
`;
}

const testdata = (file: string): Promise<string> => readFile(new URL(`testdata/${file}`, import.meta.url), 'utf8');
