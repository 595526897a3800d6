import type { ScalePaths } from '../../machinery/index.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { ageColumn, conditionColumn, countColumn, textColumn, wide } from '../kind/printer.ts';
import { clusterAlphas, machineAlphas, machineDeploymentAlphas, machineSetAlphas } from './alpha.ts';
import { clusterStrategy } from './cluster-admission.ts';
import { clusterSpec, clusterStatus } from './cluster-schema.ts';
import { clusterSpecV1beta1, clusterStatusV1beta1, clusterV1beta1 } from './cluster-v1beta1.ts';
import { clusterGroup } from './labels.ts';
import { machineDeploymentStrategy, machineSetStrategy, machineStrategy } from './machine-admission.ts';
import { machineV1beta1 } from './machine-mapping.ts';
import { machineSpec, machineSpecV1beta1, machineStatus, machineStatusV1beta1 } from './machine-schema.ts';
import {
  machineDeploymentSpec,
  machineDeploymentSpecV1beta1,
  machineDeploymentStatus,
  machineDeploymentStatusV1beta1,
  machineDeploymentV1beta1,
  machineSetSpec,
  machineSetSpecV1beta1,
  machineSetStatus,
  machineSetStatusV1beta1,
  machineSetV1beta1,
} from './machine-set-and-deployment.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from './types.ts';

const crdLabels = contractLabels('cluster-api');
const scale: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

const clusterColumn = textColumn('Cluster', '.spec.clusterName');
const phaseColumn = textColumn('Phase', '.status.phase');
const pausedColumn = conditionColumn('Paused', 'Paused', wide);
const machineVersionColumn = textColumn('Version', '.spec.version');
const templateVersionColumn = textColumn('Version', '.spec.template.spec.version');

const clusterColumnsV1beta1 = [
  textColumn('ClusterClass', '.spec.topology.class'),
  phaseColumn,
  ageColumn,
  textColumn('Version', '.spec.topology.version'),
];

export const clusterKind: Kind<Cluster> = defineKind<Cluster>({
  group: clusterGroup,
  kind: 'Cluster',
  plural: 'clusters',
  shortNames: ['cl'],
  description: 'A Kubernetes cluster: its control plane, its infrastructure and, through a class, its workers.',
  labels: crdLabels,
  strategy: clusterStrategy,
  hub: {
    name: 'v1beta2',
    spec: clusterSpec,
    status: clusterStatus,
    specRequired: true,
    columns: [
      textColumn('ClusterClass', '.spec.topology.classRef.name'),
      conditionColumn('Available', 'Available'),
      ...['controlPlane', 'workers'].flatMap((part) => {
        const short = part === 'workers' ? 'W' : 'CP';
        return [
          countColumn(`${short} Desired`, `.status.${part}.desiredReplicas`),
          countColumn(`${short} Current`, `.status.${part}.replicas`, wide),
          countColumn(`${short} Ready`, `.status.${part}.readyReplicas`, wide),
          countColumn(`${short} Available`, `.status.${part}.availableReplicas`),
          countColumn(`${short} Up-to-date`, `.status.${part}.upToDateReplicas`),
        ];
      }),
      pausedColumn,
      phaseColumn,
      ageColumn,
      textColumn('Version', '.spec.topology.version'),
    ],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: clusterSpecV1beta1,
      status: clusterStatusV1beta1,
      mapping: clusterV1beta1,
      columns: clusterColumnsV1beta1,
    },
    ...clusterAlphas.map((version) => ({ ...version, columns: [phaseColumn, ageColumn] })),
  ],
});

const machineColumnsV1beta1 = [
  clusterColumn,
  textColumn('NodeName', '.status.nodeRef.name'),
  textColumn('ProviderID', '.spec.providerID'),
  phaseColumn,
  ageColumn,
  machineVersionColumn,
];

