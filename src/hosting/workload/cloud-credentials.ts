import type { KubeObject } from '../../machinery/index.ts';
import { checksumOf } from '../objects/metadata.ts';
import type { WorkloadObject } from '../result.ts';
import type { CloudCredentials } from '../spec.ts';

/** On Secrets with credentials that we keep current: what they hold, so that keys that are no longer asked for are noticed. */
const checksumAnnotation = 'controlplane.cluster.x-k8s.io/cloud-credentials-checksum';

/**
 * Credentials for the controllers of the cloud inside the workload cluster, in both forms they come in: clouds.yaml for some,
 * cloud.conf for the others.
 */
export function cloudCredentialObjects({ secrets, cloudsYaml, cloudConf, ca }: CloudCredentials): WorkloadObject[] {
  const data: Record<string, string> = {
    'clouds.yaml': base64(cloudsYaml),
    'cloud.conf': base64(cloudConf),
    ...(ca !== undefined && { cacert: base64(ca) }),
  };
  const annotations = { [checksumAnnotation]: checksumOf(data) };
  return secrets.map(({ name, namespace }) => ({
    mode: 'marked',
    mark: checksumAnnotation,
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, annotations },
      type: 'Opaque',
      data,
    } as KubeObject,
  }));
}

const base64 = (value: string): string => Buffer.from(value).toString('base64');
