import type { KeyAlgorithm } from '../../pki/index.ts';
import { internalServer, planeEndpoint, serverUrl } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { AuthorityName, CredentialName, SecretPlace } from '../naming/types.ts';
import type { EtcdClusterWish, ExternalAuthority, Labels, PlaneWish } from '../wish.ts';
import { apiServerHosts, etcdHosts, ingressProxyHosts } from './hosts.ts';
import type {
  CertificatePlan,
  PlannedAuthority,
  PlannedCertificate,
  PlannedCredential,
  PlannedKubeconfig,
} from './types.ts';

/** Quick to make, and every supported Kubernetes accepts it. */
const defaultAlgorithm: KeyAlgorithm = 'ECDSA-P256';

const masters = 'system:masters';

/**
 * All credentials of a plane, signers before what they sign. Those whose names depend on the address of the API are in it from
 * the moment that is known.
 */
export function certificatePlan(wish: PlaneWish, facts: PlaneFacts): CertificatePlan {
  const endpointKnown = planeEndpoint(wish, facts).known;
  return [
    authority(wish, 'ca', 'kubernetes'),
    authority(wish, 'front-proxy-ca', wish.layout === 'k0s' ? 'kubernetes' : 'front-proxy-ca'),
    ...serviceAccountKey(wish),
    ...etcdCertificatePlan(wish),
    // a certificate without the address nodes use would have to be made twice, and the Pods be rolled for it
    endpointKnown ? apiServer(wish, facts) : undefined,
    ...(wish.layout === 'k0s' ? [] : componentCertificates(wish)),
    ...dataStoreCertificates(wish),
    ...(wish.layout === 'k0s' && wish.exposure.ingress ? [ingressProxy(wish)] : []),
    ...(endpointKnown ? kubeconfigs(wish, facts) : []),
  ].filter((planned) => planned !== undefined);
}

/** What etcd needs, and whoever talks to it. */
export function etcdCertificatePlan(wish: EtcdClusterWish): PlannedCredential[] {
  if (wish.dataStore.kind !== 'own-etcd') return [];
  const hosts = etcdHosts(wish);
  const isK0s = wish.naming.provider === 'k0smotron';
  const leaf = (
    name: CredentialName,
    usages: ('server' | 'client')[],
    subject: string,
  ): PlannedCertificate | undefined =>
    certificate(wish, name, {
      signer: 'etcd-ca',
      commonName: subject,
      organizations: isK0s ? [subject] : [],
      hosts: usages.includes('server') || isK0s ? hosts : [],
      usages,
    });
  return [
    authority(wish, 'etcd-ca', isK0s ? 'kubernetes' : 'etcd-ca'),
    leaf('etcd-server', ['server', 'client'], isK0s ? 'etcd-server' : wish.naming.etcd),
    leaf('etcd-peer', ['server', 'client'], isK0s ? 'etcd-peer' : wish.naming.etcd),
    leaf('apiserver-etcd-client', ['client'], isK0s ? 'apiserver-etcd-client' : 'kube-apiserver-etcd-client'),
    leaf('etcd-operator', ['client'], wish.dataStore.operatorName ?? 'etcd-controller-client'),
  ].filter((planned) => planned !== undefined);
}

/** Which credential we ourselves show to etcd. */
export function etcdOperatorCredential(wish: EtcdClusterWish): CredentialName {
  return wish.naming.secrets['etcd-operator'] ? 'etcd-operator' : 'apiserver-etcd-client';
}

/** k0s would make one itself, but without the chain that workers need while the authority is being replaced. */
const apiServer = (wish: PlaneWish, facts: PlaneFacts): PlannedCertificate | undefined =>
  certificate(wish, 'apiserver', {
    signer: 'ca',
    commonName: 'kube-apiserver',
    hosts: apiServerHosts(wish, facts),
    usages: ['server'],
  });

function componentCertificates(wish: PlaneWish): (PlannedCredential | undefined)[] {
  const isHosted = wish.naming.provider === 'hosted';
  return [
    certificate(wish, 'apiserver-kubelet-client', {
      signer: 'ca',
      commonName: 'kube-apiserver-kubelet-client',
      organizations: [isHosted ? 'kubeadm:cluster-admins' : masters],
      usages: ['client'],
    }),
    certificate(wish, 'front-proxy-client', {
      signer: 'front-proxy-ca',
      commonName: 'front-proxy-client',
      usages: ['client'],
    }),
    wish.konnectivity === undefined
      ? undefined
      : certificate(wish, 'konnectivity-server', {
          signer: 'ca',
          commonName: 'system:konnectivity-server',
          usages: ['client', 'server'],
        }),
  ];
}

function dataStoreCertificates(wish: PlaneWish): (PlannedCredential | undefined)[] {
  if (wish.dataStore.kind !== 'shared-etcd') return [];
  return [
    certificate(wish, 'datastore-client', {
      signer: wish.dataStore.authority,
      commonName: wish.dataStore.user,
      // etcd takes the user from the name alone
      organizations: [masters],
      usages: ['client'],
      trustKeys: ['ca.crt'],
    }),
  ];
}

const ingressProxy = (wish: PlaneWish): PlannedCertificate | undefined =>
  certificate(wish, 'ingress-proxy', {
    signer: 'ca',
    commonName: 'ingress-haproxy',
    organizations: ['kubernetes'],
    hosts: ingressProxyHosts(wish),
    usages: ['server'],
  });

