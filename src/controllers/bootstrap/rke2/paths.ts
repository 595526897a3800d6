export const filePaths = {
  config: '/etc/rancher/rke2/config.yaml',
  registries: '/etc/rancher/rke2/registries.yaml',
  registryCertificates: '/etc/rancher/rke2/tls',
  auditPolicy: '/etc/rancher/rke2/audit-policy.yaml',
  cloudConfig: '/etc/rancher/rke2/cloud-provider-config',
  credentialProviders: '/etc/rancher/rke2/credential-config.yaml',
  resolvConf: '/etc/rancher/rke2/resolv.conf',
  s3Authority: '/etc/rancher/rke2/etcd-s3-ca.crt',
  datastoreAuthority: '/etc/rancher/rke2/datastore-ca.crt',
  datastoreCertificate: '/etc/rancher/rke2/datastore-cert.crt',
  datastoreKey: '/etc/rancher/rke2/datastore-key.crt',
  cisScript: '/opt/rke2-cis-script.sh',
  ignitionScript: '/etc/rke2-install.sh',
  artifacts: '/opt/rke2-artifacts',
  airGappedInstaller: '/opt/install.sh',
} as const;

/** relative to the data directory of rke2 */
export const dataPaths = {
  manifests: 'server/manifests',
  encryption: 'server/cred/encryption-config.json',
} as const;
