import type { Volume, VolumeMount } from '../../api/index.ts';
import type { PlaneSpec } from '../spec.ts';
import { credentialFiles, placeOf, type SecretFile, trustFile } from './pods.ts';

// Paths of the files that components read; the same whether or not the components share a Pod.

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

/** Path of a file in the PKI directory. */
export const pki = (name: string): string => `${pkiDirectory}/${name}`;

/** Certificate and key files of the API server. */
export function apiServerFiles(desired: PlaneSpec): SecretFile[] {
  const pair = (stem: string) => ({ certificate: `${stem}.crt`, privateKey: `${stem}.key` });
  return [
    trustFile(desired, 'ca', 'ca.crt'),
    ...credentialFiles(desired, 'apiserver', pair('apiserver')),
    ...credentialFiles(desired, 'apiserver-kubelet-client', pair('apiserver-kubelet-client')),
    trustFile(desired, 'front-proxy-ca', 'front-proxy-ca.crt'),
    ...credentialFiles(desired, 'front-proxy-client', pair('front-proxy-client')),
    ...credentialFiles(desired, 'sa', { certificate: 'sa.pub', privateKey: 'sa.key' }),
    ...dataStoreFiles(desired),
  ];
}

function dataStoreFiles(desired: PlaneSpec): SecretFile[] {
  switch (desired.dataStore.kind) {
    case 'own-etcd':
      return [
        trustFile(desired, 'etcd-ca', 'etcd/ca.crt'),
        ...credentialFiles(desired, 'apiserver-etcd-client', {
          certificate: 'etcd/client.crt',
          privateKey: 'etcd/client.key',
        }),
      ];
    case 'shared-etcd': {
      const place = placeOf(desired, 'datastore-client');
      return [
        { secret: place.name, key: 'ca.crt', path: 'etcd/ca.crt' },
        ...credentialFiles(desired, 'datastore-client', {
          certificate: 'etcd/client.crt',
          privateKey: 'etcd/client.key',
        }),
      ];
    }
    default:
      return [];
  }
}

/** Files of the controller manager, the only component with the CA key, which it needs to sign certificates. */
export function controllerManagerFiles(desired: PlaneSpec): SecretFile[] {
  return [
    trustFile(desired, 'ca', 'ca.crt'),
    // signing needs exactly one certificate, verification all trusted ones
    ...credentialFiles(desired, 'ca', { certificate: 'signer.crt', privateKey: 'ca.key' }),
    ...credentialFiles(desired, 'sa', { privateKey: 'sa.key' }),
    trustFile(desired, 'front-proxy-ca', 'front-proxy-ca.crt'),
  ];
}

/** Volume with the kubeconfig of a component, in its own directory. */
export function kubeconfigVolume(
  desired: PlaneSpec,
  name: 'controller-manager-kubeconfig' | 'scheduler-kubeconfig' | 'konnectivity-kubeconfig',
): { volume: Volume; mount: VolumeMount; path: string; secret: string } {
  const place = placeOf(desired, name);
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
