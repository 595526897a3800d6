import {
  atomicList,
  boolean,
  type Field,
  int32,
  int64,
  list,
  object,
  once,
  oneOf,
  string,
  time,
  type UntypedField,
} from '../kind/schema.ts';
import { nodeTimeouts } from './cluster-v1beta1.ts';
import {
  conditionGates,
  conditions,
  contractReference,
  deprecatedConditions,
  dnsSubdomainPattern,
  failureFields,
  nodeDeletion,
  objectReference,
  taints,
  templateMetadata,
  text,
} from './common-schema.ts';
import type { MachineSpec, MachineStatus, MachineTemplate } from './types.ts';

const dataSecretName = (): Field<string> =>
  string('Secret with the user data of the machine; filled in from the bootstrap object.', {
    minLength: 0,
    maxLength: 253,
  });
const gatesDescription = 'Additional conditions that must hold before the machine is ready.';
const commonSpecFields = once(() => ({
  clusterName: text('Name of the Cluster the machine belongs to.', 63).required(),
  version: text('Desired Kubernetes version of the machine.', 256),
  providerID: text('Id of the machine at its provider, equal to that of its Node.', 512),
  failureDomain: text('Desired failure domain of the machine.', 256),
  taints: taints(),
}));

export const machineSpec: () => Field<MachineSpec> = once(() =>
  object(
    {
      ...commonSpecFields(),
      bootstrap: object(
        {
          configRef: contractReference('The object that creates the user data of the machine.'),
          dataSecretName: dataSecretName(),
        },
        'How the machine becomes a Node.',
      ).required(),
      infrastructureRef: contractReference('The object that provides the machine.').required(),
      minReadySeconds: int32('How long the machine must be ready to count as available.', { minimum: 0 }),
      readinessGates: conditionGates(gatesDescription, 1),
      deletion: nodeDeletion(),
    },
    'Desired state.',
  ),
);

export const machineSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...commonSpecFields(),
      bootstrap: object(
        {
          configRef: objectReference('The object that creates the user data of the machine.'),
          dataSecretName: dataSecretName(),
        },
        'How the machine becomes a Node.',
      ).required(),
      infrastructureRef: objectReference('The object that provides the machine.').required(),
      readinessGates: conditionGates(gatesDescription),
      ...nodeTimeouts(),
    },
    'Desired state.',
  ),
);

export const machineTemplate: () => Field<MachineTemplate> = once(() =>
  object(
    { metadata: templateMetadata(1), spec: machineSpec().describe('Spec of the machines.').required() },
    'Template of the machines.',
  ),
);

export const machineTemplateV1beta1: () => UntypedField = once(() =>
  object({ metadata: templateMetadata(), spec: machineSpecV1beta1() }, 'Template of the machines.'),
);

const nodeInfo = once(() =>
  object(
    {
      architecture: string('Architecture of the machine.').required(),
      bootID: string('Changes with every boot.').required(),
      containerRuntimeVersion: string('Container runtime and its version.').required(),
      kernelVersion: string('Version of the kernel.').required(),
      kubeProxyVersion: string('Version of kube-proxy; no longer meaningful.').required(),
      kubeletVersion: string('Version of the kubelet.').required(),
      machineID: string('Machine id of the operating system.').required(),
      operatingSystem: string('Operating system.').required(),
      osImage: string('Name and version of the operating system.').required(),
      systemUUID: string('UUID of the (virtual) hardware.').required(),
      swap: object({ capacity: int64('Bytes of swap.') }, 'Swap of the machine.'),
    },
    'System information of the Node.',
  ),
);

const address = once(() =>
  object({
    type: oneOf(
      ['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS'],
      'Type of the address.',
    ).required(),
    address: text('The address.', 256).required(),
  }),
);

const deletionStatus = once(() =>
  object(
    {
      nodeDrainStartTime: time('Start time of the drain.'),
      waitForNodeVolumeDetachStartTime: time('Start time of the wait for volumes.'),
      waitForPreDrainHookStartTime: time('Start time of the wait for pre-drain hooks.'),
      waitForPreTerminateHookStartTime: time('Start time of the wait for pre-terminate hooks.'),
    },
    'Progress of the deletion.',
  ),
);

const commonStatusFields = once(() => ({
  nodeInfo: nodeInfo(),
  lastUpdated: time('Time of the last change of the phase.'),
  certificatesExpiryDate: time('When the certificates on a control plane machine expire.'),
  deletion: deletionStatus(),
}));

export const machineStatus: () => Field<MachineStatus> = once(() =>
  object(
    {
      ...commonStatusFields(),
      conditions: conditions(32),
      initialization: object(
        {
          infrastructureProvisioned: boolean(
            'True once the infrastructure has been provided; never becomes false again.',
          ),
          bootstrapDataSecretCreated: boolean('True once the user data has been created; never becomes false again.'),
        },
        'Progress of the first provisioning.',
        { minProperties: 1 },
      ),
      nodeRef: object(
        {
          name: string('Name of the Node.', {
            minLength: 1,
            maxLength: 253,
            pattern: dnsSubdomainPattern,
          }).required(),
        },
        'The Node of the machine.',
      ),
      failureDomain: text('Failure domain the machine is in.', 256),
      addresses: atomicList(address(), 'Addresses of the machine.', { maxItems: 256 }),
      phase: oneOf(
        ['Pending', 'Provisioning', 'Provisioned', 'Running', 'Updating', 'Deleting', 'Deleted', 'Failed', 'Unknown'],
        'Phase of the machine.',
      ),
      observedGeneration: int64('Generation of the spec that this status describes.', { minimum: 1 }),
      deprecated: object(
        { v1beta1: object({ conditions: deprecatedConditions(), ...failureFields }, 'Status in the form of v1beta1.') },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
    { minProperties: 1 },
  ),
);

export const machineStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...commonStatusFields(),
      conditions: deprecatedConditions(),
      bootstrapReady: boolean('True once the user data has been created.'),
      infrastructureReady: boolean('True once the infrastructure has been provided.'),
      nodeRef: objectReference('The Node of the machine.'),
      addresses: list(address(), 'Addresses of the machine.'),
      ...failureFields,
      phase: oneOf(
        ['Pending', 'Provisioning', 'Provisioned', 'Running', 'Deleting', 'Deleted', 'Failed', 'Unknown'],
        'Phase of the machine.',
      ),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.'),
    },
    'Observed state.',
  ),
);
