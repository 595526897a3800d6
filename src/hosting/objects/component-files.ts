import type { Volume, VolumeMount } from '../../api/index.ts';
import type { PlaneWish } from '../wish.ts';
import { credentialFiles, placeOf, type SecretFile, trustFile } from './pods.ts';

// Where the programs of a plane find what they are given. One layout of directories, whether they share a Pod or not.

export const pkiDirectory = '/etc/kubernetes/pki';
export const kubeconfigDirectory = '/etc/kubernetes/kubeconfig';
export const konnectivityDirectory = '/etc/kubernetes/konnectivity';
export const egressFile = 'egress-selector-configuration.yaml';
export const auditDirectory = '/etc/kubernetes/audit';
export const auditWebhookDirectory = '/etc/kubernetes/audit-webhook';
export const authenticationDirectory = '/etc/kubernetes/authentication';
export const encryptionDirectory = '/etc/kubernetes/encryption';
export const encryptionFile = 'encryption.yaml';
export const socketDirectory = '/run/konnectivity';

/** A file by its name in the PKI directory. */
export const pki = (name: string): string => `${pkiDirectory}/${name}`;

/** What the API server needs to know, show and check. */
export function apiServerFiles(wish: PlaneWish): SecretFile[] {
  const pair = (stem: string) => ({ certificate: `${stem}.crt`, privateKey: `${stem}.key` });
  return [
    trustFile(wish, 'ca', 'ca.crt'),
    ...credentialFiles(wish, 'apiserver', pair('apiserver')),
    ...credentialFiles(wish, 'apiserver-kubelet-client', pair('apiserver-kubelet-client')),
    trustFile(wish, 'front-proxy-ca', 'front-proxy-ca.crt'),
    ...credentialFiles(wish, 'front-proxy-client', pair('front-proxy-client')),
    ...credentialFiles(wish, 'sa', { certificate: 'sa.pub', privateKey: 'sa.key' }),
    ...dataStoreFiles(wish),
  ];
}

function dataStoreFiles(wish: PlaneWish): SecretFile[] {
  switch (wish.dataStore.kind) {
    case 'own-etcd':
      return [
        trustFile(wish, 'etcd-ca', 'etcd/ca.crt'),
        ...credentialFiles(wish, 'apiserver-etcd-client', {
          certificate: 'etcd/client.crt',
          privateKey: 'etcd/client.key',
        }),
      ];
    case 'shared-etcd': {
      const place = placeOf(wish, 'datastore-client');
      return [
        { secret: place.name, key: 'ca.crt', path: 'etcd/ca.crt' },
        ...credentialFiles(wish, 'datastore-client', { certificate: 'etcd/client.crt', privateKey: 'etcd/client.key' }),
      ];
    }
    default:
      return [];
  }
}

/** The controller manager signs: it is the only one that holds the authority's key. */
export function controllerManagerFiles(wish: PlaneWish): SecretFile[] {
  return [
    trustFile(wish, 'ca', 'ca.crt'),
    // a program that signs wants to find one certificate, a program that checks all that are trusted
    ...credentialFiles(wish, 'ca', { certificate: 'signer.crt', privateKey: 'ca.key' }),
    ...credentialFiles(wish, 'sa', { privateKey: 'sa.key' }),
    trustFile(wish, 'front-proxy-ca', 'front-proxy-ca.crt'),
  ];
}

/** The kubeconfig of a component, in a directory of its own. */
export function kubeconfigVolume(
  wish: PlaneWish,
  name: 'controller-manager-kubeconfig' | 'scheduler-kubeconfig' | 'konnectivity-kubeconfig',
): { volume: Volume; mount: VolumeMount; path: string; secret: string } {
  const place = placeOf(wish, name);
  const component = name.replace(/-kubeconfig$/, '');
  const directory = `${kubeconfigDirectory}/${component}`;
  return {
    volume: {
      name,
      secret: { secretName: place.name, items: [{ key: place.kubeconfig?.[0] ?? 'value', path: `${component}.conf` }] },
    },
    mount: { name, mountPath: directory, readOnly: true },
    path: `${directory}/${component}.conf`,
    secret: place.name,
  };
}
