import { contractLabels } from '../../kind/contract-labels.ts';
import { defineKind, type Kind } from '../../kind/define.ts';
import { ageColumn, textColumn } from '../../kind/printer.ts';
import { controlPlaneGroup, planeScale } from '../group.ts';
import { planeColumns, planeColumnsV1beta1 } from '../kinds.ts';
import { rke2ControlPlaneStrategy, rke2ControlPlaneTemplateStrategy } from './admission.ts';
import {
  rke2ControlPlaneSpec,
  rke2ControlPlaneSpecV1beta1,
  rke2ControlPlaneStatus,
  rke2ControlPlaneStatusV1beta1,
  rke2ControlPlaneTemplateSpec,
  rke2ControlPlaneTemplateSpecV1beta1,
} from './schema.ts';
import type { RKE2ControlPlane, RKE2ControlPlaneTemplate } from './types.ts';
import { rke2ControlPlaneTemplateV1beta1, rke2ControlPlaneV1beta1 } from './v1beta1.ts';

const labels = contractLabels('control-plane-rke2');

export const rke2ControlPlaneKind: Kind<RKE2ControlPlane> = defineKind<RKE2ControlPlane>({
  group: controlPlaneGroup,
  kind: 'RKE2ControlPlane',
  plural: 'rke2controlplanes',
  description: 'A control plane on its own machines, created with RKE2.',
  labels,
  strategy: rke2ControlPlaneStrategy,
  hub: {
    name: 'v1beta2',
    spec: rke2ControlPlaneSpec,
    status: rke2ControlPlaneStatus,
    specRequired: true,
    scale: planeScale,
    columns: planeColumns,
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: rke2ControlPlaneSpecV1beta1,
      status: rke2ControlPlaneStatusV1beta1,
      mapping: rke2ControlPlaneV1beta1,
      scale: planeScale,
      columns: planeColumnsV1beta1,
    },
  ],
});

export const rke2ControlPlaneTemplateKind: Kind<RKE2ControlPlaneTemplate> = defineKind<RKE2ControlPlaneTemplate>({
  group: controlPlaneGroup,
  kind: 'RKE2ControlPlaneTemplate',
  plural: 'rke2controlplanetemplates',
  shortNames: ['rke2ct'],
  description: 'What the control planes of a class are made from.',
  labels,
  strategy: rke2ControlPlaneTemplateStrategy,
  hub: {
    name: 'v1beta2',
    spec: rke2ControlPlaneTemplateSpec,
    hasStatus: false,
    columns: [textColumn('ClusterClass', '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name'), ageColumn],
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: rke2ControlPlaneTemplateSpecV1beta1,
      hasStatus: false,
      mapping: rke2ControlPlaneTemplateV1beta1,
      columns: [ageColumn],
    },
  ],
});
