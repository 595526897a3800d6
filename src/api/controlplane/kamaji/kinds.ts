import { contractLabels } from '../../kind/contract-labels.ts';
import { defineKind, type Kind } from '../../kind/define.ts';
import { asIs } from '../../kind/mapping.ts';
import { ageColumn, booleanColumn, type PrinterColumn, textColumn } from '../../kind/printer.ts';
import { controlPlaneGroup, planeScale } from '../group.ts';
import { kamajiControlPlaneStrategy, kamajiControlPlaneTemplateStrategy } from './admission.ts';
import { kamajiControlPlaneSpec, kamajiControlPlaneStatus, kamajiControlPlaneTemplateSpec } from './schema.ts';
import type { KamajiControlPlane, KamajiControlPlaneTemplate } from './types.ts';
import {
  kamajiControlPlaneSpecV1alpha1,
  kamajiControlPlaneStatusV1alpha1,
  kamajiControlPlaneTemplateSpecV1alpha1,
  kamajiControlPlaneV1alpha1,
} from './v1alpha1.ts';

const labels = contractLabels('kamaji', 'v1alpha1', 'v1alpha2');
const categories = ['cluster-api', 'kamaji'];
const columns = (initialized: string): PrinterColumn[] => [
  textColumn('Version', '.spec.version'),
  booleanColumn('Initialized', initialized),
  booleanColumn('Ready', '.status.ready'),
  ageColumn,
];

export const kamajiControlPlaneKind: Kind<KamajiControlPlane> = defineKind<KamajiControlPlane>({
  group: controlPlaneGroup,
  kind: 'KamajiControlPlane',
  plural: 'kamajicontrolplanes',
  shortNames: ['ktcp'],
  categories,
  description: 'A control plane of Kamaji in pods of the management cluster.',
  labels,
  strategy: kamajiControlPlaneStrategy,
  hub: {
    name: 'v1alpha2',
    spec: kamajiControlPlaneSpec,
    status: kamajiControlPlaneStatus,
    scale: planeScale,
    columns: columns('.status.initialization.controlPlaneInitialized'),
  },
  old: [
    {
      name: 'v1alpha1',
      deprecated: true,
      spec: kamajiControlPlaneSpecV1alpha1,
      status: kamajiControlPlaneStatusV1alpha1,
      mapping: kamajiControlPlaneV1alpha1,
      scale: planeScale,
      columns: columns('.status.initialized'),
    },
  ],
});

export const kamajiControlPlaneTemplateKind: Kind<KamajiControlPlaneTemplate> = defineKind<KamajiControlPlaneTemplate>({
  group: controlPlaneGroup,
  kind: 'KamajiControlPlaneTemplate',
  plural: 'kamajicontrolplanetemplates',
  shortNames: ['ktcpt'],
  categories,
  description: 'What the control planes of a class are made from.',
  labels,
  strategy: kamajiControlPlaneTemplateStrategy,
  hub: { name: 'v1alpha2', spec: kamajiControlPlaneTemplateSpec, hasStatus: false },
  old: [
    {
      name: 'v1alpha1',
      deprecated: true,
      spec: kamajiControlPlaneTemplateSpecV1alpha1,
      hasStatus: false,
      mapping: asIs,
    },
  ],
});
