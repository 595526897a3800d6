import type { Container, PodSpec, Probe, ProjectedSource, Volume } from '../../api/index.ts';
import { must } from '../../machinery/index.ts';
import type { CredentialName, PlanePart, SecretPlace } from '../naming/types.ts';
import type { ComponentSpec, EtcdClusterSpec, Labels, PodSettings, ProbeNumbers } from '../spec.ts';

/** Security settings of the restricted Pod security standard. */
export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

export const restrictedPod = {
  runAsUser: 1000,
  runAsGroup: 1000,
  runAsNonRoot: true,
  fsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
} as const;

/** Common Pod settings; builders override them. */
export function podBase(pods: PodSettings): Partial<PodSpec> {
  return {
    automountServiceAccountToken: pods.automountServiceAccountToken ?? false,
    ...(pods.nodeSelector && { nodeSelector: { ...pods.nodeSelector } }),
    ...(pods.tolerations && { tolerations: [...pods.tolerations] }),
    ...(pods.runtimeClassName !== undefined && { runtimeClassName: pods.runtimeClassName }),
    ...(pods.serviceAccountName !== undefined && { serviceAccountName: pods.serviceAccountName }),
    ...(pods.imagePullSecrets && { imagePullSecrets: pods.imagePullSecrets.map((name) => ({ name })) }),
  };
}

/** Prefers different zones, then different nodes. */
export function preferApart(selector: Labels): NonNullable<PodSpec['affinity']> {
  const term = (weight: number, topologyKey: string) => ({
    weight,
    podAffinityTerm: { topologyKey, labelSelector: { matchLabels: { ...selector } } },
  });
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        term(100, 'topology.kubernetes.io/zone'),
        term(50, 'kubernetes.io/hostname'),
      ],
    },
  };
}

/** Requires different nodes. */
export function spreadOverNodes(selector: Labels): NonNullable<PodSpec['topologySpreadConstraints']> {
  return [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { ...selector } },
    },
  ];
}

/** Overrides default probe numbers with the user's. */
export function withNumbers(probe: Probe, ...numbers: readonly (ProbeNumbers | undefined)[]): Probe {
  return Object.assign({ ...probe }, ...numbers.filter((one) => one !== undefined));
}

/** Container settings that users may set. */
export function containerSettings(component: ComponentSpec | undefined): Partial<Container> {
  return {
    ...(component?.resources && { resources: component.resources }),
    ...(component?.imagePullPolicy !== undefined && { imagePullPolicy: component.imagePullPolicy }),
    ...(component?.securityContext && { securityContext: component.securityContext }),
  };
}

/** Copies the end of the log to the Pod status, from where conditions take the reason of a failed start. */
export const withTerminationMessage = (container: Container): Container => ({
  terminationMessagePolicy: 'FallbackToLogsOnError',
  ...container,
});

/** A file from a Secret, with the file name a component expects. */
export interface SecretFile {
  readonly secret: string;
  readonly key: string;
  readonly path: string;
}

/** Files of a credential: `stem.crt` and `stem.key`, or names given by the caller. */
export function credentialFiles(
  desired: EtcdClusterSpec,
  name: CredentialName,
  names: { certificate?: string; privateKey?: string },
): SecretFile[] {
  const place = placeOf(desired, name);
  const file = (keys: readonly string[], path: string | undefined): SecretFile[] =>
    path === undefined || keys[0] === undefined ? [] : [{ secret: place.name, key: keys[0], path }];
  return [...file(place.certificate, names.certificate), ...file(place.privateKey, names.privateKey)];
}

/** File with all trusted certificates of a CA: current, next and previous. */
export function trustFile(
  desired: EtcdClusterSpec,
  name: 'ca' | 'etcd-ca' | 'front-proxy-ca',
  path: string,
): SecretFile {
  const repeated = desired.naming.bundles[name];
  if (repeated) return { secret: repeated.name, key: repeated.all, path };
  const place = placeOf(desired, name);
  // a user-supplied Secret has only one certificate
  const isBrought = desired.certificates.external?.[name] !== undefined;
  const key = (isBrought ? undefined : place.bundle?.[0]) ?? must(place.certificate[0], 'the key of a certificate');
  return { secret: place.name, key, path };
}

/** Returns the Secret of a credential, user-supplied ones included. */
export function placeOf(desired: EtcdClusterSpec, name: CredentialName | 'datastore-config'): SecretPlace {
  const place = desired.naming.secrets[name];
  if (!place) throw new TypeError(`${desired.naming.provider} has no Secret for ${name}`);
  const brought = name === 'datastore-config' ? undefined : desired.certificates.external?.[name];
  return brought === undefined ? place : { ...place, name: brought };
}

/** Builds a projected volume of files from several Secrets. */
export function secretVolume(name: string, files: readonly SecretFile[]): Volume {
  const sources = new Map<string, { key: string; path: string }[]>();
  for (const { secret, key, path } of files) {
    const items = sources.get(secret);
    if (items) items.push({ key, path });
    else sources.set(secret, [{ key, path }]);
  }
  const list: ProjectedSource[] = [...sources].map(([secret, items]) => ({ secret: { name: secret, items } }));
  return { name, projected: { sources: list } };
}

/** Labels of a Pod: those of its part and owner, and the user's if they do not collide. */
export function podLabels(desired: EtcdClusterSpec, part: PlanePart, extra: Labels = {}): Record<string, string> {
  const labels: Record<string, string> = {
    ...desired.pods.metadata?.labels,
    ...desired.identity.metadata?.labels,
    ...desired.naming.labels(part),
    ...desired.naming.selector(part),
    ...extra,
  };
  for (const name of desired.naming.withheldFromPods?.(part) ?? []) delete labels[name];
  return labels;
}
