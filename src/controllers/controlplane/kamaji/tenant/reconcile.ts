import { createHash } from 'node:crypto';
import { type DataStore, DataStores, type TenantControlPlane, TenantControlPlanes } from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { kamajiNaming, type PlaneSpec } from '../../../../hosting/index.ts';
import { after, done, type Result, soonest } from '../../../../runtime/index.ts';
import {
  cachedSecret,
  explain,
  isNotConnected,
  ownerReference,
  readSecret,
  setVerdict,
  type Verdict,
} from '../../../shared/index.ts';
import { annotatedBackup, annotatedRequests, warnOnce } from '../../plane-driver/index.ts';
import { secretDrafts } from '../../plane-driver/secret-drafts.ts';
import type { Outcome } from '../../plane-reconcile.ts';
import { useStore } from '../data-store/connect.ts';
import { storeSecrets } from '../data-store/places.ts';
import {
  admit,
  createDefaultStore,
  dataStoreNameOf,
  type Tenancy,
  tenancyOf,
  tenancyProblem,
} from '../data-store/tenancy.ts';
import {
  dataStoreSpec,
  kineCertificates,
  kineSettings,
  missingGrants,
  type StoreInput,
  whyNotReady,
} from './data-store-spec.ts';
import type { TenantScope } from './scope.ts';
import { tenantPlaneSpec } from './spec.ts';
import { dataStoreCondition, observeTenant, refuseTenant } from './status.ts';

/** Retry interval while a data store does not answer; nothing signals that it does. */
const retryMs = 5_000;
const grantRetryMs = 30_000;
const notGranted = 'ReferenceNotGranted';

/** Reconciles a plane towards its spec. */
export async function reconcileTenant(scope: TenantScope): Promise<Outcome> {
  const { context, draft, tenant } = scope;
  const now = context.clock.now();
  const store = await findStore(scope);
  if ('reason' in store) {
    refuse(scope, store);
    const isUngranted = store.reason === notGranted;
    return { result: isUngranted ? after(grantRetryMs, 'Secrets of another namespace are not granted') : done() };
  }
  const refusal = await tenancyProblem(context, tenant, scope.settings);
  if (refusal !== undefined) {
    refuse(scope, { status: 'False', reason: 'DataStorePlaceTaken', message: refusal });
    return { result: after(grantRetryMs, 'the place in the data store is not free') };
  }
  const tenancy = tenancyOf(tenant);
  const input: StoreInput = {
    tenant,
    store,
    tenancy,
    systemNamespace: scope.settings.systemNamespace,
    cache: context.cache,
  };
  const dataStore = dataStoreSpec(input);
  if ('reason' in dataStore) {
    refuse(scope, { status: 'False', ...dataStore });
    return { result: done() };
  }
  const settled = await settleIn(scope, store, tenancy);
  if (settled) {
    refuse(scope, settled);
    return { result: after(retryMs, 'the data store does not answer') };
  }
  setVerdict(draft, dataStoreCondition, { status: 'True', reason: 'Ready' }, now);
  if (dataStore.kind === 'kine') await keepKineSecrets(scope, input);
  const backup = annotatedBackup(tenant);
  const desired = tenantPlaneSpec({ ...scope, dataStore, isOfCluster: scope.isChild, ...(backup && { backup }) });
  return await drive(scope, desired, store, tenancy);
}

/** Reasons that resolve themselves with time. */
const passing: ReadonlySet<string> = new Set(['DataStoreBeingMade', 'DataStoreNotReady']);

function refuse({ context, draft, tenant }: TenantScope, verdict: Verdict): void {
  refuseTenant(draft, dataStoreCondition, verdict, context.clock.now());
  if (!passing.has(verdict.reason)) warnOnce(context, tenant, verdict.reason, verdict.message ?? '');
}

async function drive(scope: TenantScope, desired: PlaneSpec, store: DataStore, tenancy: Tenancy): Promise<Outcome> {
  const { context, draft, tenant, cluster, driver, follower, ways, parent } = scope;
  const key = objectKey(tenant);
  const probed = await findWay(scope);
  const report = await driver.drive({
    context,
    owner: tenant,
    desired,
    ...(cluster && { cluster, follower }),
    workload: () => ways.client(key),
    isInitialized: isInitialized(tenant) || parent?.status?.initialization?.controlPlaneInitialized === true,
    ...annotatedRequests(tenant),
  });
  observeTenant(draft, { context, desired, report, store, tenancy });
  return {
    result: soonest(report.result, probed),
    ...(report.error !== undefined && { error: report.error }),
  };
}