interface KubeconfigUser {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

function kubeconfigs(wish: PlaneWish, facts: PlaneFacts): (PlannedKubeconfig | undefined)[] {
  const answer = planeEndpoint(wish, facts);
  if (!answer.known) return [];
  const outside = serverUrl(answer.endpoint);
  const inside = internalServer(wish);
  // Programs that share a Pod with an API server talk to that one: no network is needed, and while a plane is upgraded none of
  // them meets an API server that is older than itself.
  const beside = `https://localhost:${wish.exposure.apiTargetPort ?? wish.exposure.apiPort}`;
  const isHosted = wish.naming.provider === 'hosted';
  const admins = { commonName: 'kubernetes-admin', organizations: [isHosted ? masters : 'kubeadm:cluster-admins'] };
  return [
    kubeconfig(wish, 'cluster-kubeconfig', { commonName: 'kubernetes-admin', organizations: [masters] }, outside),
    kubeconfig(wish, 'admin-kubeconfig', admins, outside),
    kubeconfig(
      wish,
      'super-admin-kubeconfig',
      { commonName: 'kubernetes-super-admin', organizations: [masters] },
      outside,
    ),
    kubeconfig(wish, 'controller-manager-kubeconfig', system('kube-controller-manager'), beside),
    kubeconfig(wish, 'scheduler-kubeconfig', system('kube-scheduler'), beside),
    wish.konnectivity === undefined
      ? undefined
      : kubeconfig(
          wish,
          'konnectivity-kubeconfig',
          isHosted ? { commonName: 'konnectivity-client', organizations: [masters] } : system('konnectivity-server'),
          beside,
        ),
    kubeconfig(
      wish,
      'operator-kubeconfig',
      { commonName: 'control-plane-controller', organizations: [masters] },
      inside,
    ),
  ];
}

const system = (name: string): KubeconfigUser => ({ commonName: `system:${name}`, organizations: [] });

function authority(wish: EtcdClusterWish, name: AuthorityName, commonName: string): PlannedAuthority | undefined {
  const planned = placed(wish, name);
  const repeatedIn = wish.naming.bundles[name];
  return (
    planned && {
      kind: 'authority',
      ...planned,
      name,
      commonName,
      durationMs: wish.certificates.authorityDurationMs,
      renewBeforeMs: wish.certificates.authorityRenewBeforeMs,
      algorithm: wish.certificates.algorithm ?? defaultAlgorithm,
      ...(repeatedIn && { repeatedIn }),
    }
  );
}

function serviceAccountKey(wish: PlaneWish): PlannedCredential[] {
  const planned = placed(wish, 'sa');
  const algorithm = wish.certificates.algorithm ?? defaultAlgorithm;
  return planned ? [{ kind: 'key', ...planned, name: 'sa', algorithm }] : [];
}

interface LeafWish {
  readonly signer: AuthorityName | ExternalAuthority;
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly hosts?: readonly string[];
  readonly usages: readonly ('server' | 'client')[];
  readonly trustKeys?: readonly string[];
}

function certificate(wish: EtcdClusterWish, name: CredentialName, leaf: LeafWish): PlannedCertificate | undefined {
  const planned = placed(wish, name);
  return (
    planned && {
      kind: 'certificate',
      ...planned,
      ...life(wish),
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
  wish: PlaneWish,
  name: CredentialName,
  { commonName, organizations }: KubeconfigUser,
  server: string,
): PlannedKubeconfig | undefined {
  const planned = placed(wish, name);
  if (!planned) return undefined;
  const { clusterName } = wish.identity;
  const isCluster = name === 'cluster-kubeconfig';
  const userEntry = isCluster ? `${clusterName}-admin` : commonName;
  return {
    kind: 'kubeconfig',
    ...planned,
    ...(isCluster && {
      labels: { ...planned.labels, ...wish.kubeconfigMetadata?.labels },
      ...(wish.kubeconfigMetadata?.annotations && { annotations: wish.kubeconfigMetadata.annotations }),
    }),
    ...life(wish),
    signer: 'ca',
    commonName,
    organizations,
    server,
    internalServer: internalServer(wish),
    clusterEntry: isCluster && wish.layout === 'k0s' ? `${clusterName}-k0s` : clusterName,
    userEntry,
    contextEntry: isCluster && wish.layout === 'k0s' ? `${clusterName}-k0s` : `${userEntry}@${clusterName}`,
  };
}

function life({ certificates }: EtcdClusterWish): {
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

/** Undefined where the provider has no Secret for it. */
function placed<N extends CredentialName>(wish: EtcdClusterWish, name: N): Placed<N> | undefined {
  const place = wish.naming.secrets[name];
  if (!place) return undefined;
  const brought = wish.certificates.external?.[name];
  const isKubeconfig = (place.kubeconfig ?? place.internalKubeconfig) !== undefined;
  return {
    name,
    place: brought === undefined ? place : { ...place, name: brought },
    labels: {
      ...wish.identity.metadata?.labels,
      ...wish.naming.labels(isKubeconfig ? 'kubeconfig' : 'certificate'),
      ...providerLabels(wish, name, isKubeconfig),
    },
    external: brought !== undefined,
  };
}

/** Labels by which tools of each provider tell their Secrets apart. */
function providerLabels({ naming }: EtcdClusterWish, name: CredentialName, isKubeconfig: boolean): Labels {
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