export const machineKind: Kind<Machine> = defineKind<Machine>({
  group: clusterGroup,
  kind: 'Machine',
  plural: 'machines',
  shortNames: ['ma'],
  description: 'A machine that is, or is to become, a Node of a cluster.',
  labels: crdLabels,
  strategy: machineStrategy,
  hub: {
    name: 'v1beta2',
    spec: machineSpec,
    status: machineStatus,
    specRequired: true,
    columns: [
      clusterColumn,
      textColumn('Node Name', '.status.nodeRef.name'),
      textColumn('Provider ID', '.spec.providerID', wide),
      textColumn('Failure domain', '.status.failureDomain'),
      conditionColumn('Ready', 'Ready'),
      conditionColumn('Available', 'Available'),
      conditionColumn('Up-to-date', 'UpToDate'),
      textColumn('Internal-IP', '.status.addresses[?(@.type=="InternalIP")].address', wide),
      textColumn('External-IP', '.status.addresses[?(@.type=="ExternalIP")].address', wide),
      textColumn('OS-Image', '.status.nodeInfo.osImage', wide),
      pausedColumn,
      phaseColumn,
      ageColumn,
      machineVersionColumn,
    ],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: machineSpecV1beta1,
      status: machineStatusV1beta1,
      mapping: machineV1beta1,
      columns: machineColumnsV1beta1,
    },
    ...machineAlphas.map((version) => ({ ...version, columns: machineColumnsV1beta1 })),
  ],
});

const replicaColumns = [
  countColumn('Desired', '.spec.replicas'),
  countColumn('Current', '.status.replicas'),
  countColumn('Ready', '.status.readyReplicas'),
  countColumn('Available', '.status.availableReplicas'),
  countColumn('Up-to-date', '.status.upToDateReplicas'),
  pausedColumn,
];

const machineSetColumnsV1beta1 = [
  clusterColumn,
  countColumn('Desired', '.spec.replicas', wide),
  countColumn('Replicas', '.status.replicas'),
  countColumn('Ready', '.status.readyReplicas'),
  countColumn('Available', '.status.availableReplicas'),
  ageColumn,
  templateVersionColumn,
];

export const machineSetKind: Kind<MachineSet> = defineKind<MachineSet>({
  group: clusterGroup,
  kind: 'MachineSet',
  plural: 'machinesets',
  shortNames: ['ms'],
  description: 'Keeps a number of like machines alive.',
  labels: crdLabels,
  strategy: machineSetStrategy,
  hub: {
    name: 'v1beta2',
    spec: machineSetSpec,
    status: machineSetStatus,
    specRequired: true,
    scale,
    columns: [clusterColumn, ...replicaColumns, ageColumn, templateVersionColumn],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: machineSetSpecV1beta1,
      status: machineSetStatusV1beta1,
      mapping: machineSetV1beta1,
      scale,
      columns: machineSetColumnsV1beta1,
    },
    ...machineSetAlphas.map((version) => ({ ...version, scale, columns: machineSetColumnsV1beta1 })),
  ],
});

const machineDeploymentColumnsV1beta1 = [
  clusterColumn,
  countColumn('Desired', '.spec.replicas', wide),
  countColumn('Replicas', '.status.replicas'),
  countColumn('Ready', '.status.readyReplicas'),
  countColumn('Updated', '.status.updatedReplicas'),
  countColumn('Unavailable', '.status.unavailableReplicas'),
  phaseColumn,
  ageColumn,
  templateVersionColumn,
];

export const machineDeploymentKind: Kind<MachineDeployment> = defineKind<MachineDeployment>({
  group: clusterGroup,
  kind: 'MachineDeployment',
  plural: 'machinedeployments',
  shortNames: ['md'],
  description: 'Rolls out changes of like machines through MachineSets.',
  labels: crdLabels,
  strategy: machineDeploymentStrategy,
  hub: {
    name: 'v1beta2',
    spec: machineDeploymentSpec,
    status: machineDeploymentStatus,
    specRequired: true,
    scale,
    columns: [
      clusterColumn,
      conditionColumn('Available', 'Available'),
      ...replicaColumns,
      phaseColumn,
      ageColumn,
      templateVersionColumn,
    ],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: machineDeploymentSpecV1beta1,
      status: machineDeploymentStatusV1beta1,
      mapping: machineDeploymentV1beta1,
      scale,
      columns: machineDeploymentColumnsV1beta1,
    },
    ...machineDeploymentAlphas.map((version) => ({ ...version, scale, columns: machineDeploymentColumnsV1beta1 })),
  ],
});
