import {
  type Clock,
  type KubeObject,
  must,
  type Random,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import {
  type ContainerSpec,
  mirrorAnnotation,
  type NamedReference,
  type PodSpec,
  secretNames,
  type VolumeSpec,
} from '../pods/pod-spec.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { coreWrites } from './scope.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

interface ServiceAccountObject extends KubeObject {
  automountServiceAccountToken?: boolean;
  secrets?: NamedReference[];
  imagePullSecrets?: NamedReference[];
}

const accounts = { group: '', plural: 'serviceaccounts' };
const defaultAccount = 'default';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const tokenVolumePrefix = 'kube-api-access-';
/** Kubelets treat this odd value of a little over an hour as a hint that longer-lived tokens are allowed. */
const tokenSeconds = 3607;
const enforceMountableSecrets = 'kubernetes.io/enforce-mountable-secrets';
const trueTexts = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

/** The default account is created shortly after its namespace. Pods wait for it up to this time. */
const patienceMs = 1500;

export interface ServiceAccountAdmissionOptions {
  store: Store<StoredObject>;
  clock: Clock;
  random: Random;
}

/**
 * Sets the service account of every pod and adds its token volume. Pods with a missing account are refused
 * (kube-apiserver: ServiceAccount). Servers without a controller for default accounts disable this step.
 */
export function serviceAccountAdmission(options: ServiceAccountAdmissionOptions): AdmissionStep {
  return {
    name: 'ServiceAccount',
    ...coreWrites('pods', ['CREATE']),
    mutate(request) {
      const { object } = request;
      if (isMirror(must(object, 'object'))) return;
      const spec = specOf(must(object, 'object'));
      spec.serviceAccountName ||= defaultAccount;
      spec.serviceAccount = spec.serviceAccountName;
      const account = findAccount(options.store, request, spec.serviceAccountName);
      if (account) return applyAccount(account, spec, options.random);
      if (spec.serviceAccountName !== defaultAccount) throw missingAccount(request, spec.serviceAccountName);
      return waitForAccount(options, request).then((found) => applyAccount(found, spec, options.random));
    },
    validate(request) {
      const { object, target } = request;
      const spec = specOf(must(object, 'object'));
      if (isMirror(must(object, 'object'))) return checkMirror(request, spec);
      const name = spec.serviceAccountName ?? '';
      if (name === '') {
        throw refusal(request, `no service account specified for pod ${target.namespace}/${target.name}`);
      }
      const account = findAccount(options.store, request, name);
      if (!account) throw missingAccount(request, name);
      if (!trueTexts.has(account.metadata.annotations?.[enforceMountableSecrets] ?? '')) return;
      const offence = unmountable(account, spec);
      if (offence !== undefined) throw refusal(request, offence);
    },
  };
}

function specOf(pod: UnstructuredObject): PodSpec {
  return (pod.spec ?? {}) as PodSpec;
}

function isMirror(pod: UnstructuredObject): boolean {
  return pod.metadata.annotations?.[mirrorAnnotation] !== undefined;
}

function findAccount(
  store: Store<StoredObject>,
  { target }: AdmissionRequest,
  name: string,
): ServiceAccountObject | undefined {
  return store.head(objectKey(accounts, target.namespace, name))?.value.object as ServiceAccountObject | undefined;
}

function waitForAccount(
  { store, clock }: ServiceAccountAdmissionOptions,
  request: AdmissionRequest,
): Promise<ServiceAccountObject> {
  const key = objectKey(accounts, request.target.namespace, defaultAccount);
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      stopWatching();
      cancel();
      const account = findAccount(store, request, defaultAccount);
      if (account) resolve(account);
      else reject(missingAccount(request, defaultAccount));
    };
    const cancel = clock.after(patienceMs, finish);
    const stopWatching = store.watch(key, store.revision, (events) => {
      if (events.some((event) => event.type === 'put' && event.record.key === key)) finish();
    });
  });
}

