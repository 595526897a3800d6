import type { KeyAlgorithm } from '../../pki/index.ts';
import { internalServer, planeEndpoint, serverUrl } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { AuthorityName, CredentialName, SecretPlace } from '../naming/types.ts';
import type { EtcdClusterSpec, ExternalAuthority, Labels, PlaneSpec } from '../spec.ts';
import { apiServerHosts, etcdHosts, ingressProxyHosts } from './hosts.ts';
import type {
  CertificatePlan,
  PlannedAuthority,
  PlannedCertificate,
  PlannedCredential,
  PlannedKubeconfig,
} from './types.ts';

/** Fast to generate, and accepted by every supported Kubernetes version. */
const defaultAlgorithm: KeyAlgorithm = 'ECDSA-P256';

const masters = 'system:masters';

/**
 * Plans all credentials of a plane, signers first. Credentials with the API's address are included once it is known.
 */
export function certificatePlan(desired: PlaneSpec, facts: PlaneFacts): CertificatePlan {
  const endpointKnown = planeEndpoint(desired, facts).known;
  return [
    authority(desired, 'ca', 'kubernetes'),
    authority(desired, 'front-proxy-ca', desired.layout === 'k0s' ? 'kubernetes' : 'front-proxy-ca'),
    ...serviceAccountKey(desired),
    ...etcdCertificatePlan(desired),
    // without the endpoint, the certificate would have to be reissued and the Pods rolled
    endpointKnown ? apiServer(desired, facts) : undefined,
    ...(desired.layout === 'k0s' ? [] : componentCertificates(desired)),
    ...dataStoreCertificates(desired),
    ...(desired.layout === 'k0s' && desired.exposure.ingress ? [ingressProxy(desired)] : []),
    ...(endpointKnown ? kubeconfigs(desired, facts) : []),
  ].filter((planned) => planned !== undefined);
}

/** Plans the credentials of etcd and its clients. */
export function etcdCertificatePlan(desired: EtcdClusterSpec): PlannedCredential[] {
  if (desired.dataStore.kind !== 'own-etcd') return [];
  const hosts = etcdHosts(desired);
  const isK0s = desired.naming.provider === 'k0smotron';
  const leaf = (
    name: CredentialName,
    usages: ('server' | 'client')[],
    subject: string,
  ): PlannedCertificate | undefined =>
    certificate(desired, name, {
      signer: 'etcd-ca',
      commonName: subject,
      organizations: isK0s ? [subject] : [],
      hosts: usages.includes('server') || isK0s ? hosts : [],
      usages,
    });
  return [
    authority(desired, 'etcd-ca', isK0s ? 'kubernetes' : 'etcd-ca'),
    leaf('etcd-server', ['server', 'client'], isK0s ? 'etcd-server' : desired.naming.etcd),
    leaf('etcd-peer', ['server', 'client'], isK0s ? 'etcd-peer' : desired.naming.etcd),
    leaf('apiserver-etcd-client', ['client'], isK0s ? 'apiserver-etcd-client' : 'kube-apiserver-etcd-client'),
    leaf('etcd-operator', ['client'], desired.dataStore.operatorName ?? 'etcd-controller-client'),
  ].filter((planned) => planned !== undefined);
}

/** Client credential that Capstan uses for etcd. */
export function etcdOperatorCredential(desired: EtcdClusterSpec): CredentialName {
  return desired.naming.secrets['etcd-operator'] ? 'etcd-operator' : 'apiserver-etcd-client';
}

/** k0s would issue one itself, but without the chain that workers need during a CA rotation. */
const apiServer = (desired: PlaneSpec, facts: PlaneFacts): PlannedCertificate | undefined =>
  certificate(desired, 'apiserver', {
    signer: 'ca',
    commonName: 'kube-apiserver',
    hosts: apiServerHosts(desired, facts),
    usages: ['server'],
  });

