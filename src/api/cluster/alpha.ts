import type { Schema } from '../../machinery/index.ts';
import type { OldVersionSource } from '../kind/define.ts';
import { lenient } from '../kind/lenient.ts';
import { chain, field, fields } from '../kind/mapping.ts';
import { once } from '../kind/schema.ts';
import { flag } from '../kind/values.ts';
import { clusterSpecV1beta1, clusterStatusV1beta1, clusterV1beta1 } from './cluster-v1beta1.ts';
import { machineV1beta1 } from './machine-mapping.ts';
import { machineSpecV1beta1, machineStatusV1beta1 } from './machine-schema.ts';
import {
  machineDeploymentSpecV1beta1,
  machineDeploymentStatusV1beta1,
  machineDeploymentV1beta1,
  machineSetSpecV1beta1,
  machineSetStatusV1beta1,
  machineSetV1beta1,
} from './machine-set-and-deployment.ts';

// The alpha versions have the shapes of v1beta1 with fewer fields, so they are defined by their differences. Fields
// without a successor are kept in the conversion-data annotation.

type AlphaSource = Pick<OldVersionSource, 'name' | 'deprecated' | 'spec' | 'status' | 'mapping'>;

const machineSpecNews = ['readinessGates', 'taints', 'nodeVolumeDetachTimeout', 'nodeDeletionTimeout'];
const under = (prefix: string, names: readonly string[]): string[] => names.map((name) => `${prefix}.${name}`);
const text: Schema = { type: 'string' };
const inlineUserData: Schema = { type: 'string', description: 'User data, inline; use a Secret instead.' };
const oldTemplateMetadata = {
  name: text,
  generateName: text,
  namespace: text,
  ownerReferences: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
} satisfies Record<string, Schema>;

const controlPlaneTopologyNews = [
  'rollout',
  'machineHealthCheck',
  'readinessGates',
  'taints',
  'variables',
  'nodeDrainTimeout',
  'nodeVolumeDetachTimeout',
  'nodeDeletionTimeout',
];
const clusterNews = [
  'availabilityGates',
  'topology.classNamespace',
  'topology.variables',
  'topology.workers.machinePools',
  ...under('topology.controlPlane', controlPlaneTopologyNews),
  ...under('topology.workers.machineDeployments', [
    ...controlPlaneTopologyNews,
    'failureDomain',
    'minReadySeconds',
    'strategy',
  ]),
];

export const clusterAlphas: readonly AlphaSource[] = [
  {
    name: 'v1alpha4',
    deprecated: true,
    spec: once(() => lenient(clusterSpecV1beta1(), { without: clusterNews })),
    status: once(() => lenient(clusterStatusV1beta1(), { without: ['v1beta2'] })),
    mapping: clusterV1beta1,
  },
  {
    name: 'v1alpha3',
    deprecated: true,
    spec: once(() => lenient(clusterSpecV1beta1(), { without: ['availabilityGates', 'topology'] })),
    status: once(() =>
      lenient(clusterStatusV1beta1(), {
        without: ['v1beta2'],
        adding: {
          controlPlaneInitialized: { type: 'boolean', description: 'True once the control plane has answered.' },
        },
      }),
    ),
    // v1alpha3 has separate fields for initialized and ready; later versions have one field for both.
    mapping: chain(
      fields(
        field(
          'status',
          'status',
          fields(
            field('controlPlaneReady', 'controlPlaneReady', flag),
            field('controlPlaneInitialized', 'controlPlaneReady', flag),
          ),
        ),
      ),
      clusterV1beta1,
    ),
  },
];

export const machineAlphas: readonly AlphaSource[] = [
  {
    name: 'v1alpha4',
    deprecated: true,
    spec: once(() => lenient(machineSpecV1beta1(), { without: machineSpecNews })),
    status: once(() =>
      lenient(machineStatusV1beta1(), {
        without: ['v1beta2', 'deletion', 'certificatesExpiryDate'],
        adding: { version: text },
      }),
    ),
    mapping: machineV1beta1,
  },
  {
    name: 'v1alpha3',
    deprecated: true,
    spec: once(() =>
      lenient(machineSpecV1beta1(), { without: machineSpecNews, adding: { 'bootstrap.data': inlineUserData } }),
    ),
    status: once(() =>
      lenient(machineStatusV1beta1(), {
        without: ['v1beta2', 'deletion', 'certificatesExpiryDate', 'nodeInfo'],
        adding: { version: text },
      }),
    ),
    mapping: machineV1beta1,
  },
];

const v1alpha3Template: Record<string, Schema> = {
  'template.spec.bootstrap.data': inlineUserData,
  'template.metadata.name': oldTemplateMetadata.name,
  'template.metadata.generateName': oldTemplateMetadata.generateName,
  'template.metadata.namespace': oldTemplateMetadata.namespace,
  'template.metadata.ownerReferences': oldTemplateMetadata.ownerReferences,
};

export const machineSetAlphas: readonly AlphaSource[] = ['v1alpha4', 'v1alpha3'].map((name) => ({
  name,
  deprecated: true,
  spec: once(() =>
    lenient(machineSetSpecV1beta1(), {
      without: ['machineNamingStrategy', ...under('template.spec', machineSpecNews)],
      adding: name === 'v1alpha3' ? v1alpha3Template : {},
    }),
  ),
  status: once(() => lenient(machineSetStatusV1beta1(), { without: ['v1beta2', 'versions'] })),
  mapping: machineSetV1beta1,
}));

const machineDeploymentNews = [
  'machineNamingStrategy',
  'rolloutAfter',
  'strategy.remediation',
  ...under('template.spec', machineSpecNews),
];

export const machineDeploymentAlphas: readonly AlphaSource[] = [
  {
    name: 'v1alpha4',
    deprecated: true,
    spec: once(() => lenient(machineDeploymentSpecV1beta1(), { without: machineDeploymentNews })),
    status: once(() => lenient(machineDeploymentStatusV1beta1(), { without: ['v1beta2', 'versions'] })),
    mapping: machineDeploymentV1beta1,
  },
  {
    name: 'v1alpha3',
    deprecated: true,
    spec: once(() =>
      lenient(machineDeploymentSpecV1beta1(), {
        without: [...machineDeploymentNews, 'strategy.rollingUpdate.deletePolicy'],
        adding: v1alpha3Template,
      }),
    ),
    status: once(() => lenient(machineDeploymentStatusV1beta1(), { without: ['v1beta2', 'versions', 'conditions'] })),
    mapping: machineDeploymentV1beta1,
  },
];
