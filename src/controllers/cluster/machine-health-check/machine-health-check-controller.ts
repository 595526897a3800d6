import {
  type Cluster,
  Clusters,
  clusterNameLabel,
  type Machine,
  type MachineHealthCheck,
  MachineHealthChecks,
  Machines,
  type Node,
} from '../../../api/index.ts';
import { type Lister, type ObjectKey, objectKey } from '../../../client/index.ts';
import { clone, deepEqual, ignoreNotFound } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
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
  conditionOf,
  dropCondition,
  explain,
  isDeleting,
  isFalse,
  isFilteredOut,
  isNotConnected,
  isTrue,
  legacyFalse,
  legacyTrue,
  ownerReference,
  pausedAnnotation,
  pausedBy,
  pausedVerdict,
  setLegacy,
  setVerdict,
  skipRemediationAnnotation,
  watchFilter,
  withOwner,
  writeObject,
} from '../../shared/index.ts';
import { askOwner, selects } from '../common/ask-owner.ts';
import { type ClusterControllerDependencies, defaultConcurrency } from '../common/dependencies.ts';
import { byCluster, byNodeName, clusterIndexValue, registerIndexes } from '../common/indexes.ts';
import { machineConditionsChanged } from '../common/machine-changes.ts';
import { combined } from '../common/phases.ts';
import { remediationBudget } from './budget.ts';
import { evaluateTarget, type Health, type TargetNode } from './evaluate.ts';
import { requestRemediation, withdrawRemediation } from './external-remediation.ts';

/** A machine with its Node and verdict. */
interface Target {
  machine: Machine;
  node: TargetNode;
  health: Health;
}

/**
 * Builds the controller of MachineHealthChecks, which marks unhealthy machines and requests their remediation within
 * limits.
 */