function componentCertificates(desired: PlaneSpec): (PlannedCredential | undefined)[] {
  const isHosted = desired.naming.provider === 'hosted';
  return [
    certificate(desired, 'apiserver-kubelet-client', {
      signer: 'ca',
      commonName: 'kube-apiserver-kubelet-client',
      organizations: [isHosted ? 'kubeadm:cluster-admins' : masters],
      usages: ['client'],
    }),
    certificate(desired, 'front-proxy-client', {
      signer: 'front-proxy-ca',
      commonName: 'front-proxy-client',
      usages: ['client'],
    }),
    desired.konnectivity === undefined
      ? undefined
      : certificate(desired, 'konnectivity-server', {
          signer: 'ca',
          commonName: 'system:konnectivity-server',
          usages: ['client', 'server'],
        }),
  ];
}

function dataStoreCertificates(desired: PlaneSpec): (PlannedCredential | undefined)[] {
  if (desired.dataStore.kind !== 'shared-etcd') return [];
  return [
    certificate(desired, 'datastore-client', {
      signer: desired.dataStore.authority,
      commonName: desired.dataStore.user,
      // etcd takes the user from the common name alone
      organizations: [masters],
      usages: ['client'],
      trustKeys: ['ca.crt'],
    }),
  ];
}

const ingressProxy = (desired: PlaneSpec): PlannedCertificate | undefined =>
  certificate(desired, 'ingress-proxy', {
    signer: 'ca',
    commonName: 'ingress-haproxy',
    organizations: ['kubernetes'],
    hosts: ingressProxyHosts(desired),
    usages: ['server'],
  });

