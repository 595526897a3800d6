import {
  bootstrapGroup,
  type ContractReference,
  type KubeadmConfig,
  kubeadmConfigs,
  kubeadmControlPlanes,
  type Machine,
  machines,
} from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import {
  deepEqual,
  formatApiVersion,
  isAlreadyExists,
  isNotFound,
  type UnstructuredObject,
} from '../../../../machinery/index.ts';
import {
  cloneOf,
  controlPlaneNameLabel,
  explain,
  isCloneOf,
  isControlledBy,
  isDeleting,
  kindWithoutTemplate,
  ownerReference,
} from '../../../shared/index.ts';
import { controlPlaneManager, remediationInProgressAnnotation } from '../names.ts';
import type { ControlPlaneScope } from '../scope.ts';
import { belongingLabels, desiredMachine } from './desired-machine.ts';
import { desiredConfigSpec } from './kubeadm-config.ts';
import { machineName } from './machine-name.ts';

/** The steps of a creation that can fail, as v1beta1 names them. */
const failures = {
  bootstrap: 'BootstrapTemplateCloningFailed',
  infrastructure: 'InfrastructureTemplateCloningFailed',
  machine: 'MachineGenerationFailed',
} as const;

class CreationError extends Error {
  readonly step: keyof typeof failures;

  constructor(step: keyof typeof failures, cause: unknown) {
    super(explain(cause), { cause });
    this.step = step;
  }
}

export interface NewMachine {
  role: 'init' | 'join';
  failureDomain: string | undefined;
}

/** Makes one machine. The name is chosen once: a creation that was cut short is finished under the name it began with. */
export async function createMachine(scope: ControlPlaneScope, wish: NewMachine): Promise<Machine | undefined> {
  const { context, controlPlane, cluster, applies } = scope;
  // a cache that has not seen the last machine yet must not lead to one too many
  const live = await liveMachines(scope);
  if (live.some((machine) => !scope.machines.some(({ metadata }) => metadata.uid === machine.metadata.uid))) {
    return undefined;
  }
  try {
    const clusterName = cluster.metadata.name ?? '';
    const name = (await unfinishedName(scope, live, wish)) ?? machineName(controlPlane, clusterName, context.random);
    const configRef = await createConfig(scope, name, wish.role);
    const infrastructureRef = await createInfrastructure(scope, name);
    const remediationFor = controlPlane.metadata.annotations?.[remediationInProgressAnnotation];
    const machine = desiredMachine({
      controlPlane,
      clusterName,
      name,
      born: {
        bootstrap: { configRef },
        infrastructureRef,
        version: controlPlane.spec.version,
        ...(wish.failureDomain !== undefined && { failureDomain: wish.failureDomain }),
      },
      ...(remediationFor !== undefined && { remediationFor }),
    });
    const created = await applies.machine
      .create(context.client, machines, machine, context.signal)
      .catch((error: unknown) => {
        throw new CreationError('machine', error);
      });
    if (remediationFor !== undefined) {
      const { [remediationInProgressAnnotation]: _, ...annotations } = controlPlane.metadata.annotations ?? {};
      controlPlane.metadata.annotations = annotations;
    }
    scope.machines = [...scope.machines, created];
    context.log.info('Machine created', { machine: name });
    context.events.event(controlPlane, 'Normal', 'SuccessfulCreate', `Created Machine "${name}"`);
    return created;
  } catch (error) {
    if (context.signal.aborted) throw error;
    const step = error instanceof CreationError ? error.step : 'machine';
    scope.creationProblem = { legacyReason: failures[step], message: explain(error) };
    const reason = wish.role === 'init' ? 'FailedInitialization' : 'FailedScaleUp';
    context.events.event(controlPlane, 'Warning', reason, `Failed to create control plane Machine: ${explain(error)}`);
    throw error;
  }
}

async function liveMachines({ controlPlane, cluster, context }: ControlPlaneScope): Promise<Machine[]> {
  const { namespace } = controlPlane.metadata;
  const label = belongingLabels(controlPlane, cluster.metadata.name ?? '')[controlPlaneNameLabel];
  const list = await context.client.list(machines, {
    ...(namespace !== undefined && { namespace }),
    labelSelector: `${controlPlaneNameLabel}=${label}`,
    signal: context.signal,
  });
  return list.items.filter((machine) => isControlledBy(machine, controlPlane));
}

const configKind = { apiGroup: bootstrapGroup, kind: kubeadmConfigs.kind };

const infrastructureKind = ({ controlPlane }: ControlPlaneScope): Pick<ContractReference, 'apiGroup' | 'kind'> => {
  const { apiGroup, kind } = controlPlane.spec.machineTemplate.spec.infrastructureRef;
  return { apiGroup, kind: kindWithoutTemplate(kind) };
};

