import {
  type Cluster,
  type ClusterClass,
  ClusterClasses,
  Clusters,
  MachineDeployments,
  Machines,
  topologyOwnedLabel,
  unsafeClassNameAnnotation,
  unsafeVersionAnnotation,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import {
  type Clock,
  clone,
  deepEqual,
  type FieldError,
  fieldError,
  isNotFound,
  sleep,
} from '../../../machinery/index.ts';
import { createContractResolver, isHookPending, isTrue } from '../../shared/index.ts';
import { classRefusal, mayUseClass } from '../class-offer.ts';
import { planeStateOf } from '../cluster/current-state.ts';
import { classKeyOf, hasTopology, type TopologyCluster } from '../common.ts';
import { controlPlaneReplicas, withReplicasVariable } from '../desired/replicas.ts';
import { defaultVariables, validateVariables } from '../variables/values.ts';
import { noPools, validateClass } from './class-rules.ts';
import { incompatibilities, misfits, shortList, takenFromClusters } from './compatibility.ts';
import { validateVersion } from './version-rules.ts';

/** Result of an admission check. */
export interface Judgement {
  errors: FieldError[];
  warnings: string[];
}

/** Admission rules of Clusters with a topology, and of ClusterClasses, that depend on other objects. */
export interface TopologyAdmission {
  /** Sets variable defaults in place. */
  defaultCluster(draft: Cluster, old: Cluster | undefined, signal?: AbortSignal): Promise<void>;
  validateCluster(cluster: Cluster, old: Cluster | undefined, signal?: AbortSignal): Promise<Judgement>;
  validateClass(clusterClass: ClusterClass, old: ClusterClass | undefined, signal?: AbortSignal): Promise<Judgement>;
  /** returns why a ClusterClass may not be deleted */
  keepsClass(clusterClass: ClusterClass, signal?: AbortSignal): Promise<string | undefined>;
}

const forever = new AbortController().signal;
/** maximum number of Clusters listed whose values a class no longer accepts */
const maxUnhappy = 5;

export interface TopologyAdmissionOptions {
  /** reads with the controllers' permissions; objects a tenant may not refer to are never read */
  client: Client;
  clock: Clock;
  /** how long the write of a Cluster waits for an existing class to be reconciled; default 0 */
  classPatienceMs?: number;
}

const classPollMs = 100;

export function topologyAdmission({ client, clock, classPatienceMs = 0 }: TopologyAdmissionOptions): TopologyAdmission {
  const contracts = createContractResolver({ client, clock });

  async function classOf(cluster: TopologyCluster, signal: AbortSignal): Promise<ClusterClass | undefined> {
    try {
      return await client.get(ClusterClasses, classKeyOf(cluster), { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  const isReady = (found: ClusterClass): boolean =>
    found.status?.observedGeneration === found.metadata.generation && isTrue(found, 'VariablesReady');

  /**
   * Waits briefly for the class, which is often written together with its Cluster, so that the Cluster can be
   * validated. Returns undefined if the Cluster may not use it.
   */
  async function soonReady(cluster: TopologyCluster, signal: AbortSignal): Promise<ClusterClass | undefined> {
    for (const end = clock.now() + classPatienceMs; ; ) {
      const found = await classOf(cluster, signal);
      const mayUse = await mayUseClass(client, cluster, found, signal);
      // security: without permission, a class that exists takes as long as one that does not
      const mayChange = mayUse ? found !== undefined && !isReady(found) : true;
      if (!mayChange || clock.now() >= end) return mayUse ? found : undefined;
      await sleep(clock, classPollMs, signal);
    }
  }

  /** Lists the Clusters of a class; those of other namespaces only if they may use it. */
  async function usersOf(clusterClass: ClusterClass, signal: AbortSignal): Promise<TopologyCluster[]> {
    const { metadata } = clusterClass;
    const key = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    const all = (await client.list(Clusters, { signal })).items.filter(hasTopology);
    const users: TopologyCluster[] = [];
    for (const cluster of all) {
      if (!deepEqual(classKeyOf(cluster), key)) continue;
      if (await mayUseClass(client, cluster, clusterClass, signal)) users.push(cluster);
    }
    return users;
  }

  /** Explains why the version of a Cluster cannot change now. */
  async function busy(old: TopologyCluster, signal: AbortSignal): Promise<string | undefined> {
    const { namespace = '', name = '' } = old.metadata;
    if (isHookPending(old, 'AfterClusterUpgrade')) return 'the upgrade to it is not completed yet';
    const reference = old.spec.controlPlaneRef;
    if (!reference) return undefined;
    const version = old.spec.topology.version;
    const kind = await contracts.resolve(reference.apiGroup, reference.kind, signal).catch(() => undefined);
    const plane =
      kind &&
      (await client.get(kind.resource, { namespace, name: reference.name }, { signal }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      }));
    if (plane && kind) {
      const state = planeStateOf({ object: plane, contract: kind.contract });
      if (state.isProvisioning) return `${reference.kind} ${reference.name} is being created`;
      if (state.isUpgrading || state.version !== version)
        return `${reference.kind} ${reference.name} is being upgraded to it`;
    }
    const labelSelector = `cluster.x-k8s.io/cluster-name=${name},${topologyOwnedLabel}`;
    const deployments = (await client.list(MachineDeployments, { namespace, labelSelector, signal })).items;
    const behind = deployments.find(({ spec }) => spec.template.spec.version !== version);
    if (behind) return `MachineDeployment ${behind.metadata.name} is not upgraded to it yet`;
    if (deployments.length === 0) return undefined;
    const machines = (await client.list(Machines, { namespace, labelSelector, signal })).items;
    const late = machines.find(({ spec }) => spec.version !== version);
    return late && `Machine ${late.metadata.name} is not replaced by one of that version yet`;
  }

  async function versionErrors(
    cluster: TopologyCluster,
    before: TopologyCluster | undefined,
    found: ClusterClass,
    signal: AbortSignal,
  ): Promise<FieldError[]> {
    const { version } = cluster.spec.topology;
    const from = before?.spec.topology.version;
    const isSame = from === version;
    if (isSame && before && isSameClass(cluster, before)) return [];
    if (skipsVersionCheck(cluster)) return [];
    const errors = validateVersion(version, from, found);
    if (errors.length > 0 || !before || isSame) return errors;
    const why = await busy(before, signal);
    if (why === undefined) return [];
    const detail = `version cannot be changed from ${from} to ${version} now: ${why}; wait for condition TopologyReconciled`;
    return [fieldError.invalid('spec.topology.version', version, detail)];
  }

  async function rebaseErrors(
    cluster: TopologyCluster,
    old: TopologyCluster,
    found: ClusterClass,
    signal: AbortSignal,
  ): Promise<FieldError[]> {
    if (isSameClass(cluster, old) || skipsClassCheck(cluster)) return [];
    const before = await classOf(old, signal);
    if (!before) {
      const { name } = classKeyOf(old);
      const detail = `ClusterClass ${name}, which the Cluster is made from, does not exist: whether another one fits cannot be checked`;
      return [fieldError.forbidden('spec.topology.classRef', detail)];
    }
    return incompatibilities(before, found).map((error) => ({
      ...error,
      field: 'spec.topology.classRef',
      type: 'Forbidden' as const,
      detail: `ClusterClass ${found.metadata.name} is not compatible with ${before.metadata.name}: ${error.field} ${error.detail}`,
    }));
  }

  return {
    async defaultCluster(draft, old, signal = forever) {
      // The API checks required fields only after the defaults are set, so they may be missing here.
      if (draft.spec?.topology?.classRef?.name === undefined) return;
      if (!hasTopology(draft) || !isConcerned(draft, old)) return;
      const found = await soonReady(draft, signal);
      if (!found || !isReady(found)) return;
      const { topology } = draft.spec;
      const whole = withReplicasVariable(found, topology);
      // a variable that follows the field is not stored: it would win over a later change of the field
      const follower = whole === topology ? undefined : whole.variables?.at(-1)?.name;
      const definitions = clone(found.status?.variables ?? []).filter(({ name }) => name !== follower);
      defaultVariables(topology, definitions);
    },

    async validateCluster(cluster, old, signal = forever) {
      const judgement: Judgement = { errors: [], warnings: [] };
      if (!hasTopology(cluster) || !isConcerned(cluster, old)) return judgement;
      const { topology } = cluster.spec;
      const { errors, warnings } = judgement;
      if ((topology.workers?.machinePools ?? []).length > 0) {
        errors.push(fieldError.forbidden('spec.topology.workers.machinePools', noPools));
      }
      const found = await classOf(cluster, signal);
      if (!(await mayUseClass(client, cluster, found, signal))) {
        const detail = classRefusal(cluster);
        errors.push(fieldError.forbidden('spec.topology.classRef.namespace', detail));
        return judgement;
      }
      const before = old && hasTopology(old) ? old : undefined;
      const { name, namespace } = classKeyOf(cluster);
      const unchecked = (state: string, what: string): string =>
        `ClusterClass ${namespace}/${name} ${state}: ${what} of the Cluster are checked once it is there`;
      if (!found) {
        warnings.push(unchecked('does not exist', 'variables and classes'));
        if (before) errors.push(...withoutClass(cluster, before));
        return judgement;
      }
      if (isReady(found)) {
        const definitions = found.status?.variables ?? [];
        const whole = withReplicasVariable(found, topology);
        errors.push(...validateVariables(whole, definitions, { old: before?.spec.topology }));
      } else warnings.push(unchecked('is not reconciled yet', 'variables'));
      errors.push(
        ...misfits(cluster, found),
        ...(await versionErrors(cluster, before, found, signal)),
        ...(before ? await rebaseErrors(cluster, before, found, signal) : []),
      );
      const { note } = controlPlaneReplicas(found, topology);
      if (note !== undefined) warnings.push(note);
      return judgement;
    },

    async validateClass(clusterClass, old, signal = forever) {
      if (old && deepEqual(old.spec, clusterClass.spec)) return { errors: [], warnings: [] };
      const errors = validateClass(clusterClass);
      if (errors.length > 0 || !old) return { errors, warnings: [] };
      const users = await usersOf(old, signal);
      if (users.length === 0) return { errors, warnings: [] };
      errors.push(...incompatibilities(old, clusterClass), ...takenFromClusters(old, clusterClass, users));
      errors.push(...variablesRefused(clusterClass, old, users));
      return { errors, warnings: [] };
    },

    async keepsClass(clusterClass, signal = forever) {
      const users = await usersOf(clusterClass, signal);
      if (users.length === 0) return undefined;
      const names = users.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      return `ClusterClass cannot be deleted because it is used by ${users.length} Cluster(s): ${shortList(names)}`;
    },
  };
}

const isSameClass = (a: TopologyCluster, b: TopologyCluster): boolean => deepEqual(classKeyOf(a), classKeyOf(b));

const skipsClassCheck = ({ metadata }: Cluster): boolean =>
  metadata.annotations?.[unsafeClassNameAnnotation] !== undefined;

const skipsVersionCheck = ({ metadata }: Cluster): boolean =>
  metadata.annotations?.[unsafeVersionAnnotation] !== undefined;

/** Refuses changes that only the class can allow; a Cluster may be created before its class. */
function withoutClass(cluster: TopologyCluster, before: TopologyCluster): FieldError[] {
  const { name, namespace } = classKeyOf(cluster);
  const missing = `ClusterClass ${namespace}/${name} does not exist`;
  if (!isSameClass(cluster, before) && !skipsClassCheck(cluster)) {
    return [fieldError.forbidden('spec.topology.classRef', `cannot be changed yet: ${missing}`)];
  }
  const { version } = cluster.spec.topology;
  if (version === before.spec.topology.version || skipsVersionCheck(cluster)) return [];
  return [fieldError.invalid('spec.topology.version', version, `version cannot be changed now: ${missing}`)];
}

/**
 * Tells whether a write must be validated. Writes that keep the topology, and deletions, are not blocked by a class
 * that changed meanwhile.
 */
function isConcerned(cluster: Cluster, old: Cluster | undefined): boolean {
  if (cluster.metadata.deletionTimestamp !== undefined) return false;
  return !old || !deepEqual(old.spec.topology, cluster.spec.topology);
}

/** Lists Clusters whose variables the changed class would refuse, although the old class accepted them. */
function variablesRefused(
  clusterClass: ClusterClass,
  old: ClusterClass,
  users: readonly TopologyCluster[],
): FieldError[] {
  if (deepEqual(clusterClass.spec.variables, old.spec.variables)) return [];
  const inline = 'inline';
  // variables of extensions do not change with the class
  const discovered = (clusterClass.status?.variables ?? []).filter(
    ({ definitions }) => !definitions.some(({ from }) => from === inline),
  );
  const definitions = [
    ...(clusterClass.spec.variables ?? []).map(({ name, ...definition }) => ({
      name,
      definitions: [{ from: inline, ...definition }],
    })),
    ...discovered,
  ];
  const errors: FieldError[] = [];
  for (const cluster of users) {
    const topology = clone(cluster.spec.topology);
    defaultVariables(topology, definitions);
    // validate as a creation, because an update accepts unchanged invalid values
    const [first] = validateVariables(topology, definitions);
    if (!first) continue;
    const { namespace, name } = cluster.metadata;
    const detail = `Cluster ${namespace}/${name} would not be valid any more: ${first.field}: ${first.detail}`;
    errors.push(fieldError.forbidden('spec.variables', detail));
    if (errors.length === maxUnhappy) break;
  }
  return errors;
}
