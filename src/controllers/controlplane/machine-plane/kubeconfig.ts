import { clusterNameLabel, type Secret, Secrets } from '../../../api/index.ts';
import { objectKey, parseKubeconfig, withOptimisticLock } from '../../../client/index.ts';
import { asJson, isAlreadyExists, type JsonObject } from '../../../machinery/index.ts';
import {
  authorityFromSecret,
  type ClusterSecretPurpose,
  clusterSecretName,
  clusterSecretType,
  createClusterKubeconfig,
  endpointUrl,
  fieldManager,
  isControlledBy,
  kubeconfigNeedsRotation,
  ownerReference,
  readSecret,
  secretText,
  withOwner,
} from '../../shared/index.ts';
import type { ControlPlaneScope } from './scope.ts';

/** Certificates last a year and nobody depends on an immediate repair, so an occasional check is enough. */
const recheckMs = 10 * 60_000;

/** Ensures the admin kubeconfig: issued by the cluster CA, renewed after half of its lifetime. */
export async function ensureKubeconfig(scope: ControlPlaneScope): Promise<undefined> {
  const { context, controlPlane, cluster, memory } = scope;
  const { clock } = context;
  const now = clock.now();
  const connected = scope.dependencies.workloads.state(objectKey(cluster)).connected;
  const checked = memory.kubeconfigChecked;
  const isFresh = checked !== undefined && now - checked.at < recheckMs;
  if (connected && isFresh) return;
  const { name: clusterName = '', namespace = '' } = cluster.metadata;
  const key = { namespace, name: clusterSecretName(clusterName, 'kubeconfig') };
  const { host = '', port = 0 } = cluster.spec.controlPlaneEndpoint ?? {};
  const server = endpointUrl({ host, port });
  const existing = await readSecret(context, key);
  // without a connection the Secret is checked on every reconcile, but read only if its resourceVersion changed
  const isSame = existing !== undefined && existing.metadata.resourceVersion === checked?.resourceVersion;
  if (isFresh && isSame && checked.server === server) return;
  const ours = existing !== undefined && (isControlledBy(existing, controlPlane) || lostItsOwner(existing));
  // a user-supplied kubeconfig is not rotated
  const keep = existing !== undefined && (!ours || isCurrent(existing, server, now));
  if (!keep) {
    const read = async (purpose: ClusterSecretPurpose) => {
      const secretKey = { namespace, name: clusterSecretName(clusterName, purpose) };
      return authorityFromSecret(await readSecret(context, secretKey));
    };
    const authority = await read('ca');
    const { clientAuthority: purpose } = scope.provider;
    const clientAuthority = purpose === 'ca' ? authority : await read(purpose);
    // CertificatesAvailable reports missing CAs; nothing can be signed without them
    if (!authority || !clientAuthority) return;
    const text = await createClusterKubeconfig({ clusterName, server, authority, clientAuthority, clock });
    const stored = await store(scope, key, existing, { value: Buffer.from(text).toString('base64') });
    memory.kubeconfigChecked = { at: now, server, resourceVersion: stored?.metadata.resourceVersion };
    return;
  }
  const adopted =
    ours && !isControlledBy(existing, controlPlane) ? await store(scope, key, existing, undefined) : existing;
  memory.kubeconfigChecked = { at: now, server, resourceVersion: adopted?.metadata.resourceVersion };
}

/** Restored backups may lack owner references. */
function lostItsOwner({ type, metadata }: Secret): boolean {
  return type === clusterSecretType && (metadata.ownerReferences ?? []).length === 0;
}

function isCurrent(secret: Secret, server: string, nowMs: number): boolean {
  const text = secretText(secret, 'value');
  if (text === undefined || kubeconfigNeedsRotation(text, nowMs)) return false;
  try {
    return parseKubeconfig(text, 'of the cluster').clusters?.[0]?.cluster.server === server;
  } catch {
    return false;
  }
}

async function store(
  { context, provider, controlPlane, cluster }: ControlPlaneScope,
  key: { namespace: string; name: string },
  existing: Secret | undefined,
  data: Record<string, string> | undefined,
): Promise<Secret | undefined> {
  const { client, signal } = context;
  const owner = ownerReference(controlPlane, provider.resource, { controller: true });
  const labels = { [clusterNameLabel]: cluster.metadata.name ?? '' };
  if (existing) {
    const patch: JsonObject = {
      metadata: {
        labels,
        ownerReferences: asJson(withOwner(existing.metadata.ownerReferences, owner)),
      },
      ...(data && { data }),
    };
    return await client.patch(Secrets, key, 'merge', withOptimisticLock(patch, existing), { fieldManager, signal });
  }
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, labels, ownerReferences: [owner] },
    type: clusterSecretType,
    data: data ?? {},
  };
  return await client.create(Secrets, secret, { fieldManager, signal }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return undefined;
  });
}
