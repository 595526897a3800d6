import { type Cluster, clusterNameLabel, KamajiControlPlanes, type TenantControlPlane } from '../../../../api/index.ts';
import { clusterSecretType, kamajiNaming } from '../../../../hosting/index.ts';
import { clusterSecretName, ownerReference, readSecret, secretText } from '../../../shared/index.ts';
import { secretDrafts } from '../../plane-driver/secret-drafts.ts';
import { capiSecretLabels, controlPlaneFieldManager, kubeconfigKeyAnnotation } from '../names.ts';
import type { ControlPlaneScope } from './scope.ts';

/** Copies kubeconfig and CA to the Secret names of the Cluster API contract. Returns true once both exist. */
export async function reconcileClusterSecrets(
  { context, original }: ControlPlaneScope,
  cluster: Cluster,
  tenant: TenantControlPlane,
): Promise<boolean> {
  const { client, signal } = context;
  const { name = '', namespace = '' } = tenant.metadata;
  const clusterName = cluster.metadata.name ?? '';
  const naming = kamajiNaming(name);
  const read = (secret: string | undefined) => readSecret(context, { namespace, name: secret ?? '' });
  const kubeconfig = secretText(await read(naming.secrets['admin-kubeconfig']?.name), kubeconfigKey(original));
  const authority = await read(naming.secrets.ca?.name);
  const [certificate, privateKey] = [secretText(authority, 'tls.crt'), secretText(authority, 'tls.key')];
  if (kubeconfig === undefined || certificate === undefined || privateKey === undefined) return false;
  const drafts = secretDrafts({
    client,
    namespace,
    owner: ownerReference(original, KamajiControlPlanes, { controller: true }),
    fieldManager: controlPlaneFieldManager,
    read: (key) => readSecret(context, key),
    signal,
  });
  const put = (purpose: 'kubeconfig' | 'ca', data: Record<string, string>): void => {
    const secret = clusterSecretName(clusterName, purpose);
    // a control plane with the name of its Cluster already stores its CA there
    if (secret === naming.secrets.ca?.name) return;
    drafts.put(secret, {
      type: clusterSecretType,
      labels: { ...capiSecretLabels(purpose, clusterName, name), [clusterNameLabel]: clusterName },
      data,
    });
  };
  put('kubeconfig', { value: kubeconfig });
  put('ca', { 'tls.crt': certificate, 'tls.key': privateKey });
  await drafts.flush();
  return true;
}

/**
 * Chooses the kubeconfig for the management cluster. If Nodes use a different address, the management cluster gets its
 * own.
 */
function kubeconfigKey({ metadata, spec }: ControlPlaneScope['original']): string {
  const chosen = metadata.annotations?.[kubeconfigKeyAnnotation];
  if (chosen) return chosen;
  return spec.network?.advertiseAddress ? 'admin.svc' : 'admin.conf';
}
