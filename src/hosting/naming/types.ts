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

/** Pairs of keys that vouch for others. */
export type AuthorityName = 'ca' | 'etcd-ca' | 'front-proxy-ca';

/** Everything with a key in it. */
export type CredentialName =
  | AuthorityName
  | 'sa'
  | 'apiserver'
  | 'apiserver-kubelet-client'
  | 'front-proxy-client'
  | 'apiserver-etcd-client'
  | 'etcd-server'
  | 'etcd-peer'
  /** our own way to etcd */
  | 'etcd-operator'
  | 'datastore-client'
  | 'konnectivity-server'
  | 'ingress-proxy'
  | 'admin-kubeconfig'
  | 'super-admin-kubeconfig'
  | 'controller-manager-kubeconfig'
  | 'scheduler-kubeconfig'
  | 'konnectivity-kubeconfig'
  /** our own way to the workload cluster */
  | 'operator-kubeconfig'
  /** `<cluster>-kubeconfig`: the one people and other controllers look for */
  | 'cluster-kubeconfig';

/** Where the parts of a credential are in Secrets; a part may be there under several keys. */
export interface SecretPlace {
  readonly name: string;
  readonly type?: string;
  /** the certificate; of `sa` the public keys, the signing one first */
  readonly certificate: readonly string[];
  readonly privateKey: readonly string[];
  /** certificates of all authorities to trust, current one first */
  readonly bundle?: readonly string[];
  /** of a kubeconfig: keys with the address from outside */
  readonly kubeconfig?: readonly string[];
  /** of a kubeconfig: keys with the address inside the management cluster */
  readonly internalKubeconfig?: readonly string[];
}

/** A Secret that repeats the trust of an authority, under keys users know. */
export interface BundlePlace {
  readonly name: string;
  readonly current: string;
  readonly old: string;
  readonly all: string;
}

/** Every name a plane uses. Made by one function for each provider, and nowhere else. */
export interface PlaneNaming {
  readonly provider: ProviderName;
  /** of server-side apply */
  readonly fieldManager: string;
  /** StatefulSet or Deployment with the API server */
  readonly controlPlane: string;
  /** StatefulSet */
  readonly etcd: string;
  readonly apiService: string;
  /** headless */
  readonly etcdService: string;
  /** one address for all members; equal to `etcdService` where there is no second */
  readonly etcdClientService: string;
  /** start settings of etcd members */
  readonly etcdSettings: string;
  readonly etcdVolume: string;
  readonly configs: Readonly<Record<ConfigName, string>>;
  readonly ingress: string;
  readonly apiRoute: string;
  readonly konnectivityRoute: string;
  readonly secrets: Readonly<Partial<Record<CredentialName | 'datastore-config', SecretPlace>>>;
  readonly bundles: Readonly<Partial<Record<AuthorityName, BundlePlace>>>;
  /** of our own: where rotations, and the encryption keys, are recorded */
  readonly rotationState: string;
  readonly encryptionKeys: string;
  labels(part: PlanePart): Labels;
  /** fixed for the life of an object; never contains what users can change */
  selector(part: PlanePart): Labels;
  /** selectors an earlier version used for a part: what was made with them may still be there */
  formerSelectors?(part: PlanePart): readonly Labels[];
  /** labels of the plane's objects that Pods of a part do not carry */
  withheldFromPods?(part: PlanePart): readonly string[];
  /** name of the NetworkPolicy and PodDisruptionBudget of a part */
  policy(part: PlanePart): string;
  /** Deployments of an earlier version, whose programs run in other Pods now */
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
