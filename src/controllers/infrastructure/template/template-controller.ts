import {
  Clusters,
  Images,
  type OpenStackCluster,
  OpenStackClusters,
  type OpenStackMachineTemplate,
  type OpenStackMachineTemplateStatus,
  OpenStackMachineTemplates,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type Predicate,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  clusterChanged,
  draftOf,
  isDeleting,
  isFilteredOut,
  ownerOf,
  pausedBy,
  setVerdict,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { authenticationFailedReason, notReady, readyVerdict, setAuthentication } from '../common/conditions.ts';
import { defaultConcurrency, type InfrastructureDependencies } from '../common/dependencies.ts';
import { attempt, CloudFault } from '../common/outcomes.ts';
import { pauseAfter } from '../common/pause.ts';
import { byIdentity, indexByIdentity } from '../common/watches.ts';
import { createCloudFinder, findFlavor, findImage } from '../server/cloud-finder.ts';
import { dependencyFailedReason } from '../server/conditions.ts';
import { createLookupCache, type LookupCache } from '../server/lookup-cache.ts';
import { offerOf } from './capacity.ts';

/** Builds the controller of OpenStackMachineTemplates, which publishes the capacity of their machines. */
export function openStackMachineTemplateController(dependencies: InfrastructureDependencies): ControllerDefinition {
  const lookups = dependencies.lookups ?? createLookupCache({ clock: dependencies.clock });

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const template = context.cache.lister(OpenStackMachineTemplates).get(key);
    if (!template || isDeleting(template) || isFilteredOut(template, dependencies.watchFilter)) return done();
    const { cluster, openStackCluster } = surroundings(context, template);
    const identity = template.spec.template.spec.identityRef ?? openStackCluster?.spec.identityRef;
    if (!cluster || !identity || pausedBy(template, cluster).length > 0) return done();
    const draft = draftOf(template);
    let result: Result | undefined = done();
    let failure: unknown;
    try {
      const cloud = await dependencies.clouds.access(identity, key.namespace ?? '', { signal: context.signal });
      setAuthentication(draft, undefined, context.clock.now());
      Object.assign(statusOf(draft), await offer(context, template, cloud, lookups));
      setVerdict(draft, 'Ready', readyVerdict, context.clock.now());
    } catch (error) {
      if (!(error instanceof CloudFault)) throw error;
      const now = context.clock.now();
      if (error.reason === authenticationFailedReason) setAuthentication(draft, error.message, now);
      setVerdict(draft, 'Ready', notReady(error.reason, error.message), now);
      result = pauseAfter(error, context.random);
      if (!result) failure = error;
    }
    await writeObject(context, OpenStackMachineTemplates, template, draft, { observed: false });
    if (failure !== undefined) throw failure;
    return result ?? done();
  };

  return defineController({
    name: 'openstackmachinetemplate',
    for: OpenStackMachineTemplates,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    // no machine waits for it
    background: true,
    setup(cache) {
      cache.informer(Images);
      cache.informer(OpenStackMachineTemplates).addIndexer(byCluster, (template) => {
        const cluster = ownerOf(template, Clusters)?.name;
        return cluster === undefined ? [] : [`${template.metadata.namespace}/${cluster}`];
      });
      indexByIdentity(cache, OpenStackMachineTemplates, ({ spec }) => spec.template.spec.identityRef);
      indexByIdentity(cache, OpenStackClusters, ({ spec }) => spec.identityRef);
    },
    watches: [
      watchObjects(OpenStackMachineTemplates, {
        predicates: [...watchFilter(dependencies.watchFilter), changedBesidesStatus],
      }),
      watchMapped(Clusters, ({ metadata }) => templatesIn(metadata.namespace, metadata.name), {
        predicates: [clusterChanged('paused', 'infrastructureRef')],
      }),
      watchMapped(OpenStackClusters, templatesOf, { predicates: [openStackClusterChanged] }),
    ],
    sources: [dependencies.clouds.rotationSource(usersOf)],
    reconcile,
  });

  function templatesIn(namespace = '', cluster = ''): ObjectKey[] {
    return dependencies.cache
      .lister(OpenStackMachineTemplates)
      .byIndex(byCluster, `${namespace}/${cluster}`)
      .map(objectKey);
  }

  function templatesOf(openStackCluster: OpenStackCluster): ObjectKey[] {
    const { namespace, name } = openStackCluster.metadata;
    return templatesIn(namespace, ownerOf(openStackCluster, Clusters)?.name ?? name);
  }

  /** Maps an identity to templates that use it, directly or through their cluster. */
  function usersOf(identity: string): ObjectKey[] {
    const { cache } = dependencies;
    return [
      ...cache.lister(OpenStackMachineTemplates).byIndex(byIdentity, identity).map(objectKey),
      ...cache.lister(OpenStackClusters).byIndex(byIdentity, identity).flatMap(templatesOf),
    ];
  }
}

const byCluster = 'cluster';

const openStackClusterChanged: Predicate<OpenStackCluster> = (event) =>
  event.type !== 'update' || !deepEqual(event.object.spec.identityRef, event.old.spec.identityRef);

/** Finds the cluster of a template. Templates of a ClusterClass have none, and thus no cloud. */
function surroundings({ cache }: ReconcileContext, template: OpenStackMachineTemplate) {
  const { namespace = '' } = template.metadata;
  const owner = ownerOf(template, Clusters);
  const cluster = owner && cache.lister(Clusters).get({ namespace, name: owner.name });
  const name = cluster?.spec.infrastructureRef?.name;
  const openStackCluster = name === undefined ? undefined : cache.lister(OpenStackClusters).get({ namespace, name });
  return { cluster, openStackCluster };
}

async function offer(
  { cache }: ReconcileContext,
  template: OpenStackMachineTemplate,
  { openstack, projectId }: CloudAccess,
  lookups: LookupCache,
): Promise<Pick<OpenStackMachineTemplateStatus, 'capacity' | 'nodeInfo'>> {
  const { spec } = template.spec.template;
  const { namespace = '' } = template.metadata;
  const cloud = { openstack, cache: lookups };
  const finder = createCloudFinder({
    ...cloud,
    projectId,
    imageObject: (name) => cache.lister(Images).get({ namespace, name }),
  });
  return await attempt('What the template names cannot be looked up', dependencyFailedReason, async () => {
    // an ORC Image provides only the image id
    const wanted = spec.image.imageRef ? { id: await finder.image(spec.image) } : spec.image;
    const [flavor, image] = await Promise.all([
      findFlavor(cloud, { id: spec.flavor.id, name: spec.flavor.filter?.name }),
      findImage(cloud, wanted),
    ]);
    return offerOf(spec, flavor, image);
  });
}

function statusOf(draft: OpenStackMachineTemplate): OpenStackMachineTemplateStatus {
  draft.status ??= {};
  return draft.status;
}
