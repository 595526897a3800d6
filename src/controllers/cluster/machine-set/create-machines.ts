import {
  type ContractReference,
  type Machine,
  type MachineSet,
  machineSets,
  machines,
  setNameLabel,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { isAlreadyExists, isNotFound, type UnstructuredObject } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  cloneOf,
  disableMachineCreateAnnotation,
  explain,
  isCloneOf,
  isControlledBy,
  isDeleting,
  kindWithoutTemplate,
  ownerReference,
} from '../../shared/index.ts';
import { machineName } from '../common/machine-names.ts';
import { belongingLabels, desiredMachine } from './desired-machine.ts';
import { preflightProblems } from './preflight.ts';
import { type MachineSetScope, machineSetManager } from './scope.ts';

const blockedRetryMs = 15_000;

/** Made in one pass over a set, so that a change of mind is heard and other sets have their turn. */
const mostPerPass = 20;
/** Of one set, without a server: a cloud that gives no more servers is not flooded with objects that wait for one. */
export const mostPending = 100;

/** The steps of a creation that can fail, as v1beta1 names them. */
const failures = {
  bootstrap: 'BootstrapTemplateCloningFailed',
  infrastructure: 'InfrastructureTemplateCloningFailed',
  machine: 'MachineCreationFailed',
} as const;

class CreationError extends Error {
  readonly step: keyof typeof failures;

  constructor(step: keyof typeof failures, cause: unknown) {
    super(explain(cause), { cause });
    this.step = step;
  }
}

/** Makes the machines a set lacks. */
export async function createMissing(scope: MachineSetScope, count: number): Promise<Result | undefined> {
  const { set, cluster, context } = scope;
  if (set.metadata.annotations?.[disableMachineCreateAnnotation] === 'true' || !cluster) return undefined;
  if (scope.missingTemplates.length > 0) return after(blockedRetryMs, 'templates are missing');
  scope.blocked = await preflight(scope);
  if (scope.blocked.length > 0) return after(blockedRetryMs, 'preflight checks');

  // a cache that has not seen the last machine yet must not lead to one too many
  const known = await liveMachines(scope);
  const lacking = Math.min(count, (set.spec.replicas ?? 0) - known.length);
  if (lacking <= 0) return undefined;
  const pending = known.filter((machine) => !isDeleting(machine) && machine.spec.providerID === undefined).length;
  const room = mostPending - pending;
  if (room <= 0) {
    scope.blocked = [`${pending} Machines have no server yet; more are made as these get theirs`];
    return after(blockedRetryMs, 'too many Machines without a server');
  }
  const batch = Math.min(lacking, room, mostPerPass);
  const unfinished = await unfinishedNames(scope, known);
  try {
    for (let i = 0; i < batch; i++) {
      const name = unfinished.shift() ?? machineName(set, context.random);
      const machine = await createMachine(scope, name);
      scope.machines.push(machine);
      context.log.info('Machine created', { machine: name });
      context.events.event(set, 'Normal', 'SuccessfulCreate', `Created Machine "${name}"`);
    }
  } catch (error) {
    if (context.signal.aborted) throw error;
    const step = error instanceof CreationError ? error.step : 'machine';
    scope.creationProblem = { legacyReason: failures[step], message: explain(error) };
    context.events.event(set, 'Warning', 'FailedCreate', `Failed to create Machine: ${explain(error)}`);
    throw error;
  }
  // the set is read again: its user may not want the rest any more
  return batch < lacking ? after(0, 'more Machines are to be made') : undefined;
}

/** Checks both for new machines and for the replacement of ill ones. */
export async function preflight({ cluster, set, context, follower }: MachineSetScope): Promise<string[]> {
  if (!cluster) return [];
  const reference = cluster.spec.controlPlaneRef;
  const { client, signal } = context;
  const controlPlane =
    reference && (await follower.get(reference, cluster.metadata.namespace ?? '', { client, signal }));
  return preflightProblems(cluster, set, controlPlane);
}

async function liveMachines({ set, context }: MachineSetScope): Promise<Machine[]> {
  const { namespace } = set.metadata;
  const label = belongingLabels(set)[setNameLabel];
  const list = await context.client.list(machines, {
    ...(namespace !== undefined && { namespace }),
    labelSelector: `${setNameLabel}=${label}`,
    signal: context.signal,
  });
  return list.items.filter((machine) => isControlledBy(machine, set));
}

