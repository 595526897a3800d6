import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  notActedOn,
  notActedOnWarning,
} from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { isAlreadyExists } from '../machinery/index.ts';

const name = 'machinepools.cluster.x-k8s.io';

/**
 * clusterctl lists MachinePools in every management cluster and fails without the kind. We have no controller for it,
 * so the kind is a plain definition that upstream's may replace.
 */
export const machinePoolKind: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name,
    labels: { 'cluster.x-k8s.io/provider': 'cluster-api', 'clusterctl.cluster.x-k8s.io': '' },
    annotations: Object.fromEntries(
      notActedOn
        .filter(({ resource }) => resource === name)
        .map((entry) => ['capstan.dev/write-warning', notActedOnWarning(entry)]),
    ),
  },
  spec: {
    group: 'cluster.x-k8s.io',
    scope: 'Namespaced',
    names: {
      kind: 'MachinePool',
      listKind: 'MachinePoolList',
      plural: 'machinepools',
      singular: 'machinepool',
      shortNames: ['mp'],
      categories: ['cluster-api'],
    },
    versions: [
      {
        name: 'v1beta2',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'Kept for programs that look for it. No controller here acts on it: write a MachineDeployment.',
            'x-kubernetes-preserve-unknown-fields': true,
          },
        },
      },
    ],
  },
};

/** Creates the definition unless it exists. */
export async function ensureMachinePoolKind(client: Client, signal: AbortSignal): Promise<void> {
  try {
    await client.create(CustomResourceDefinitions, machinePoolKind, { fieldManager: 'capstan', signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
