/** The part of a pod spec that the server reads: identity, references and resources. */
export interface PodSpec {
  nodeName?: string;
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: NamedReference[];
  containers?: ContainerSpec[];
  initContainers?: ContainerSpec[];
  ephemeralContainers?: ContainerSpec[];
  volumes?: VolumeSpec[];
  resourceClaims?: { name?: string; resourceClaimName?: string; resourceClaimTemplateName?: string }[];
}

export interface NamedReference {
  name?: string;
}

export interface ContainerSpec {
  name?: string;
  env?: {
    name?: string;
    valueFrom?: { secretKeyRef?: NamedReference; configMapKeyRef?: NamedReference };
  }[];
  envFrom?: { secretRef?: NamedReference; configMapRef?: NamedReference }[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

export interface VolumeSpec {
  name?: string;
  secret?: { secretName?: string };
  configMap?: NamedReference;
  projected?: { defaultMode?: number; sources?: ProjectedSource[] };
  persistentVolumeClaim?: { claimName?: string };
  ephemeral?: object;
  csi?: { driver?: string; nodePublishSecretRef?: NamedReference };
  azureFile?: { secretName?: string };
  cephfs?: { secretRef?: NamedReference };
  flexVolume?: { secretRef?: NamedReference };
  rbd?: { secretRef?: NamedReference };
  scaleIO?: { secretRef?: NamedReference };
  iscsi?: { secretRef?: NamedReference };
  storageos?: { secretRef?: NamedReference };
}

export interface ProjectedSource {
  secret?: NamedReference;
  configMap?: NamedReference & { items?: { key: string; path: string }[] };
  serviceAccountToken?: { path?: string; expirationSeconds?: number; audience?: string };
  downwardAPI?: { items?: object[] };
}

/** Returns containers of all types in the order they start. */
export function allContainers(spec: PodSpec): ContainerSpec[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

/** Returns every Secret name that a pod refers to, including duplicates. */
export function secretNames(spec: PodSpec): string[] {
  const found: (string | undefined)[] = (spec.imagePullSecrets ?? []).map(({ name }) => name);
  for (const { env = [], envFrom = [] } of allContainers(spec)) {
    for (const { secretRef } of envFrom) found.push(secretRef?.name);
    for (const { valueFrom } of env) found.push(valueFrom?.secretKeyRef?.name);
  }
  for (const volume of spec.volumes ?? []) {
    found.push(volume.secret?.secretName, volume.azureFile?.secretName, volume.csi?.nodePublishSecretRef?.name);
    for (const source of volume.projected?.sources ?? []) found.push(source.secret?.name);
    for (const { secretRef } of [volume.cephfs, volume.flexVolume, volume.rbd].map((source) => source ?? {})) {
      found.push(secretRef?.name);
    }
    for (const { secretRef } of [volume.scaleIO, volume.iscsi, volume.storageos].map((source) => source ?? {})) {
      found.push(secretRef?.name);
    }
  }
  return found.filter((name) => name !== undefined && name !== '') as string[];
}

/** Returns every ConfigMap name that a pod refers to, including duplicates. */
export function configMapNames(spec: PodSpec): string[] {
  const found: (string | undefined)[] = [];
  for (const { env = [], envFrom = [] } of allContainers(spec)) {
    for (const { configMapRef } of envFrom) found.push(configMapRef?.name);
    for (const { valueFrom } of env) found.push(valueFrom?.configMapKeyRef?.name);
  }
  for (const volume of spec.volumes ?? []) {
    found.push(volume.configMap?.name);
    for (const source of volume.projected?.sources ?? []) found.push(source.configMap?.name);
  }
  return found.filter((name) => name !== undefined && name !== '') as string[];
}

/** Returns the claims of a pod, including ephemeral ones. */
export function claimNames(podName: string, spec: PodSpec): string[] {
  const found: string[] = [];
  for (const volume of spec.volumes ?? []) {
    const { claimName } = volume.persistentVolumeClaim ?? {};
    if (claimName) found.push(claimName);
    if (volume.ephemeral !== undefined) found.push(`${podName}-${volume.name}`);
  }
  return found;
}

export const mirrorAnnotation = 'kubernetes.io/config.mirror';