interface KubeconfigUser {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

function kubeconfigs(desired: PlaneSpec, facts: PlaneFacts): (PlannedKubeconfig | undefined)[] {
  const answer = planeEndpoint(desired, facts);
  if (!answer.known) return [];
  const outside = serverUrl(answer.endpoint);
  const inside = internalServer(desired);
  // Components in the same Pod as an API server talk to that one. This needs no network, and during an upgrade no
  // component meets an older API server.
  const beside = `https://localhost:${desired.exposure.apiTargetPort ?? desired.exposure.apiPort}`;
  const isHosted = desired.naming.provider === 'hosted';
  const admins = { commonName: 'kubernetes-admin', organizations: [isHosted ? masters : 'kubeadm:cluster-admins'] };
  return [
    kubeconfig(desired, 'cluster-kubeconfig', { commonName: 'kubernetes-admin', organizations: [masters] }, outside),
    kubeconfig(desired, 'admin-kubeconfig', admins, outside),
    kubeconfig(
      desired,
      'super-admin-kubeconfig',
      { commonName: 'kubernetes-super-admin', organizations: [masters] },
      outside,
    ),
    kubeconfig(desired, 'controller-manager-kubeconfig', system('kube-controller-manager'), beside),
    kubeconfig(desired, 'scheduler-kubeconfig', system('kube-scheduler'), beside),
    desired.konnectivity === undefined
      ? undefined
      : kubeconfig(
          desired,
          'konnectivity-kubeconfig',
          isHosted ? { commonName: 'konnectivity-client', organizations: [masters] } : system('konnectivity-server'),
          beside,
        ),
    kubeconfig(
      desired,
      'operator-kubeconfig',
      { commonName: 'control-plane-controller', organizations: [masters] },
      inside,
    ),
  ];
}

const system = (name: string): KubeconfigUser => ({ commonName: `system:${name}`, organizations: [] });

function authority(desired: EtcdClusterSpec, name: AuthorityName, commonName: string): PlannedAuthority | undefined {
  const planned = placed(desired, name);
  const repeatedIn = desired.naming.bundles[name];
  return (
    planned && {
      kind: 'authority',
      ...planned,
      name,
      commonName,
      durationMs: desired.certificates.authorityDurationMs,
      renewBeforeMs: desired.certificates.authorityRenewBeforeMs,
      algorithm: desired.certificates.algorithm ?? defaultAlgorithm,
      ...(repeatedIn && { repeatedIn }),
    }
  );
}

function serviceAccountKey(desired: PlaneSpec): PlannedCredential[] {
  const planned = placed(desired, 'sa');
  const algorithm = desired.certificates.algorithm ?? defaultAlgorithm;
  return planned ? [{ kind: 'key', ...planned, name: 'sa', algorithm }] : [];
}

interface LeafSpec {
  readonly signer: AuthorityName | ExternalAuthority;
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly hosts?: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  readonly trustKeys?: readonly string[];
}

function certificate(desired: EtcdClusterSpec, name: CredentialName, leaf: LeafSpec): PlannedCertificate | undefined {
  const planned = placed(desired, name);
  return (
    planned && {
      kind: 'certificate',
      ...planned,
      ...life(desired),
      signer: leaf.signer,
      commonName: leaf.commonName,
      organizations: leaf.organizations ?? [],
      hosts: leaf.hosts ?? [],
      usages: leaf.usages,
      trustKeys: leaf.trustKeys ?? planned.place.bundle ?? [],
    }
  );
}

function kubeconfig(
  desired: PlaneSpec,
  name: CredentialName,
  { commonName, organizations }: KubeconfigUser,
  server: string,
): PlannedKubeconfig | undefined {
  const planned = placed(desired, name);
  if (!planned) return undefined;
  const { clusterName } = desired.identity;
  const isCluster = name === 'cluster-kubeconfig';
  const userEntry = isCluster ? `${clusterName}-admin` : commonName;
  return {
    kind: 'kubeconfig',
    ...planned,
    ...(isCluster && {
      labels: { ...planned.labels, ...desired.kubeconfigMetadata?.labels },
      ...(desired.kubeconfigMetadata?.annotations && { annotations: desired.kubeconfigMetadata.annotations }),
    }),
    ...life(desired),
    signer: 'ca',
    commonName,
    organizations,
    server,
    internalServer: internalServer(desired),
    clusterEntry: isCluster && desired.layout === 'k0s' ? `${clusterName}-k0s` : clusterName,
    userEntry,
    contextEntry: isCluster && desired.layout === 'k0s' ? `${clusterName}-k0s` : `${userEntry}@${clusterName}`,
  };
}

function life({ certificates }: EtcdClusterSpec): {
  durationMs: number;
  renewBeforeMs: number;
  algorithm: KeyAlgorithm;
} {
  return {
    durationMs: certificates.leafDurationMs,
    renewBeforeMs: certificates.leafRenewBeforeMs,
    algorithm: certificates.algorithm ?? defaultAlgorithm,
  };
}

interface Placed<N extends CredentialName> {
  readonly name: N;
  readonly place: SecretPlace;
  readonly labels: Labels;
  readonly external: boolean;
}

/** Returns undefined if the provider has no Secret for it. */
function placed<N extends CredentialName>(desired: EtcdClusterSpec, name: N): Placed<N> | undefined {
  const place = desired.naming.secrets[name];
  if (!place) return undefined;
  const brought = desired.certificates.external?.[name];
  const isKubeconfig = (place.kubeconfig ?? place.internalKubeconfig) !== undefined;
  return {
    name,
    place: brought === undefined ? place : { ...place, name: brought },
    labels: {
      ...desired.identity.metadata?.labels,
      ...desired.naming.labels(isKubeconfig ? 'kubeconfig' : 'certificate'),
      ...providerLabels(desired, name, isKubeconfig),
    },
    external: brought !== undefined,
  };
}

/** Labels that each provider's tools use to identify Secrets. */
function providerLabels({ naming }: EtcdClusterSpec, name: CredentialName, isKubeconfig: boolean): Labels {
  switch (naming.provider) {
    case 'kamaji':
      return { 'kamaji.clastix.io/certificate_lifecycle_controller': isKubeconfig ? 'kubeconfig' : 'x509' };
    case 'hosted':
      return isKubeconfig
        ? {
            'controlplane.cluster.x-k8s.io/kubeconfig': 'true',
            'controlplane.cluster.x-k8s.io/kubeconfig-username': name.replace(/-kubeconfig$/, ''),
          }
        : { 'controlplane.cluster.x-k8s.io/certificate-kind': name };
    default:
      return {};
  }
}
