import {
  type DataStore,
  DataStores,
  Namespaces,
  Secrets,
  type TenantControlPlane,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import { formatKey, type ObjectKey, objectKey } from '../../../../client/index.ts';
import { clone, isAlreadyExists, type KubeObject } from '../../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  soonest,
  watchMapped,
  watchObjects,
} from '../../../../runtime/index.ts';
import {
  ensureFinalizer,
  explain,
  fieldManager,
  isDeleting,
  ownerReference,
  readSecret,
  setVerdict,
  type Verdict,
  withoutFinalizer,
  writeObject,
} from '../../../shared/index.ts';
import { AuthorityLostError } from '../../plane-driver/certificates/errors.ts';
import { createPlaneDriver, type EtcdClusterReport, type PlaneDriver } from '../../plane-driver/index.ts';
import { secretDrafts } from '../../plane-driver/secret-drafts.ts';
import { defaultConcurrency } from '../../plane-reconcile.ts';
import { dataStoreAllowedDeletion, dataStoreFinalizer, dataStoreValidation } from '../names.ts';
import { type KamajiDependencies, type KamajiSettings, settingsOf } from '../scope.ts';
import { type OpenStore, useStore } from './connect.ts';
import { isManaged, managedEtcdSpec } from './default-store.ts';
import { contentSecretName, missingValues, placeOf, storeSecrets, storeValues } from './places.ts';
import { dataStoreNameOf } from './tenancy.ts';

/** Retry interval while etcd does not answer; nothing signals that it does. */
const retryMs = 5_000;

interface StoreScope {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly open: OpenStore;
  readonly settings: KamajiSettings;
  readonly store: DataStore;
  readonly draft: DataStore;
  /** uids of DataStores whose etcd is known to enforce authentication */
  readonly enforced: Set<string>;
}

/**
 * Builds the controller of DataStores, which checks their availability, lists their users and runs the built-in etcd.
 */
export function dataStoreController(dependencies: KamajiDependencies, open: OpenStore): ControllerDefinition {
  const driver = createPlaneDriver(dependencies);
  const settings = settingsOf(dependencies);
  const enforced = new Set<string>();

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const store = context.cache.lister(DataStores).get(key);
    if (!store) return done();
    if (await ensureFinalizer(context, DataStores, store, dataStoreFinalizer)) return done();
    const draft = clone(store);
    const scope: StoreScope = { context, driver, open, settings, store, draft, enforced };
    draft.status = { ready: false, ...draft.status, usedBy: usersOf(scope) };
    const result = isDeleting(store) ? release(scope) : await reconcileNormal(scope);
    draft.status.observedGeneration = store.metadata.generation ?? 0;
    await writeObject(context, DataStores, store, draft, { observed: false });
    return result;
  };

  const everyStore = (): ObjectKey[] => dependencies.cache.lister(DataStores).list().map(objectKey);
  return defineController({
    name: 'kamaji-data-store',
    for: DataStores,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Namespaces);
      informers.informer(TenantControlPlanes);
      informers.informer(Secrets);
      driver.setup(informers);
    },
    watches: [
      watchObjects(DataStores),
      ...driver.watches(DataStores),
      watchMapped(TenantControlPlanes, (tenant: TenantControlPlane) => [{ name: dataStoreNameOf(tenant, settings) }], {
        predicates: [
          (event) =>
            event.type !== 'update' || dataStoreNameOf(event.object, settings) !== dataStoreNameOf(event.old, settings),
        ],
      }),
      watchMapped(Secrets, (secret) =>
        everyStore().filter((key) => names(dependencies, settings.systemNamespace, key, secret)),
      ),
    ],
    sources: [driver.source],
    reconcile,
  });
}

/** Tells whether a DataStore refers to a Secret. */
function names(dependencies: KamajiDependencies, systemNamespace: string, key: ObjectKey, secret: KubeObject): boolean {
  const store = dependencies.cache.lister(DataStores).get(key);
  if (!store) return false;
  const wanted = formatKey(objectKey(secret));
  return [...storeValues(store).keys()].some(
    (value) => formatKey(placeOf(store, value, systemNamespace)?.secret ?? { name: '' }) === wanted,
  );
}

function usersOf({ context, store, settings }: StoreScope): string[] {
  return context.cache
    .lister(TenantControlPlanes)
    .list({ filter: (tenant) => dataStoreNameOf(tenant, settings) === store.metadata.name })
    .map((tenant) => formatKey(objectKey(tenant)))
    .sort();
}

