import type { K0smotronCertificateType } from '../../../api/index.ts';
import type { CredentialName } from '../../../hosting/index.ts';

export const controlPlaneFinalizer = 'k0smotron.controlplane.cluster.x-k8s.io';
export const planeFinalizer = 'k0smotron.io/finalizer';
export const joinTokenFinalizer = 'jointokenrequests.k0smotron.io/finalizer';

/** on Clusters: which k0s they are, once that is known */
export const clusterIdAnnotation = 'k0sproject.io/cluster-id';

/** Under which name the engine knows what users name. */
export const credentialNames: Readonly<Record<K0smotronCertificateType, CredentialName>> = {
  ca: 'ca',
  sa: 'sa',
  proxy: 'front-proxy-ca',
  etcd: 'etcd-ca',
  'apiserver-etcd-client': 'apiserver-etcd-client',
  'etcd-peer': 'etcd-peer',
  'etcd-server': 'etcd-server',
};

/** Under this name the objects of planes are written, as upstream does. */
export const planeFieldManager = 'k0smotron-operator';
