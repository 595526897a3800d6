import { defineKind, type Kind } from '../kind/define.ts';
import { ageColumn, booleanColumn, textColumn } from '../kind/printer.ts';
import { dataStoreStrategy, tenantControlPlaneStrategy } from './admission.ts';
import {
  dataStoreSpec,
  dataStoreStatus,
  kubeconfigGeneratorSpec,
  kubeconfigGeneratorStatus,
} from './datastore-schema.ts';
import { tenantControlPlaneSpec } from './tenant-schema.ts';
import { tenantControlPlaneStatus } from './tenant-status-schema.ts';
import type { DataStore, KubeconfigGenerator, TenantControlPlane } from './types.ts';

export const kamajiGroup = 'kamaji.clastix.io';

/** clusterctl moves objects that belong to a Cluster and finds their kinds by this label. */
const labels = { 'clusterctl.cluster.x-k8s.io': '' };

export const tenantControlPlaneKind: Kind<TenantControlPlane> = defineKind<TenantControlPlane>({
  group: kamajiGroup,
  kind: 'TenantControlPlane',
  plural: 'tenantcontrolplanes',
  shortNames: ['tcp'],
  categories: ['kamaji'],
  description: 'A control plane of Kubernetes in pods, with its data in a DataStore.',
  labels,
  strategy: tenantControlPlaneStrategy,
  hub: {
    name: 'v1alpha1',
    spec: tenantControlPlaneSpec,
    status: tenantControlPlaneStatus,
    scale: {
      specReplicasPath: '.spec.controlPlane.deployment.replicas',
      statusReplicasPath: '.status.kubernetesResources.deployment.replicas',
      labelSelectorPath: '.status.kubernetesResources.deployment.selector',
    },
    columns: [
      textColumn('Version', '.spec.kubernetes.version'),
      textColumn('Installed Version', '.status.kubernetesResources.version.version'),
      textColumn('Status', '.status.kubernetesResources.version.status'),
      textColumn('Control-Plane endpoint', '.status.controlPlaneEndpoint'),
      textColumn('Kubeconfig', '.status.kubeconfig.admin.secretName'),
      textColumn('Datastore', '.status.storage.dataStoreName'),
      ageColumn,
    ],
  },
});

export const dataStoreKind: Kind<DataStore> = defineKind<DataStore>({
  group: kamajiGroup,
  kind: 'DataStore',
  plural: 'datastores',
  categories: [],
  namespaced: false,
  description: 'Where control planes of Kamaji keep their data.',
  labels,
  strategy: dataStoreStrategy,
  hub: {
    name: 'v1alpha1',
    spec: dataStoreSpec,
    status: dataStoreStatus,
    columns: [textColumn('Driver', '.spec.driver'), booleanColumn('Ready', '.status.ready'), ageColumn],
  },
});

export const kubeconfigGeneratorKind: Kind<KubeconfigGenerator> = defineKind<KubeconfigGenerator>({
  group: kamajiGroup,
  kind: 'KubeconfigGenerator',
  plural: 'kubeconfiggenerators',
  shortNames: ['kc'],
  categories: ['kamaji'],
  namespaced: false,
  description: 'Makes kubeconfigs of a user for the control planes of Kamaji that it selects.',
  labels,
  hub: {
    name: 'v1alpha1',
    spec: kubeconfigGeneratorSpec,
    status: kubeconfigGeneratorStatus,
    columns: [ageColumn],
  },
});