function release({ context, draft }: StoreScope): Result {
  const users = draft.status?.usedBy ?? [];
  const verdict: Verdict =
    users.length === 0
      ? { status: 'True', reason: 'DataStoreUnused' }
      : { status: 'False', reason: 'DataStoreInUse', message: `used by ${users.join(', ')}; delete them first` };
  setVerdict(draft, dataStoreAllowedDeletion, verdict, context.clock.now());
  if (users.length === 0) draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, dataStoreFinalizer);
  return done();
}

async function reconcileNormal(scope: StoreScope): Promise<Result> {
  const { draft, context } = scope;
  const { verdict, result } = await inspect(scope);
  draft.status = { ...draft.status, ready: verdict.status === 'True' };
  setVerdict(draft, dataStoreValidation, verdict, context.clock.now());
  return result;
}

interface Inspection {
  readonly verdict: Verdict;
  readonly result: Result;
}

async function inspect(scope: StoreScope): Promise<Inspection> {
  const { store, context, settings } = scope;
  await keepContents(scope);
  const run = isManaged(store) ? await runEtcd(scope) : undefined;
  if (run && run.verdict.status !== 'True') return run;
  const result = run?.result ?? done();
  const secrets = await storeSecrets(context, store, settings.systemNamespace);
  const missing = missingValues(store, settings.systemNamespace, secrets);
  if (missing.length > 0) {
    return { verdict: { status: 'False', reason: 'SecretMissing', message: missing.join('; ') }, result };
  }
  if (store.spec.driver !== 'etcd') return { verdict: { status: 'True', reason: 'Valid' }, result };
  return await enforceUsers(scope, result);
}

/** Copies values that are inline in the DataStore to a Secret. */
async function keepContents({ context, store, settings }: StoreScope): Promise<void> {
  const { systemNamespace } = settings;
  const contents = [...storeValues(store)].filter(
    ([, { content, secretReference }]) => content !== undefined && !secretReference,
  );
  if (contents.length === 0) return;
  await ensureNamespace(context, systemNamespace);
  const { client, signal } = context;
  const drafts = secretDrafts({
    client,
    namespace: systemNamespace,
    owner: ownerReference(store, DataStores, { controller: true }),
    fieldManager,
    read: (key) => readSecret(context, key),
    signal,
  });
  const data = Object.fromEntries(
    contents.map(([value, { content = '' }]) => [value, Buffer.from(content, 'base64').toString('utf8')]),
  );
  drafts.put(contentSecretName(store.metadata.name ?? ''), { data });
  await drafts.flush();
}

async function runEtcd({ context, driver, store, settings }: StoreScope): Promise<Inspection> {
  const { systemNamespace } = settings;
  await ensureNamespace(context, systemNamespace);
  let report: EtcdClusterReport;
  try {
    report = await driver.driveEtcd({ context, owner: store, desired: managedEtcdSpec(store, systemNamespace) });
  } catch (error) {
    if (!(error instanceof AuthorityLostError)) throw error;
    const lost: Verdict = { status: 'False', reason: 'AuthorityLost', message: error.message };
    return { verdict: lost, result: after(retryMs, 'the authority is lost') };
  }
  const verdict: Verdict = report.isServing
    ? { status: 'True', reason: 'Serving' }
    : { status: 'False', reason: report.verdict.reason, message: report.verdict.message ?? '' };
  return { verdict, result: report.result };
}

async function ensureNamespace({ client, cache, signal }: ReconcileContext, name: string): Promise<void> {
  if (cache.lister(Namespaces).get({ name })) return;
  try {
    await client.create(
      Namespaces,
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      { fieldManager, signal },
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Enables authentication in etcd, because tenants are isolated only then. */
async function enforceUsers(scope: StoreScope, result: Result): Promise<Inspection> {
  const { context, store, open, settings, enforced } = scope;
  const uid = store.metadata.uid ?? '';
  if (enforced.has(uid)) return { verdict: { status: 'True', reason: 'Valid' }, result };
  try {
    await useStore(open, [store, settings.systemNamespace, context.signal], ({ tenants }) =>
      tenants.enforce(context.signal),
    );
    enforced.add(uid);
    return { verdict: { status: 'True', reason: 'Valid' }, result };
  } catch (error) {
    if (context.signal.aborted) throw error;
    const verdict: Verdict = { status: 'False', reason: 'NotReachable', message: explain(error) };
    return { verdict, result: soonest(result, after(retryMs, 'the data store does not answer')) };
  }
}