function applyAccount(account: ServiceAccountObject, spec: PodSpec, random: Random): void {
  if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec, random);
  if ((spec.imagePullSecrets ?? []).length > 0 || !account.imagePullSecrets?.length) return;
  spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ ...(name !== undefined && { name }) }));
}

function mountToken(spec: PodSpec, random: Random): void {
  const brought = spec.volumes?.find(({ name }) => name?.startsWith(tokenVolumePrefix))?.name;
  const volumeName = brought ?? tokenVolumePrefix + random.text(5);
  let mounted = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some((mount) => mount.mountPath === mountPath)) continue;
    container.volumeMounts = [...mounts, { name: volumeName, readOnly: true, mountPath }];
    mounted = true;
  }
  if (mounted && brought === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(volumeName)];
}

/** Builds the volume that client libraries expect in a pod: token, CA bundle and namespace. */
function tokenVolume(name: string): VolumeSpec {
  return {
    name,
    projected: {
      defaultMode: 0o644,
      sources: [
        { serviceAccountToken: { expirationSeconds: tokenSeconds, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
    },
  };
}

/** Kubelets write the mirrors of static pods, so these must not give access to secrets. */
function checkMirror(request: AdmissionRequest, spec: PodSpec): void {
  if (spec.serviceAccountName) throw refusal(request, 'a mirror pod may not reference service accounts');
  if (secretNames(spec).length > 0) throw refusal(request, 'a mirror pod may not reference secrets');
  const projectsToken = spec.volumes?.some(({ projected }) =>
    projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
  );
  if (projectsToken) throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

/** Returns why a pod may not mount its secrets, for accounts that restrict mountable secrets. */
function unmountable(account: ServiceAccountObject, spec: PodSpec): string | undefined {
  const allowed = namesOf(account.secrets);
  for (const { secret } of spec.volumes ?? []) {
    if (!secret || allowed.has(secret.secretName ?? '')) continue;
    return `volume with secret.secretName="${secret.secretName}" ${notReferenced(account)}`;
  }
  const offence =
    unmountableIn('init container', spec.initContainers, account) ??
    unmountableIn('container', spec.containers, account);
  if (offence !== undefined) return offence;
  const pullable = namesOf(account.imagePullSecrets);
  const secrets = spec.imagePullSecrets ?? [];
  const index = secrets.findIndex(({ name }) => !pullable.has(name ?? ''));
  if (index < 0) return undefined;
  const name = secrets[index]?.name;
  return `imagePullSecrets[${index}].name="${name}" is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`;
}

function unmountableIn(
  sort: string,
  containers: readonly ContainerSpec[] = [],
  account: ServiceAccountObject,
): string | undefined {
  const allowed = namesOf(account.secrets);
  for (const container of containers) {
    for (const { name, valueFrom } of container.env ?? []) {
      const secret = valueFrom?.secretKeyRef;
      if (!secret || allowed.has(secret.name ?? '')) continue;
      return `${sort} ${container.name} with envVar ${name} referencing secret.secretName="${secret.name}" ${notReferenced(account)}`;
    }
    for (const { secretRef } of container.envFrom ?? []) {
      if (!secretRef || allowed.has(secretRef.name ?? '')) continue;
      return `${sort} ${container.name} with envFrom referencing secret.secretName="${secretRef.name}" ${notReferenced(account)}`;
    }
  }
  return undefined;
}

function notReferenced(account: ServiceAccountObject): string {
  return `is not allowed because service account ${account.metadata.name} does not reference that secret`;
}

function namesOf(references: readonly NamedReference[] = []): ReadonlySet<string> {
  return new Set(references.map(({ name }) => name ?? ''));
}

function missingAccount(request: AdmissionRequest, name: string): Error {
  const account = `${request.target.namespace}/${name}`;
  return refusal(request, `error looking up service account ${account}: serviceaccount "${name}" not found`);
}

function refusal({ target }: AdmissionRequest, text: string): Error {
  return statusError.forbidden({ group: '', resource: 'pods', name: target.name }, text);
}