function cloneReferences(set: MachineSet): {
  bootstrap: ContractReference | undefined;
  infrastructure: ContractReference;
} {
  const { bootstrap, infrastructureRef } = set.spec.template.spec;
  return { bootstrap: bootstrap.configRef, infrastructure: infrastructureRef };
}

const cloneKind = ({ apiGroup, kind }: ContractReference): Pick<ContractReference, 'apiGroup' | 'kind'> => ({
  apiGroup,
  kind: kindWithoutTemplate(kind),
});

/** Clones of the set that no machine has taken over: what a creation that was cut short left behind. */
async function leftovers(
  { set, context, follower }: MachineSetScope,
  known: readonly Machine[],
): Promise<{ clone: UnstructuredObject; template: ContractReference }[]> {
  const names = new Set(known.map(({ metadata }) => metadata.name));
  const found: { clone: UnstructuredObject; template: ContractReference }[] = [];
  const { client, signal } = context;
  const { bootstrap, infrastructure } = cloneReferences(set);
  for (const template of [bootstrap, infrastructure]) {
    if (!template) continue;
    for (const clone of await follower.controlledBy(set, cloneKind(template), { client, signal })) {
      if (!names.has(clone.metadata.name) && !isDeleting(clone)) found.push({ clone, template });
    }
  }
  return found;
}

/** Names of machines whose creation was begun and can be finished. */
async function unfinishedNames(scope: MachineSetScope, known: readonly Machine[]): Promise<string[]> {
  const names = new Set<string>();
  for (const { clone, template } of await leftovers(scope, known)) {
    if (isCloneOf(clone, template)) names.add(clone.metadata.name ?? '');
  }
  return [...names].sort();
}

/** Deletes clones that will not become machines; only once nobody can still be about to use them. */
export async function deleteLeftovers(scope: MachineSetScope): Promise<undefined> {
  const { set, context, follower } = scope;
  if (isDeleting(set) || (set.spec.replicas ?? 0) > scope.machines.length) return;
  const { client, signal } = context;
  const found = await leftovers(scope, scope.machines);
  if (found.length === 0) return;
  const known = new Set((await liveMachines(scope)).map(({ metadata }) => metadata.name));
  for (const { clone, template } of found) {
    if (known.has(clone.metadata.name)) continue;
    const { resource } = await follower.kindOf(cloneKind(template), signal);
    const { uid, resourceVersion } = clone.metadata;
    await client
      .delete(resource, objectKey(clone), {
        signal,
        preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
      })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }
}

/**
 * Clones first, then the machine: infrastructure does nothing for a clone without a machine. A name is chosen once; when we
 * are stopped in between, the clone carries it to the next pass.
 */
async function createMachine(scope: MachineSetScope, name: string): Promise<Machine> {
  const { set, context, applies } = scope;
  const templates = cloneReferences(set);
  const configRef = templates.bootstrap && (await createClone(scope, name, templates.bootstrap, 'bootstrap'));
  const infrastructureRef = await createClone(scope, name, templates.infrastructure, 'infrastructure');
  const { dataSecretName } = set.spec.template.spec.bootstrap;
  const machine = desiredMachine(set, name, {
    bootstrap: configRef ? { configRef } : dataSecretName === undefined ? {} : { dataSecretName },
    infrastructureRef,
  });
  try {
    return await applies.machine.create(context.client, machines, machine, context.signal);
  } catch (error) {
    throw new CreationError('machine', error);
  }
}

async function createClone(
  { set, context, follower, applies }: MachineSetScope,
  name: string,
  reference: ContractReference,
  step: 'bootstrap' | 'infrastructure',
): Promise<ContractReference> {
  const { client, signal } = context;
  const namespace = set.metadata.namespace ?? '';
  try {
    const template = await follower.get(reference, namespace, { client, signal });
    if (!template) throw new Error(`${reference.kind} ${namespace}/${reference.name} does not exist`);
    const kind = await follower.kindOf(cloneKind(reference), signal);
    const clone = cloneOf({
      template: template.object,
      reference,
      kind,
      name,
      namespace,
      // labels and annotations of the machine template follow under a manager of their own, so that they can leave again
      labels: belongingLabels(set),
      annotations: {},
      owner: ownerReference(set, machineSets, { controller: true }),
    });
    try {
      const { metadata } = await client.create(kind.resource, clone, { fieldManager: machineSetManager, signal });
      applies.metadata.noteBirth(metadata.uid!);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const existing = await client.get(kind.resource, { namespace, name }, { signal });
      if (!isControlledBy(existing, set)) throw error;
    }
    return { ...cloneKind(reference), name };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CreationError(step, error);
  }
}
