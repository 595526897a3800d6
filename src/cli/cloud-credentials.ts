import { stringify } from 'yaml';
import { OpenStackClusterIdentities, type OpenStackClusterIdentity, type Secret, Secrets } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { CapstanError, isJsonObject, parseYaml } from '../machinery/index.ts';

/** Name of the Secret and the OpenStackClusterIdentity with credentials of the simulated cloud. */
export const simulatedCloudName = 'simulated-cloud';

const secretNamespace = 'default';
const cloudName = 'openstack';

/**
 * Publishes the credentials of the simulated cloud for manifests: as a Secret in the namespace `default`, and as an
 * OpenStackClusterIdentity for clusters in other namespaces. Only the project member's credentials, never the
 * administrator's.
 */
export async function publishCloudCredentials(
  client: Client,
  options: { cloudsYaml: string; authority?: string; signal: AbortSignal },
): Promise<void> {
  const { signal } = options;
  const write = { fieldManager: 'capstan', force: true, signal };
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: simulatedCloudName,
      namespace: secretNamespace,
      labels: { 'clusterctl.cluster.x-k8s.io/move': 'true' },
    },
    type: 'Opaque',
    data: {
      'clouds.yaml': base64(onlyMember(options.cloudsYaml)),
      ...(options.authority !== undefined && { cacert: base64(options.authority) }),
    },
  };
  await client.apply(Secrets, secret, write);
  const identity: OpenStackClusterIdentity = {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
    kind: 'OpenStackClusterIdentity',
    metadata: { name: simulatedCloudName },
    spec: { secretRef: { name: simulatedCloudName, namespace: secretNamespace } },
  };
  await client.apply(OpenStackClusterIdentities, identity, write);
}

/** Reduces a clouds.yaml to the cloud of the project member. */
export function onlyMember(cloudsYaml: string): string {
  const { value } = parseYaml(cloudsYaml);
  const clouds = isJsonObject(value) ? value['clouds'] : undefined;
  const member = isJsonObject(clouds) ? clouds[cloudName] : undefined;
  if (member === undefined) throw new CapstanError('CAP_CLOUDS_YAML', `clouds.yaml has no cloud "${cloudName}"`);
  return stringify({ clouds: { [cloudName]: member } });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
