import { Clusters, clusterNameLabel, type Secret, Secrets } from '../../../api/index.ts';
import { withOptimisticLock } from '../../../client/index.ts';
import { isAlreadyExists } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  clusterSecretName,
  clusterSecretType,
  createClusterKubeconfig,
  endpointUrl,
  fieldManager,
  kubeconfigNeedsRotation,
  ownerReference,
  readSecret,
} from '../../shared/index.ts';
import { isEndpointValid } from './references.ts';
import type { ClusterScope } from './scope.ts';

const authorityRetryMs = 30_000;
/** Certificates are valid for a year, so a rare check is enough. */
const rotationCheckMs: number = 12 * 3_600_000;

/** Creates the kubeconfig of clusters without a control plane provider, signed by the CA in their Secret. */
export async function reconcileKubeconfig(scope: ClusterScope): Promise<Result | undefined> {
  const { cluster, context } = scope;
  if (cluster.spec.controlPlaneRef || cluster.spec.topology || !isEndpointValid(cluster)) return undefined;
  const { client, clock, signal } = context;
  const { name: clusterName = '', namespace = '' } = cluster.metadata;
  const name = clusterSecretName(clusterName, 'kubeconfig');
  const existing = await readSecret(context, { namespace, name });
  if (existing && !mayReplace(existing, clock.now())) return after(rotationCheckMs, 'age of the kubeconfig');

  const caName = clusterSecretName(clusterName, 'ca');
  const ca = await readSecret(context, { namespace, name: caName });
  const certificate = text(ca, 'tls.crt');
  const privateKey = text(ca, 'tls.key');
  if (certificate === undefined || privateKey === undefined) {
    scope.kubeconfigProblem = `Secret ${namespace}/${caName} with tls.crt and tls.key does not exist`;
    return after(authorityRetryMs, 'the cluster authority does not exist');
  }
  const { host = '', port = 0 } = cluster.spec.controlPlaneEndpoint ?? {};
  const kubeconfig = await createClusterKubeconfig({
    clusterName,
    server: endpointUrl({ host, port }),
    authority: { certificate, privateKey },
    clock,
  });
  const data = { value: Buffer.from(kubeconfig).toString('base64') };
  if (existing) {
    await client.patch(Secrets, { namespace, name }, 'merge', withOptimisticLock({ data }, existing), {
      fieldManager,
      signal,
    });
  } else {
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: { [clusterNameLabel]: clusterName },
        ownerReferences: [ownerReference(cluster, Clusters)],
      },
      type: clusterSecretType,
      data,
    };
    await client.create(Secrets, secret, { fieldManager, signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  return after(rotationCheckMs, 'age of the kubeconfig');
}

/** A kubeconfig supplied by the user is not rotated. */
function mayReplace(secret: Secret, nowMs: number): boolean {
  const kubeconfig = text(secret, 'value');
  const ours = secret.metadata.ownerReferences?.some(({ kind }) => kind === 'Cluster') === true;
  return ours && (kubeconfig === undefined || kubeconfigNeedsRotation(kubeconfig, nowMs));
}

function text(secret: Secret | undefined, key: string): string | undefined {
  const data = secret?.data?.[key];
  return data === undefined || data === '' ? undefined : Buffer.from(data, 'base64').toString('utf8');
}