/** Parts of ours that no machine has taken over: what a creation that was cut short left behind. */
async function leftovers(scope: ControlPlaneScope, known: readonly Machine[]): Promise<UnstructuredObject[]> {
  const { controlPlane, context, follower } = scope;
  const names = new Set(known.map(({ metadata }) => metadata.name));
  const { client, signal } = context;
  const found: UnstructuredObject[] = [];
  for (const kind of [configKind, infrastructureKind(scope)]) {
    for (const part of await follower.controlledBy(controlPlane, kind, { client, signal })) {
      if (!names.has(part.metadata.name) && !isDeleting(part)) found.push(part);
    }
  }
  return found;
}

/** The name of a machine whose creation was begun with what is wished now. */
async function unfinishedName(
  scope: ControlPlaneScope,
  known: readonly Machine[],
  wish: NewMachine,
): Promise<string | undefined> {
  const { controlPlane } = scope;
  const parts = await leftovers(scope, known);
  const config = parts.find(
    (part) =>
      part.kind === configKind.kind &&
      deepEqual((part as unknown as KubeadmConfig).spec, desiredConfigSpec(controlPlane, wish.role)),
  );
  if (!config) return undefined;
  const { infrastructureRef } = controlPlane.spec.machineTemplate.spec;
  const twin = parts.find((part) => part !== config && part.metadata.name === config.metadata.name);
  return twin && !isCloneOf(twin, infrastructureRef) ? undefined : config.metadata.name;
}

/** Deletes parts that will not become machines; only once nobody can still be about to use them. */
export async function deleteLeftovers(scope: ControlPlaneScope): Promise<undefined> {
  const { context, follower } = scope;
  const found = await leftovers(scope, scope.machines);
  if (found.length === 0) return;
  const known = new Set((await liveMachines(scope)).map(({ metadata }) => metadata.name));
  for (const part of found) {
    if (known.has(part.metadata.name)) continue;
    const group = part.apiVersion.slice(0, part.apiVersion.indexOf('/'));
    const { resource } = await follower.kindOf({ apiGroup: group, kind: part.kind }, context.signal);
    const { uid, resourceVersion } = part.metadata;
    await context.client
      .delete(resource, objectKey(part), {
        signal: context.signal,
        preconditions: { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) },
      })
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
  }
}

async function createConfig(scope: ControlPlaneScope, name: string, role: 'init' | 'join'): Promise<ContractReference> {
  const { controlPlane, cluster } = scope;
  const namespace = controlPlane.metadata.namespace ?? '';
  const config: KubeadmConfig = {
    apiVersion: formatApiVersion(kubeadmConfigs.group, kubeadmConfigs.version),
    kind: kubeadmConfigs.kind,
    metadata: {
      name,
      namespace,
      // labels and annotations of the machine template follow under a manager of their own, so that they can leave again
      labels: belongingLabels(controlPlane, cluster.metadata.name ?? ''),
      ownerReferences: [ownerReference(controlPlane, kubeadmControlPlanes, { controller: true })],
    },
    spec: desiredConfigSpec(controlPlane, role),
  };
  try {
    await createOnce(scope, configKind, config as unknown as UnstructuredObject);
  } catch (error) {
    throw new CreationError('bootstrap', error);
  }
  return { ...configKind, name };
}

async function createInfrastructure(scope: ControlPlaneScope, name: string): Promise<ContractReference> {
  const { controlPlane, cluster, context, follower } = scope;
  const { client, signal } = context;
  const namespace = controlPlane.metadata.namespace ?? '';
  const reference = controlPlane.spec.machineTemplate.spec.infrastructureRef;
  const kind = infrastructureKind(scope);
  try {
    const template = await follower.get(reference, namespace, { client, signal });
    if (!template) throw new Error(`${reference.kind} ${namespace}/${reference.name} does not exist`);
    const clone = cloneOf({
      template: template.object,
      reference,
      kind: await follower.kindOf(kind, signal),
      name,
      namespace,
      labels: belongingLabels(controlPlane, cluster.metadata.name ?? ''),
      annotations: {},
      owner: ownerReference(controlPlane, kubeadmControlPlanes, { controller: true }),
    });
    await createOnce(scope, kind, clone);
  } catch (error) {
    if (signal.aborted) throw error;
    throw new CreationError('infrastructure', error);
  }
  return { ...kind, name };
}

async function createOnce(
  { controlPlane, context, follower, applies }: ControlPlaneScope,
  kind: Pick<ContractReference, 'apiGroup' | 'kind'>,
  object: UnstructuredObject,
): Promise<void> {
  const { client, signal } = context;
  const { resource } = await follower.kindOf(kind, signal);
  try {
    const { metadata } = await client.create(resource, object, { fieldManager: controlPlaneManager, signal });
    applies.metadata.noteBirth(metadata.uid!);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const existing = await client.get(resource, objectKey(object), { signal });
    if (!isControlledBy(existing, controlPlane)) throw error;
  }
}
