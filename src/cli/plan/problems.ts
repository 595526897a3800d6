import {
  Machines,
  OpenStackClusters,
  OpenStackMachines,
  OpenStackMachineTemplates,
  type OpenStackServer,
  OpenStackServers,
} from '../../api/index.ts';
import { objectKey } from '../../client/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { checkName, checkNewServer, checkNewVolume } from './checks.ts';
import { type ClusterRehearsal, describeObject, type MadeChange } from './cluster-rehearsal.ts';
import { objectsWithoutTemplates } from './stored-objects.ts';
import type { PlanProblem } from './types.ts';

interface Conditioned extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { type: string; status: string; message?: string; reason?: string }[];
  };
}

const messageOf = (object: Conditioned, type: string): string | undefined => {
  const condition = object.status?.conditions?.find((one) => one.type === type);
  return condition?.status === 'False' ? (condition.message ?? condition.reason) : undefined;
};

/** Lists all problems of a cluster without duplicates. */
export async function problemsOf(rehearsal: ClusterRehearsal): Promise<PlanProblem[]> {
  const { objects, obstacles, changes } = rehearsal;
  const problems = new Map<string, PlanProblem>();
  const note = (object: string, message: string, severity: PlanProblem['severity'] = 'error'): void => {
    const text = message.trim();
    if (text !== '') problems.set(`${object}\n${text}`, { object, message: text, severity });
  };
  for (const { object, field, reference } of objectsWithoutTemplates(objects)) {
    note(
      describeObject(object),
      `${field}: there is no ${reference.kind} ${object.metadata.namespace}/${reference.name}; add it, or correct the name`,
    );
  }
  const clusters = objects.list(OpenStackClusters);
  for (const cluster of clusters) {
    const message = messageOf(cluster, 'Ready');
    if (message !== undefined) note(describeObject(cluster), message);
    const bastion = messageOf(cluster, 'BastionReady');
    if (bastion !== undefined) note(describeObject(cluster), bastion);
  }
  for (const server of objects.list(OpenStackServers)) {
    const message = messageOf(server, 'InstanceReady');
    if (message === undefined || server.metadata.deletionTimestamp !== undefined) continue;
    const { object, text } = whereWritten(rehearsal, server, message);
    note(object, text, message.startsWith('Waiting for') ? 'warning' : 'error');
  }
  // A machine of an unready cluster is only waiting.
  const isReady = clusters.every((cluster) => cluster.status?.initialization?.provisioned === true);
  for (const machine of isReady ? objects.list(OpenStackMachines) : []) {
    if (objects.get(OpenStackServers, objectKey(machine)) || machine.metadata.deletionTimestamp !== undefined) continue;
    const message = messageOf(machine, 'InstanceReady');
    if (message !== undefined) note(describeObject(machine), message);
  }
  for (const [object, message] of obstacles) {
    const isTold = [...problems.values()].some(
      (problem) => problem.message.includes(message) || message.includes(problem.message),
    );
    if (!isTold) note(object, message);
  }
  for (const made of changes) {
    for (const { message, severity } of await checkNewServer(made)) {
      const { object, text } = whereMade(rehearsal, made, message);
      note(object, text, severity);
    }
    for (const { message, severity } of await checkNewVolume(made))
      note(made.object, nameless(rehearsal, message), severity);
    for (const { message, severity } of await checkName(made)) note(made.object, message, severity);
  }
  return [...problems.values()];
}

/** Replaces random names, which carry no information and would split one problem into many. */
function nameless({ objects }: ClusterRehearsal, message: string): string {
  return objects.drawn.reduce((text, drawn) => text.replaceAll(drawn, '*'), message);
}

/** Returns the template of a machine, because that is where users fix a problem. */
function whereWritten(
  rehearsal: ClusterRehearsal,
  server: OpenStackServer,
  message: string,
): { object: string; text: string } {
  const machine = rehearsal.objects.get(OpenStackMachines, objectKey(server));
  const template = machine?.metadata.annotations?.['cluster.x-k8s.io/cloned-from-name'];
  const text = nameless(rehearsal, message);
  if (template === undefined) return { object: describeObject(server), text };
  const object = `${OpenStackMachineTemplates.kind} ${server.metadata.namespace}/${template}`;
  return { object, text: text.replace(/^spec\./, 'spec.template.spec.') };
}

function whereMade(rehearsal: ClusterRehearsal, { object, machine }: MadeChange, message: string) {
  const { namespace = '' } = machine?.metadata ?? {};
  const key = { namespace, name: machine?.spec.infrastructureRef.name ?? '' };
  const server = machine?.kind === Machines.kind ? rehearsal.objects.get(OpenStackServers, key) : undefined;
  return server ? whereWritten(rehearsal, server, message) : { object, text: message };
}
