import {
  atomicList,
  boolean,
  type Field,
  int32,
  int64,
  listKeyedBy,
  object,
  once,
  oneOf,
  string,
  stringMap,
} from '../kind/schema.ts';
import {
  conditionGates,
  conditions,
  contractReference,
  deprecatedConditions,
  failureFields,
  paused,
  replicaVersions,
  text,
} from './common-schema.ts';
import { topology } from './topology-schema.ts';
import type { ApiEndpoint, ClusterReplicas, ClusterSpec, ClusterStatus, FailureDomain } from './types.ts';

export const clusterPhases = ['Pending', 'Provisioning', 'Provisioned', 'Deleting', 'Failed', 'Unknown'] as const;

export const apiEndpoint: () => Field<ApiEndpoint> = once(() =>
  object(
    {
      host: string('Name or address of the Kubernetes API.', { minLength: 1, maxLength: 512 }),
      port: int32('Port of the Kubernetes API.', { minimum: 1, maximum: 65535 }),
    },
    'Address of the Kubernetes API of the cluster.',
    { minProperties: 1 },
  ),
);

const cidrBlocks = (description: string): Field<{ cidrBlocks: string[] }> =>
  object(
    { cidrBlocks: atomicList(text('', 43), 'Address ranges in CIDR form.', { minItems: 1, maxItems: 100 }).required() },
    description,
  );

export const clusterSpec: () => Field<ClusterSpec> = once(() =>
  object(
    {
      paused: paused('all objects of the cluster'),
      clusterNetwork: object(
        {
          apiServerPort: int32('Port the API server listens on.', { minimum: 1, maximum: 65535 }),
          services: cidrBlocks('Addresses of Services.'),
          pods: cidrBlocks('Addresses of Pods.'),
          serviceDomain: text('Domain name of Services.', 253),
        },
        'Network inside the cluster.',
        { minProperties: 1 },
      ),
      controlPlaneEndpoint: apiEndpoint(),
      controlPlaneRef: contractReference('The object that provides the control plane.'),
      infrastructureRef: contractReference('The object that provides the infrastructure of the cluster.'),
      availabilityGates: conditionGates('Additional conditions that must hold before the cluster is available.', 1),
      topology: topology(),
    },
    'Desired state.',
    { minProperties: 1 },
  ),
);

export const clusterReplicas = (description: string): Field<ClusterReplicas> =>
  object(
    {
      desiredReplicas: int32('Desired machines.'),
      replicas: int32('Machines that exist.'),
      readyReplicas: int32('Machines that are ready.'),
      availableReplicas: int32('Machines that are available.'),
      upToDateReplicas: int32('Machines that match the spec.'),
      versions: replicaVersions({ keyed: false, maxItems: 32 }),
      upgradePlan: atomicList(
        object({ version: text('Kubernetes version.', 256).required() }),
        'Versions that a running upgrade has yet to pass.',
        { minItems: 1, maxItems: 32 },
      ),
    },
    description,
  );

export function failureDomains(constraints: { minItems?: number; maxItems?: number }): Field<FailureDomain[]> {
  return listKeyedBy(
    ['name'],
    object({
      name: text('Name of the failure domain.', 256).required(),
      controlPlane: boolean('Whether control plane machines may go here.'),
      attributes: stringMap('Attributes from the provider.'),
    }),
    'Failure domains for machines.',
    constraints,
  );
}

export const clusterStatus: () => Field<ClusterStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      initialization: object(
        {
          infrastructureProvisioned: boolean(
            'True once the infrastructure has been provided; never becomes false again.',
          ),
          controlPlaneInitialized: boolean('True once the control plane has answered; never becomes false again.'),
        },
        'Progress of the first provisioning.',
        { minProperties: 1 },
      ),
      controlPlane: clusterReplicas('Control plane machines in numbers.'),
      workers: clusterReplicas('Worker machines in numbers.'),
      failureDomains: failureDomains({ minItems: 1, maxItems: 100 }),
      phase: oneOf(clusterPhases, 'Phase of the cluster.'),
      observedGeneration: int64('Generation of the spec that this status describes.', { minimum: 1 }),
      deprecated: object(
        {
          v1beta1: object({ conditions: deprecatedConditions(), ...failureFields }, 'Status in the form of v1beta1.'),
        },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);
