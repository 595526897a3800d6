import type { KubeObject } from '../../machinery/index.ts';
import { checksumOf } from '../objects/metadata.ts';
import type { WorkloadObject } from '../result.ts';
import type { CloudCredentials } from '../spec.ts';

/** Annotation of credentials Secrets with a checksum of their content, so that surplus keys are noticed. */
const checksumAnnotation = 'controlplane.cluster.x-k8s.io/cloud-credentials-checksum';

/** Credentials Secrets for cloud controllers inside the workload cluster, with both clouds.yaml and cloud.conf. */
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
