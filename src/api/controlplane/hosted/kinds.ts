import { contractLabels } from '../../kind/contract-labels.ts';
import { defineKind, type Kind } from '../../kind/define.ts';
import { ageColumn, booleanColumn, conditionColumn, countColumn, textColumn } from '../../kind/printer.ts';
import { controlPlaneGroup, planeScale } from '../group.ts';
import { hostedControlPlaneStrategy, hostedControlPlaneTemplateStrategy } from './admission.ts';
import { hostedControlPlaneSpec, hostedControlPlaneStatus, hostedControlPlaneTemplateSpec } from './schema.ts';
import type { HostedControlPlane, HostedControlPlaneTemplate } from './types.ts';

const labels = contractLabels('control-plane-hosted-control-plane', 'v1alpha1', 'v1alpha1');

export const hostedControlPlaneKind: Kind<HostedControlPlane> = defineKind<HostedControlPlane>({
  group: controlPlaneGroup,
  kind: 'HostedControlPlane',
  plural: 'hostedcontrolplanes',
  shortNames: ['hcp'],
  description: 'A control plane in pods of the management cluster, reached through a Gateway.',
  labels,
  strategy: hostedControlPlaneStrategy,
  hub: {
    name: 'v1alpha1',
    spec: hostedControlPlaneSpec,
    status: hostedControlPlaneStatus,
    specRequired: true,
    scale: planeScale,
    columns: [
      booleanColumn('Initialized', '.status.initialization.controlPlaneInitialized'),
      conditionColumn('API Server Available', 'Ready'),
      countColumn('Replicas', '.status.replicas'),
      countColumn('Ready', '.status.readyReplicas'),
      countColumn('Updated', '.status.upToDateReplicas'),
      textColumn('ETCD Size', '.status.etcdVolumeSize'),
      textColumn('Max ETCD Space Usage', '.status.etcdVolumeUsage'),
      conditionColumn('Paused', 'Paused'),
      textColumn('Version', '.status.version'),
      ageColumn,
    ],
  },
});

export const hostedControlPlaneTemplateKind: Kind<HostedControlPlaneTemplate> = defineKind<HostedControlPlaneTemplate>({
  group: controlPlaneGroup,
  kind: 'HostedControlPlaneTemplate',
  plural: 'hostedcontrolplanetemplates',
  shortNames: ['hcpt'],
  description: 'What the control planes of a class are made from.',
  labels,
  strategy: hostedControlPlaneTemplateStrategy,
  hub: {
    name: 'v1alpha1',
    spec: hostedControlPlaneTemplateSpec,
    hasStatus: false,
    specRequired: true,
    columns: [ageColumn],
  },
});