export function machineHealthCheckController(dependencies: ClusterControllerDependencies): ControllerDefinition {
  const { cache, workloads } = dependencies;
  const checksOf = (namespace: string | undefined, clusterName: string): MachineHealthCheck[] =>
    cache.lister(MachineHealthChecks).byIndex(byCluster, clusterIndexValue(namespace, clusterName));
  const checksOfMachine = (machine: Machine): ObjectKey[] =>
    checksOf(machine.metadata.namespace, machine.spec.clusterName)
      .filter((check) => selects(check, machine))
      .map(objectKey);
  const checksOfCluster = ({ namespace, name }: ObjectKey): ObjectKey[] => checksOf(namespace, name).map(objectKey);

  return defineController({
    name: 'machinehealthcheck',
    for: MachineHealthChecks,
    continuesAfterOwnWrite: 'status',
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(factory) {
      registerIndexes(factory);
      factory
        .informer(MachineHealthChecks)
        .addIndexer(byCluster, ({ metadata, spec }) => [clusterIndexValue(metadata.namespace, spec.clusterName)]);
    },
    watches: [
      watchObjects(MachineHealthChecks, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(Machines, checksOfMachine, { predicates: [healthMayChange] }),
      watchMapped(Clusters, (cluster) => checksOfCluster(objectKey(cluster)), {
        predicates: [clusterChanged('paused', 'controlPlaneInitialized', 'infrastructureReady')],
      }),
    ],
    sources: [
      workloads.connectionSource(checksOfCluster),
      workloads.nodeSource((cluster, node) =>
        cache
          .lister(Machines)
          .byIndex(byNodeName, node.metadata.name ?? '')
          .filter(({ metadata, spec }) => metadata.namespace === cluster.namespace && spec.clusterName === cluster.name)
          .flatMap(checksOfMachine),
      ),
    ],
    async reconcile(context, key) {
      const check = context.cache.lister(MachineHealthChecks).get(key);
      if (!check || isDeleting(check) || isFilteredOut(check, dependencies.watchFilter)) return done();
      const { namespace = '' } = check.metadata;
      const cluster = context.cache.lister(Clusters).get({ namespace, name: check.spec.clusterName });
      const draft = clone(check);
      const pauses = pausedBy(check, cluster);
      setVerdict(draft, 'Paused', pausedVerdict(pauses), context.clock.now());
      if (pauses.length > 0 || !cluster) {
        await writeObject(context, MachineHealthChecks, check, draft, { observed: false });
        return done();
      }
      draft.metadata.labels = { ...draft.metadata.labels, [clusterNameLabel]: check.spec.clusterName };
      const owners = withOwner(draft.metadata.ownerReferences, ownerReference(cluster, Clusters));
      draft.metadata.ownerReferences = [...owners];
      let result: Result = done();
      let failure: unknown;
      try {
        result = await examine(context, cluster, draft);
      } catch (error) {
        failure = error;
      }
      await writeObject(context, MachineHealthChecks, check, draft, { observed: failure === undefined });
      if (failure !== undefined) throw failure;
      return result;
    },
  });

  async function examine(context: ReconcileContext, cluster: Cluster, draft: MachineHealthCheck): Promise<Result> {
    const now = context.clock.now();
    let nodes: Lister<Node> | undefined;
    try {
      if (isTrue(cluster, 'ControlPlaneInitialized')) nodes = workloads.nodes(objectKey(cluster));
    } catch (error) {
      if (!isNotConnected(error)) throw error;
      // without access to the Nodes no machine is judged; the restored connection triggers a reconcile
      const message = `Machines cannot be checked: ${explain(error)}`;
      setVerdict(draft, 'RemediationAllowed', { status: 'Unknown', reason: 'ConnectionDown', message }, now);
      return done();
    }
    const targets = findTargets(context, cluster, draft, nodes, now);
    const healthy = targets.filter(({ health }) => health.state === 'healthy').length;
    const unhealthy = targets.filter(({ health }) => health.state === 'unhealthy').length;
    const budget = remediationBudget(draft, { expected: targets.length, healthy, unhealthy });
    const names = targets.map(({ machine }) => machine.metadata.name ?? '').sort();
    draft.status = {
      ...draft.status,
      expectedMachines: targets.length,
      currentHealthy: healthy,
      remediationsAllowed: budget.remaining,
      ...(names.length > 0 && { targets: names }),
    };
    if (names.length === 0) delete draft.status.targets;
    if (budget.allowed) {
      setVerdict(draft, 'RemediationAllowed', { status: 'True', reason: 'RemediationAllowed' }, now);
      setLegacy(draft, 'RemediationAllowed', legacyTrue, now);
    } else {
      const refused = conditionOf(draft, 'RemediationAllowed')?.message !== budget.message;
      setVerdict(
        draft,
        'RemediationAllowed',
        { status: 'False', reason: 'TooManyUnhealthy', message: budget.message },
        now,
      );
      setLegacy(draft, 'RemediationAllowed', legacyFalse('TooManyUnhealthy', 'Warning', budget.message), now);
      if (unhealthy > 0 && refused) context.events.event(draft, 'Warning', 'RemediationRestricted', budget.message);
    }
    const errors: unknown[] = [];
    for (const target of targets) {
      try {
        await tell(context, draft, target, budget.allowed);
      } catch (error) {
        if (context.signal.aborted) throw error;
        errors.push(error);
      }
    }
    if (errors.length > 0) throw combined(errors);
    const next = Math.min(
      ...targets.map(({ health }) => (health.state === 'pending' ? health.inMs : Number.POSITIVE_INFINITY)),
    );
    return Number.isFinite(next) ? after(next, 'a machine may become unhealthy') : done();
  }

  function findTargets(
    context: ReconcileContext,
    cluster: Cluster,
    check: MachineHealthCheck,
    nodes: Lister<Node> | undefined,
    now: number,
  ): Target[] {
    return context.cache
      .lister(Machines)
      .byIndex(byCluster, clusterIndexValue(cluster.metadata.namespace, cluster.metadata.name ?? ''))
      .filter((machine) => selects(check, machine) && !isExempt(machine))
      .map((machine) => {
        const name = machine.status?.nodeRef?.name;
        const node: TargetNode = name === undefined || !nodes ? undefined : (nodes.get({ name }) ?? 'deleted');
        return { machine, node, health: evaluateTarget(check, cluster, machine, node, now) };
      });
  }
}

const isExempt = ({ metadata }: Machine): boolean =>
  metadata.annotations?.[pausedAnnotation] !== undefined ||
  metadata.annotations?.[skipRemediationAnnotation] !== undefined;

/** Writes the verdict to the machine, and requests remediation if allowed. */
async function tell(
  context: ReconcileContext,
  check: MachineHealthCheck,
  { machine, health }: Target,
  allowed: boolean,
): Promise<void> {
  if (health.state === 'unknown' || health.state === 'pending') return;
  const draft = clone(machine);
  const now = context.clock.now();
  const { templateRef } = check.spec.remediation ?? {};
  if (health.state === 'healthy') {
    if (templateRef && isFalse(machine, 'HealthCheckSucceeded'))
      await withdrawRemediation(context, templateRef, machine);
    setVerdict(draft, 'HealthCheckSucceeded', { status: 'True', reason: 'HealthCheckSucceeded' }, now);
    setLegacy(draft, 'HealthCheckSucceeded', legacyTrue, now);
    dropCondition(draft, 'ExternallyRemediated');
  } else {
    if (!isFalse(machine, 'HealthCheckSucceeded')) {
      context.events.event(machine, 'Normal', 'DetectedUnhealthy', health.verdict.message ?? '');
    }
    setVerdict(draft, 'HealthCheckSucceeded', health.verdict, now);
    setLegacy(draft, 'HealthCheckSucceeded', health.legacy, now);
    if (allowed && templateRef) {
      setVerdict(draft, 'ExternallyRemediated', await requestRemediation(context, check, templateRef, machine), now);
    } else if (allowed && !isDeleting(machine)) {
      askOwner(context, draft, now);
    }
  }
  // the machine may be deleted meanwhile
  await writeObject(context, Machines, machine, draft, { observed: false }).catch(ignoreNotFound);
}

/** Changes that can affect the health of a machine or the time of its verdict. */
const healthMayChange: Predicate<Machine> = (event) =>
  event.type !== 'update' ||
  machineConditionsChanged(event) ||
  event.object.status?.nodeRef?.name !== event.old.status?.nodeRef?.name ||
  !deepEqual(event.object.metadata.labels, event.old.metadata.labels) ||
  !deepEqual(event.object.metadata.annotations, event.old.metadata.annotations);
