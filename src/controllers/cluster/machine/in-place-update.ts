import type { ContractReference, Machine, MachineObjects } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { asTyped, asUnstructured, type UnstructuredObject } from '../../../machinery/index.ts';
import { after, done, type Result } from '../../../runtime/index.ts';
import {
  fieldManager,
  isDeleting,
  isHookPending,
  markHookDone,
  slimObject,
  updateInProgressAnnotation,
} from '../../shared/index.ts';
import type { MachineScope, Referenced } from './scope.ts';

const hook = 'UpdateMachine';

/**
 * Updates a machine in place after its owner marked it: calls the extension until it reports completion. The owner
 * first writes the desired Machine, infrastructure and bootstrap config, marks all three, and then marks the hook as
 * pending, which starts the update.
 */
export async function reconcileInPlaceUpdate(scope: MachineScope): Promise<Result> {
  const { machine, context, dependencies } = scope;
  if (isDeleting(machine)) return done();
  const isMarked = machine.metadata.annotations?.[updateInProgressAnnotation] !== undefined;
  if (!isHookPending(machine, hook)) return done();
  if (!isMarked) {
    // the update is complete or canceled: remove the marks of the other objects before the pending-hook annotation
    await unmark(scope, scope.infrastructure);
    await unmark(scope, scope.bootstrap);
    markHookDone(machine, hook);
    return done();
  }
  const { initialization, nodeRef } = machine.status ?? {};
  if (!initialization?.infrastructureProvisioned || !initialization.bootstrapDataSecretCreated || !nodeRef) {
    return done();
  }
  if (scope.infrastructure.state === 'missing') return fail(scope, 'its infrastructure does not exist');
  if (!isReady(scope.infrastructure) || !(scope.bootstrap.state === 'none' || isReady(scope.bootstrap))) return done();
  const handlers = dependencies.hooks?.handlers(hook, machine) ?? [];
  if (handlers.length === 0 || !dependencies.hooks) return fail(scope, `no extension answers hook ${hook}`);
  if (handlers.length > 1) {
    return fail(scope, `several handlers answer hook ${hook} (${handlers.join(', ')}): only one is supported`);
  }
  const result = await dependencies.hooks.call(hook, machine, { desired: desiredOf(scope) }, context.signal);
  if (result.status === 'failed') {
    scope.updating = { reason: 'InPlaceUpdateFailed', message: result.message };
    throw new Error(`the update of Machine ${machine.metadata.name} in place failed: ${result.message}`);
  }
  if (result.status === 'wait') {
    scope.updating = { reason: 'InPlaceUpdating', message: `In-place update in progress: ${result.message}` };
    return after(result.retryAfterSeconds * 1000, 'the update in place is under way');
  }
  // written before the other marks are removed, so that a crash in between does not start a second update
  const { [updateInProgressAnnotation]: _, ...annotations } = machine.metadata.annotations ?? {};
  machine.metadata.annotations = annotations;
  return after(1, 'the marks of an update in place are removed');
}

/** Reports a failure without a retry; a change of an object or an ExtensionConfig triggers a reconcile. */
function fail(scope: MachineScope, why: string): Result {
  scope.updating = { reason: 'InPlaceUpdateFailed', message: `In-place update not possible: ${why}` };
  return after(retryMs, why);
}

/** nothing signals that an extension server came up, so retry */
const retryMs = 30_000;

const isReady = (referenced: Referenced): boolean =>
  referenced.state === 'found' &&
  referenced.provider.object.metadata.annotations?.[updateInProgressAnnotation] !== undefined;

async function unmark({ follower, context, machine }: MachineScope, referenced: Referenced): Promise<void> {
  if (referenced.state !== 'found' || !isReady(referenced)) return;
  const { client, signal } = context;
  const { object } = referenced.provider;
  const reference = referenceTo(machine, object);
  if (!reference) return;
  const { resource } = await follower.kindOf(reference, signal);
  const patch = { metadata: { annotations: { [updateInProgressAnnotation]: null } } };
  await client.patch(resource, objectKey(object), 'merge', patch, { fieldManager, signal });
}

function referenceTo({ spec }: Machine, { kind }: UnstructuredObject): ContractReference | undefined {
  return [spec.infrastructureRef, spec.bootstrap.configRef].find((reference) => reference?.kind === kind);
}

function desiredOf({ machine, infrastructure, bootstrap }: MachineScope): MachineObjects {
  return {
    machine: asTyped<Machine>(slimObject(asUnstructured(machine))),
    ...(infrastructure.state === 'found' && { infrastructureMachine: slimObject(infrastructure.provider.object) }),
    ...(bootstrap.state === 'found' && { bootstrapConfig: slimObject(bootstrap.provider.object) }),
  };
}
