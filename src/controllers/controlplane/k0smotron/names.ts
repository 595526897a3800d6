import type { K0smotronCertificateType } from '../../../api/index.ts';
import type { CredentialName } from '../../../hosting/index.ts';

export const controlPlaneFinalizer = 'k0smotron.controlplane.cluster.x-k8s.io';
export const planeFinalizer = 'k0smotron.io/finalizer';
export const joinTokenFinalizer = 'jointokenrequests.k0smotron.io/finalizer';

/** annotation of Clusters with the k0s cluster id, once known */
export const clusterIdAnnotation = 'k0sproject.io/cluster-id';

/** annotation of planes that k0smotron's own program created for a control plane: what it copied the spec from */
export const copiedSpecAnnotation = 'k0smotron.io/cluster-spec-hash';

/** Maps credential names of the API to those of the engine. */
export const credentialNames: Readonly<Record<K0smotronCertificateType, CredentialName>> = {
  ca: 'ca',
  sa: 'sa',
  proxy: 'front-proxy-ca',
  etcd: 'etcd-ca',
  'apiserver-etcd-client': 'apiserver-etcd-client',
  'etcd-peer': 'etcd-peer',
  'etcd-server': 'etcd-server',
};

/** Field manager of plane objects, the same as upstream's. */
export const planeFieldManager = 'k0smotron-operator';
