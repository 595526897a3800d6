import type { Labels } from '../spec.ts';

export type ProviderName = 'k0smotron' | 'kamaji' | 'hosted';

/** Parts of a plane that objects belong to. */
export type PlanePart =
  | 'cluster'
  | 'control-plane'
  | 'api-server'
  | 'controller-manager'
  | 'scheduler'
  | 'etcd'
  | 'config'
  | 'entrypoint'
  | 'ingress'
  | 'kubeconfig'
  | 'certificate'
  | 'konnectivity'
  | 'monitoring'
  | 'policy';

/** Certificate authorities. */
export type AuthorityName = 'ca' | 'etcd-ca' | 'front-proxy-ca';

/** Credentials of a plane. */
export type CredentialName =
  | AuthorityName
  | 'sa'
  | 'apiserver'
  | 'apiserver-kubelet-client'
  | 'front-proxy-client'
  | 'apiserver-etcd-client'
  | 'etcd-server'
  | 'etcd-peer'
  /** Capstan's client certificate for etcd */
  | 'etcd-operator'
  | 'datastore-client'
  | 'konnectivity-server'
  | 'ingress-proxy'
  | 'admin-kubeconfig'
  | 'super-admin-kubeconfig'
  | 'controller-manager-kubeconfig'
  | 'scheduler-kubeconfig'
  | 'konnectivity-kubeconfig'
  /** Capstan's kubeconfig of the workload cluster */
  | 'operator-kubeconfig'
  /** `<cluster>-kubeconfig`, which users and other controllers look for */
  | 'cluster-kubeconfig';

/** Secret keys of a credential; a part may have several keys with the same content. */
export interface SecretPlace {
  readonly name: string;
  readonly type?: string;
  /** certificate; for `sa` the public keys, the current one first */
  readonly certificate: readonly string[];
  readonly privateKey: readonly string[];
  /** certificates of all trusted CAs, current one first */
  readonly bundle?: readonly string[];
  /** kubeconfig keys with the external address */
  readonly kubeconfig?: readonly string[];
  /** kubeconfig keys with the address inside the management cluster */
  readonly internalKubeconfig?: readonly string[];
}

/** A Secret with a copy of a CA's trust, under keys that users know. */
export interface BundlePlace {
  readonly name: string;
  readonly current: string;
  readonly old: string;
  readonly all: string;
}

/** All names of a plane. Each provider has one function that builds it; names are built nowhere else. */
export interface PlaneNaming {
  readonly provider: ProviderName;
  /** for server-side apply */
  readonly fieldManager: string;
  /** StatefulSet or Deployment of the API server */
  readonly controlPlane: string;
  readonly etcd: string;
  readonly apiService: string;
  /** headless */
  readonly etcdService: string;
  /** one address for all members; equals `etcdService` if there is no second Service */
  readonly etcdClientService: string;
  /** ConfigMap with the start settings of etcd members */
  readonly etcdSettings: string;
  readonly etcdVolume: string;
  readonly configs: Readonly<Record<ConfigName, string>>;
  readonly ingress: string;
  readonly apiRoute: string;
  readonly konnectivityRoute: string;
  readonly secrets: Readonly<Partial<Record<CredentialName | 'datastore-config', SecretPlace>>>;
  readonly bundles: Readonly<Partial<Record<AuthorityName, BundlePlace>>>;
  /** Secrets of Capstan with the rotation state and the encryption keys */
  readonly rotationState: string;
  readonly encryptionKeys: string;
  labels(part: PlanePart): Labels;
  /** immutable for the life of an object; never contains anything users can change */
  selector(part: PlanePart): Labels;
  /** selectors of earlier versions for a part; objects with them may still exist */
  formerSelectors?(part: PlanePart): readonly Labels[];
  /** labels of plane objects that Pods of a part must not have */
  withheldFromPods?(part: PlanePart): readonly string[];
  /** name of a part's NetworkPolicy and PodDisruptionBudget */
  policy(part: PlanePart): string;
  /** CronJob of the provider's own program that defragments etcd */
  readonly defragmentJob?: string;
  /** Deployments of earlier versions, whose components now run in other Pods */
  readonly formerDeployments?: readonly string[];
}

export type ConfigName =
  | 'k0s'
  | 'entrypoint'
  | 'endpoint'
  | 'ingress'
  | 'prometheus'
  | 'prometheus-proxy'
  | 'kubeadm'
  | 'egress-selector'
  | 'authentication'
  | 'audit';
