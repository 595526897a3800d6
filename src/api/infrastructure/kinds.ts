import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { ageColumn, type PrinterColumn, textColumn } from '../kind/printer.ts';
import { openStackClusterStrategy, openStackMachineStrategy, openStackMachineTemplateStrategy } from './admission.ts';
import { openStackClusterAlphas, openStackMachineAlphas, openStackMachineTemplateAlphas } from './alpha.ts';
import {
  openStackClusterSpec,
  openStackClusterSpecV1beta1,
  openStackClusterStatus,
  openStackClusterStatusV1beta1,
} from './cluster-schema.ts';
import { infrastructureGroup } from './group.ts';
import {
  openStackMachineSpec,
  openStackMachineSpecV1beta1,
  openStackMachineStatus,
  openStackMachineStatusV1beta1,
  openStackMachineTemplateSpec,
  openStackMachineTemplateSpecV1beta1,
  openStackMachineTemplateStatus,
  openStackMachineTemplateStatusV1beta1,
} from './machine-schema.ts';
import type { OpenStackCluster, OpenStackMachine, OpenStackMachineTemplate } from './types.ts';
import { openStackClusterV1beta1, openStackMachineTemplateV1beta1, openStackMachineV1beta1 } from './v1beta1.ts';

const crdLabels = contractLabels('infrastructure-openstack');

const clusterColumn = textColumn('Cluster', '.metadata.labels.cluster\\.x-k8s\\.io/cluster-name');
const readyColumn = textColumn('Ready', '.status.ready');
const clusterColumns: readonly PrinterColumn[] = [
  textColumn('Network', '.status.network.id'),
  { ...textColumn('Endpoint', '.spec.controlPlaneEndpoint.host'), priority: 1 },
  textColumn('Bastion IP', '.status.bastion.floatingIP'),
  ageColumn,
];
const machineColumns: readonly PrinterColumn[] = [
  textColumn('ProviderID', '.spec.providerID'),
  textColumn('Machine', '.metadata.ownerReferences[?(@.kind=="Machine")].name'),
  ageColumn,
];

export const openStackClusterKind: Kind<OpenStackCluster> = defineKind<OpenStackCluster>({
  group: infrastructureGroup,
  kind: 'OpenStackCluster',
  plural: 'openstackclusters',
  shortNames: ['osc'],
  description: 'The part of a cluster that is not a machine: network, router, load balancer, security groups, bastion.',
  labels: crdLabels,
  strategy: openStackClusterStrategy,
  hub: {
    name: 'v1beta2',
    spec: openStackClusterSpec,
    status: openStackClusterStatus,
    columns: [clusterColumn, ...clusterColumns],
  },
  old: [
    {
      name: 'v1beta1',
      spec: openStackClusterSpecV1beta1,
      status: openStackClusterStatusV1beta1,
      mapping: openStackClusterV1beta1,
      columns: [clusterColumn, readyColumn, ...clusterColumns],
    },
    ...openStackClusterAlphas.map((version) => ({
      ...version,
      columns: [clusterColumn, readyColumn, ...clusterColumns],
    })),
  ],
});

export const openStackMachineKind: Kind<OpenStackMachine> = defineKind<OpenStackMachine>({
  group: infrastructureGroup,
  kind: 'OpenStackMachine',
  plural: 'openstackmachines',
  shortNames: ['osm'],
  description: 'A server in OpenStack that is a machine of a cluster.',
  labels: crdLabels,
  strategy: openStackMachineStrategy,
  hub: {
    name: 'v1beta2',
    spec: openStackMachineSpec,
    status: openStackMachineStatus,
    columns: [clusterColumn, ...machineColumns],
  },
  old: [
    {
      name: 'v1beta1',
      spec: openStackMachineSpecV1beta1,
      status: openStackMachineStatusV1beta1,
      mapping: openStackMachineV1beta1,
      columns: [clusterColumn, readyColumn, ...machineColumns],
    },
    ...openStackMachineAlphas.map((version) => ({
      ...version,
      columns: [clusterColumn, readyColumn, ...machineColumns],
    })),
  ],
});

export const openStackMachineTemplateKind: Kind<OpenStackMachineTemplate> = defineKind<OpenStackMachineTemplate>({
  group: infrastructureGroup,
  kind: 'OpenStackMachineTemplate',
  plural: 'openstackmachinetemplates',
  shortNames: ['osmt'],
  description: 'What servers in OpenStack are made from.',
  labels: crdLabels,
  strategy: openStackMachineTemplateStrategy,
  hub: {
    name: 'v1beta2',
    spec: openStackMachineTemplateSpec,
    status: openStackMachineTemplateStatus,
  },
  old: [
    {
      name: 'v1beta1',
      spec: openStackMachineTemplateSpecV1beta1,
      status: openStackMachineTemplateStatusV1beta1,
      mapping: openStackMachineTemplateV1beta1,
    },
    ...openStackMachineTemplateAlphas,
  ],
});
