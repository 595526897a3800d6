import { type Provider, Providers, StorageClasses } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';
import type { Finding } from '../doctor/findings.ts';
import { checkLoadBalancers } from './load-balancer-check.ts';
import { checkCertManager, checkKubernetes, isOlder, leastClusterApi } from './version-checks.ts';
import { providerLabel, type WantedProvider } from './wanted-providers.ts';

/** Checks whether an API can be a management cluster with these providers, and suggests fixes. */
export async function checkManagement(
  client: Client,
  wanted: readonly WantedProvider[],
  { nowMs, serverVersion, signal }: { nowMs: number; serverVersion: string; signal: AbortSignal },
): Promise<Finding[]> {
  const [rights, inventory, certManager, storage, loadBalancers] = await Promise.all([
    checkRights(client, signal),
    readInventory(client, signal),
    checkCertManager(client, signal),
    checkStorage(client, signal),
    checkLoadBalancers(client, nowMs, signal),
  ]);
  return [
    checkKubernetes(serverVersion),
    rights,
    ...wanted.map((provider) => checkProvider(provider, inventory)),
    certManager,
    storage,
    loadBalancers,
  ];
}

interface AccessReview extends KubeObject {
  spec: { resourceAttributes: { group: string; resource: string; verb: string } };
  status?: { allowed?: boolean };
}

const accessReviews: Resource<AccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  namespaced: false,
};

async function checkRights(client: Client, signal: AbortSignal): Promise<Finding> {
  const check = 'rights';
  const review: AccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: {},
    spec: { resourceAttributes: { group: '*', resource: '*', verb: '*' } },
  };
  const { status } = await client.create(accessReviews, review, { fieldManager: 'capstan', signal });
  if (status?.allowed === true) return { check, status: 'ok', detail: 'cluster-admin' };
  return { check, status: 'warning', detail: 'you do not have all permissions; use a cluster-admin' };
}

/** An API without the kind has no providers. */
async function readInventory(client: Client, signal: AbortSignal): Promise<readonly Provider[]> {
  try {
    return (await client.list(Providers, { signal })).items;
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

function checkProvider(wanted: WantedProvider, inventory: readonly Provider[]): Finding {
  const check = providerLabel(wanted);
  const ofType = inventory.filter(({ type }) => type === wanted.type);
  const found = ofType.find(({ providerName }) => providerName === wanted.name);
  if (!found) {
    const others = ofType.map(({ providerName }) => providerName).join(', ');
    const instead = others === '' ? '`capstan up` has built-in providers only' : `available: ${others}`;
    return { check, status: 'failed', detail: `not installed; ${instead}; install others with clusterctl` };
  }
  const { version = '', metadata } = found;
  const where = `${version} in ${metadata.namespace ?? ''}`;
  if (wanted.type === 'CoreProvider' && isOlder(version, leastClusterApi)) {
    return { check, status: 'failed', detail: `${where} is older than ${leastClusterApi}; upgrade it with clusterctl` };
  }
  if (wanted.version === undefined || wanted.version === version) return { check, status: 'ok', detail: where };
  return { check, status: 'warning', detail: `${where}, instead of ${wanted.version}` };
}

export const defaultClass = 'storageclass.kubernetes.io/is-default-class';

async function checkStorage(client: Client, signal: AbortSignal): Promise<Finding> {
  const check = 'storage';
  const { items } = await client.list(StorageClasses, { signal });
  const found = items.find(({ metadata }) => metadata.annotations?.[defaultClass] === 'true');
  if (found) return { check, status: 'ok', detail: `StorageClass ${found.metadata.name ?? ''} (default)` };
  const cure = 'hosted control planes store etcd on volumes: set a default class, or name a class in each manifest';
  return { check, status: 'warning', detail: `there is no default StorageClass; ${cure}` };
}
