import {
  type KubeconfigGenerator,
  KubeconfigGenerators,
  Namespaces,
  type Secret,
  Secrets,
  type TenantControlPlane,
  TenantControlPlanes,
} from '../../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../../client/index.ts';
import { clone, deepEqual, isNotFound } from '../../../../machinery/index.ts';
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
  isDeleting,
  isFilteredOut,
  ownerReference,
  readSecret,
  watchFilter,
  writeObject,
} from '../../../shared/index.ts';
import { secretDrafts } from '../../plane-driver/secret-drafts.ts';
import { defaultConcurrency } from '../../plane-reconcile.ts';
import { kamajiFieldManager, managedByLabel, managedForLabel } from '../names.ts';
import type { KamajiDependencies } from '../scope.ts';
import { checksumAnnotation, kubeconfigKey, kubeconfigSpec, makeKubeconfig, renewalOf } from './kubeconfig.ts';
import { nameOf, selectedTenants } from './selection.ts';

/**
 * Builds the controller of KubeconfigGenerators, each of which maintains a user's kubeconfig for every selected control
 * plane.
 */
export function kubeconfigGeneratorController(dependencies: KamajiDependencies): ControllerDefinition {
  const everyGenerator = (): ObjectKey[] => dependencies.cache.lister(KubeconfigGenerators).list().map(objectKey);

  /** Maps generated Secrets, and the control plane Secrets they are made from, to generators. */
  const generatorsOf = ({ metadata }: Secret): ObjectKey[] => {
    const ours = metadata.labels?.[managedByLabel];
    if (ours !== undefined) return [{ name: ours }];
    return /-(ca|admin-kubeconfig)$/.test(metadata.name ?? '') ? everyGenerator() : [];
  };

  return defineController({
    name: 'kamaji-kubeconfig-generator',
    for: KubeconfigGenerators,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(informers) {
      informers.informer(Namespaces);
      informers.informer(Secrets);
      informers.informer(TenantControlPlanes);
    },
    watches: [
      watchObjects(KubeconfigGenerators, { predicates: watchFilter(dependencies.watchFilter) }),
      // user and group names can be taken from any field of the control plane
      watchMapped(TenantControlPlanes, everyGenerator, {
        predicates: [
          (event) =>
            event.type !== 'update' ||
            event.object.metadata.generation !== event.old.metadata.generation ||
            event.object.metadata.deletionTimestamp !== event.old.metadata.deletionTimestamp ||
            !deepEqual(event.object.metadata.labels, event.old.metadata.labels),
        ],
      }),
      watchMapped(Namespaces, everyGenerator, {
        predicates: [
          (event) => event.type !== 'update' || !deepEqual(event.object.metadata.labels, event.old.metadata.labels),
        ],
      }),
      watchMapped(Secrets, generatorsOf),
    ],
    async reconcile(context, key) {
      const generator = context.cache.lister(KubeconfigGenerators).get(key);
      if (!generator || isFilteredOut(generator, dependencies.watchFilter)) return done();
      // generated Secrets are garbage-collected with their generator
      return isDeleting(generator) ? done() : await reconcileNormal(context, generator);
    },
  });
}

async function reconcileNormal(context: ReconcileContext, generator: KubeconfigGenerator): Promise<Result> {
  const tenants = selectedTenants(context.cache, generator);
  const errors: { resource: string; message: string }[] = [];
  let result: Result = done();
  for (const tenant of tenants) {
    const kept = await reconcileOne(context, generator, tenant);
    if ('problem' in kept) errors.push({ resource: nameOf(tenant), message: kept.problem });
    else result = soonest(result, kept.result);
  }
  await dropOthers(context, generator, tenants);
  const draft = clone(generator);
  draft.status = {
    resources: tenants.length,
    availableResources: tenants.length - errors.length,
    ...(errors.length > 0 && { errors }),
  };
  await writeObject(context, KubeconfigGenerators, generator, draft, { observed: true });
  return result;
}

/** Cap of requeue delays; long timers are not supported. */
const longestMs = 24 * 3_600_000;

async function reconcileOne(
  context: ReconcileContext,
  generator: KubeconfigGenerator,
  tenant: TenantControlPlane,
): Promise<{ result: Result } | { problem: string }> {
  const { client, clock, signal } = context;
  const desired = await kubeconfigSpec(context, generator, tenant);
  if ('problem' in desired) return desired;
  const { namespace = '', name: tenantName = '' } = tenant.metadata;
  const name = secretName(generator, tenant);
  const live = await readSecret(context, { namespace, name });
  if (live && !isOf(live, generator)) {
    return { problem: `Secret ${name} already exists and is not ours; delete it, or rename the generator` };
  }
  const renewAt = renewalOf(live, desired);
  if (renewAt !== undefined && renewAt > clock.now()) {
    return { result: after(Math.min(renewAt - clock.now(), longestMs), 'a kubeconfig is renewed') };
  }
  const owner = ownerReference(generator, KubeconfigGenerators, { controller: true });
  const drafts = secretDrafts({
    client,
    namespace,
    owner,
    fieldManager: kamajiFieldManager,
    read: (key) => readSecret(context, key),
    signal,
  });
  drafts.put(name, {
    labels: { [managedByLabel]: generator.metadata.name ?? '', [managedForLabel]: tenantName },
    annotations: { [checksumAnnotation]: desired.checksum },
    data: { [kubeconfigKey]: await makeKubeconfig(desired, clock) },
  });
  await drafts.flush();
  return { result: after(longestMs, 'a kubeconfig is checked') };
}

const secretName = ({ metadata: of }: KubeconfigGenerator, { metadata }: TenantControlPlane): string =>
  `${metadata.name}-${of.name}`;

const isOf = ({ metadata }: Secret, generator: KubeconfigGenerator): boolean =>
  metadata.labels?.[managedByLabel] === generator.metadata.name;

/** Deletes kubeconfigs of control planes that are gone or no longer selected. */
async function dropOthers(
  { client, cache, signal }: ReconcileContext,
  generator: KubeconfigGenerator,
  tenants: readonly TenantControlPlane[],
): Promise<void> {
  const wanted = new Set(tenants.map((tenant) => `${tenant.metadata.namespace}/${secretName(generator, tenant)}`));
  const others = cache.lister(Secrets).list({
    filter: (secret) => isOf(secret, generator) && !wanted.has(`${secret.metadata.namespace}/${secret.metadata.name}`),
  });
  for (const secret of others) {
    try {
      await client.delete(Secrets, objectKey(secret), { signal });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