/** The status keeps the last running version forever. */
const isInitialized = ({ status }: TenantControlPlane): boolean =>
  status?.kubernetesResources?.version?.version !== undefined;

/**
 * Connects with the super admin kubeconfig: until RBAC is set up nobody else has permissions. Skips the probe while
 * other connections show that the cluster answers.
 */
async function findWay(scope: TenantScope): Promise<Result> {
  const { context, ways, tenant } = scope;
  const key = objectKey(tenant);
  const kubeconfig = kubeconfigOf(scope);
  if (isConnected(scope) && ways.isOpen(key, kubeconfig)) return done();
  return await ways.refresh(key, kubeconfig, context);
}

function isConnected({ isChild, workloads, tenant, clusterName }: TenantScope): boolean {
  if (!isChild) return false;
  try {
    workloads.client({ namespace: tenant.metadata.namespace ?? '', name: clusterName });
    return true;
  } catch (error) {
    if (!isNotConnected(error)) throw error;
    return false;
  }
}

function kubeconfigOf({ context, tenant }: TenantScope): string | undefined {
  const { name = '', namespace = '' } = tenant.metadata;
  const place = kamajiNaming(name).secrets['super-admin-kubeconfig'];
  const secret = cachedSecret(context.cache, { namespace, name: place?.name ?? '' });
  return secret?.data?.[place?.kubeconfig?.[0] ?? ''];
}

async function findStore(scope: TenantScope): Promise<DataStore | Verdict> {
  const { context, tenant, settings } = scope;
  const name = dataStoreNameOf(tenant, settings);
  const store = context.cache.lister(DataStores).get({ name });
  if (!store && name === settings.defaultDataStore) {
    await createDefaultStore(context, settings);
    return { status: 'False', reason: 'DataStoreBeingMade', message: `DataStore ${name} is being made` };
  }
  if (!store) {
    const message = `spec.dataStore: there is no DataStore ${name}; make it, or leave the field out for one that is made for you`;
    return { status: 'False', reason: 'DataStoreNotFound', message };
  }
  const ungranted = await missingGrants(context, tenant, store);
  if (ungranted !== undefined) return { status: 'False', reason: notGranted, message: ungranted };
  if (store.status?.ready === true || isInitialized(tenant)) return store;
  return {
    status: 'False',
    reason: 'DataStoreNotReady',
    message: `DataStore ${name} is not ready: ${whyNotReady(store)}`,
  };
}

/** Sets up the control plane in its DataStore once. Returns the obstacle, undefined on success. */
async function settleIn(scope: TenantScope, store: DataStore, tenancy: Tenancy): Promise<Verdict | undefined> {
  const { context, draft, open, settings } = scope;
  const checksum = createHash('md5').update(`${store.metadata.uid} ${tenancy.schema} ${tenancy.user}`).digest('hex');
  const known = draft.status?.storage?.setup;
  if (known?.checksum === checksum) return undefined;
  if (store.spec.driver === 'etcd') {
    try {
      await useStore(open, [store, settings.systemNamespace, context.signal], (etcd) =>
        admit(etcd, tenancy, context.signal),
      );
    } catch (error) {
      if (context.signal.aborted) throw error;
      return { status: 'False', reason: 'DataStoreSetupFailed', message: explain(error) };
    }
  }
  draft.status = {
    ...draft.status,
    storage: { ...draft.status?.storage, dataStoreName: store.metadata.name ?? '', setup: { ...tenancy, checksum } },
  };
  return undefined;
}

/** Writes kine's database settings to the Secrets that Kamaji uses. */
async function keepKineSecrets({ context, tenant }: TenantScope, input: StoreInput): Promise<void> {
  const { client, signal } = context;
  const { name = '', namespace = '' } = tenant.metadata;
  const naming = kamajiNaming(name);
  const drafts = secretDrafts({
    client,
    namespace,
    owner: ownerReference(tenant, TenantControlPlanes, { controller: true }),
    fieldManager: naming.fieldManager,
    read: (key) => readSecret(context, key),
    signal,
  });
  const labels = naming.labels('certificate');
  const known = { ...input, secrets: await storeSecrets(context, input.store, input.systemNamespace) };
  drafts.put(naming.secrets['datastore-config']?.name ?? '', { labels, data: kineSettings(known) });
  if (input.store.spec.tlsConfig) {
    drafts.put(naming.secrets['datastore-client']?.name ?? '', { labels, data: kineCertificates(known) });
  }
  await drafts.flush();
}
