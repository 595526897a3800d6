import { type Machine, type MachineHealthCheck, Machines, type TemplateReference } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import {
  ignoreNotFound,
  isAlreadyExists,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import {
  cloneOf,
  explain,
  fieldManager,
  isDeleting,
  kindWithoutTemplate,
  ownerReference,
  pluralOf,
  type Verdict,
} from '../../shared/index.ts';

/** Resolves the kind of a template reference, in the referenced version. */
function resourceOf(reference: TemplateReference, kind: string): Resource<UnstructuredObject> {
  return { ...parseApiVersion(reference.apiVersion), kind, plural: pluralOf(kind), namespaced: true };
}

/** Creates a remediation request named after the machine, and reports its state. */
export async function requestRemediation(
  context: ReconcileContext,
  check: MachineHealthCheck,
  reference: TemplateReference,
  machine: Machine,
): Promise<Verdict> {
  const { client, signal } = context;
  const { namespace = '', name = '' } = machine.metadata;
  const kind = kindWithoutTemplate(reference.kind);
  const requests = resourceOf(reference, kind);
  const waiting: Verdict = { status: 'False', reason: 'WaitingForRemediation' };
  if (await client.get(requests, { namespace, name }, { signal }).catch(ignoreNotFound)) return waiting;
  const template = await client
    .get(resourceOf(reference, reference.kind), { namespace, name: reference.name }, { signal })
    .catch(ignoreNotFound);
  if (!template) {
    const message = `Error retrieving remediation template ${reference.kind} ${namespace}/${reference.name}`;
    return { status: 'False', reason: 'RemediationTemplateNotFound', message };
  }
  const clone = cloneOf({
    template,
    reference: { apiGroup: requests.group, kind: reference.kind, name: reference.name },
    kind: { resource: requests, contract: 'v1beta2' },
    name,
    namespace,
    labels: { 'cluster.x-k8s.io/cluster-name': machine.spec.clusterName },
    annotations: {},
    owner: ownerReference(machine, Machines),
  });
  try {
    await client.create(requests, clone, { fieldManager, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    if (!isAlreadyExists(error)) {
      const message = `${kind} ${namespace}/${name} cannot be created: ${explain(error)}`;
      return { status: 'False', reason: 'RemediationRequestCreationFailed', message };
    }
  }
  context.events.event(check, 'Normal', 'RemediationRequested', `Created ${kind} ${namespace}/${name}`);
  return waiting;
}

/** Deletes the remediation request of a machine that is healthy again. */
export async function withdrawRemediation(
  context: ReconcileContext,
  reference: TemplateReference,
  machine: Machine,
): Promise<void> {
  const { client, signal } = context;
  const requests = resourceOf(reference, kindWithoutTemplate(reference.kind));
  const request = await client.get(requests, objectKey(machine), { signal }).catch(ignoreNotFound);
  if (request && !isDeleting(request))
    await client.delete(requests, objectKey(request), { signal }).catch(ignoreNotFound);
}
