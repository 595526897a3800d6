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
const gatesDescription = 'Further conditions that must hold before the machine is ready.';
const commonSpecFields = once(() => ({
  clusterName: text('Name of the Cluster the machine belongs to.', 63).required(),
  version: text('Kubernetes version wanted on the machine.', 256),
  providerID: text('Id of the machine at its provider, the same its Node carries.', 512),
  failureDomain: text('Failure domain the machine should go to.', 256),
  taints: taints(),
}));

export const machineSpec: () => Field<MachineSpec> = once(() =>
  object(
    {
      ...commonSpecFields(),
      bootstrap: object(
        {
          configRef: contractReference('The object that makes the user data of the machine.'),
          dataSecretName: dataSecretName(),
        },
        'How the machine becomes a Node.',
      ).required(),
      infrastructureRef: contractReference('The object that provides the machine.').required(),
      minReadySeconds: int32('How long the machine must be ready to count as available.', { minimum: 0 }),
      readinessGates: conditionGates(gatesDescription, 1),
      deletion: nodeDeletion(),
    },
    'What is wanted.',
  ),
);

export const machineSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...commonSpecFields(),
      bootstrap: object(
        {
          configRef: objectReference('The object that makes the user data of the machine.'),
          dataSecretName: dataSecretName(),
        },
        'How the machine becomes a Node.',
      ).required(),
      infrastructureRef: objectReference('The object that provides the machine.').required(),
      readinessGates: conditionGates(gatesDescription),
      ...nodeTimeouts(),
    },
    'What is wanted.',
  ),
);

export const machineTemplate: () => Field<MachineTemplate> = once(() =>
  object(
    { metadata: templateMetadata(1), spec: machineSpec().describe('Spec of the machines.').required() },
    'What machines are made from.',
  ),
);

export const machineTemplateV1beta1: () => UntypedField = once(() =>
  object({ metadata: templateMetadata(), spec: machineSpecV1beta1() }, 'What machines are made from.'),
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
    'What the Node says about its system.',
  ),
);

const address = once(() =>
  object({
    type: oneOf(
      ['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS'],
      'What the address is.',
    ).required(),
    address: text('The address.', 256).required(),
  }),
);

const deletionStatus = once(() =>
  object(
    {
      nodeDrainStartTime: time('When draining began.'),
      waitForNodeVolumeDetachStartTime: time('When waiting for volumes began.'),
      waitForPreDrainHookStartTime: time('When waiting for hooks before the drain began.'),
      waitForPreTerminateHookStartTime: time('When waiting for hooks before the end began.'),
    },
    'How far the deletion has come.',
  ),
);

const commonStatusFields = once(() => ({
  nodeInfo: nodeInfo(),
  lastUpdated: time('When the phase changed last.'),
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
          infrastructureProvisioned: boolean('True once the infrastructure has been provided; never goes back.'),
          bootstrapDataSecretCreated: boolean('True once the user data has been made; never goes back.'),
        },
        'What of the first provisioning is done.',
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
        'The Node the machine became.',
      ),
      failureDomain: text('Failure domain the machine is in.', 256),
      addresses: atomicList(address(), 'Addresses of the machine.', { maxItems: 256 }),
      phase: oneOf(
        ['Pending', 'Provisioning', 'Provisioned', 'Running', 'Updating', 'Deleting', 'Deleted', 'Failed', 'Unknown'],
        'Where the machine is in its life.',
      ),
      observedGeneration: int64('Generation of the spec this status is about.', { minimum: 1 }),
      deprecated: object(
        { v1beta1: object({ conditions: deprecatedConditions(), ...failureFields }, 'What clients of v1beta1 read.') },
        'Kept for old clients.',
      ),
    },
    'What is there.',
    { minProperties: 1 },
  ),
);

export const machineStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...commonStatusFields(),
      conditions: deprecatedConditions(),
      bootstrapReady: boolean('True once the user data has been made.'),
      infrastructureReady: boolean('True once the infrastructure has been provided.'),
      nodeRef: objectReference('The Node the machine became.'),
      addresses: list(address(), 'Addresses of the machine.'),
      ...failureFields,
      phase: oneOf(
        ['Pending', 'Provisioning', 'Provisioned', 'Running', 'Deleting', 'Deleted', 'Failed', 'Unknown'],
        'Where the machine is in its life.',
      ),
      observedGeneration: int64('Generation of the spec this status is about.'),
      v1beta2: object({ conditions: conditions(32) }, 'What v1beta2 has in its status.'),
    },
    'What is there.',
  ),
);
