import type { Container, EnvFromSource, EnvVarSource, KeyRef, Pod, Service } from '../../api/index.ts';
import { must } from '../../machinery/index.ts';
import { ContainerRefusedError } from '../containers/types.ts';
import { containerResource, type PodContext, podField } from './downward.ts';
import { expandVariables } from './expand.ts';
import type { ObjectLookup } from './lookup.ts';
import { serviceVariables } from './service-links.ts';

/** Keys of a Secret or ConfigMap as text. */
interface KeyedText {
  /** as errors name it: `secret "x"`, `ConfigMap ns/x` */
  readonly kind: 'secret' | 'configmap';
  text(key: string): string | undefined;
  keys(): string[];
}

/**
 * Services for environment variables: the API of the cluster, and those of the Pod's namespace unless
 * `enableServiceLinks` is false.
 */
async function linkedServices({ metadata, spec }: Pod, lookup: ObjectLookup): Promise<readonly Service[]> {
  const namespace = metadata.namespace ?? '';
  const beside = spec.enableServiceLinks === false ? [] : await lookup.services(namespace);
  const api = (await lookup.services('default')).filter(({ metadata: { name } }) => name === 'kubernetes');
  return namespace === 'default' && beside.length > 0 ? beside : [...api, ...beside];
}

/**
 * Builds the environment of a container. Throws ContainerRefusedError with CreateContainerConfigError, naming what is
 * missing in a kubelet's words.
 */
export async function containerEnvironment(
  pod: Pod,
  container: Container,
  around: PodContext,
  lookup: ObjectLookup,
): Promise<Record<string, string>> {
  const variables = serviceVariables(await linkedServices(pod, lookup));
  for (const source of container.envFrom ?? []) await addAll(variables, pod, source, lookup);
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found = valueFrom
      ? await referredValue(pod, container, valueFrom, around, lookup)
      : expandVariables(value ?? '', variables);
    if (found !== undefined) variables[name] = found;
  }
  return variables;
}

async function addAll(
  variables: Record<string, string>,
  pod: Pod,
  { prefix = '', configMapRef, secretRef }: EnvFromSource,
  lookup: ObjectLookup,
): Promise<void> {
  const reference = configMapRef ?? secretRef;
  if (!reference) return;
  const kind = configMapRef ? 'configmap' : 'secret';
  const source = await keyedText(pod, kind, reference, lookup);
  // Any key becomes a variable name, even one that no shell accepts, as kubelets do since 1.34.
  for (const key of source?.keys() ?? [])
    variables[prefix + key] = must(must(source, 'source').text(key), 'source.text(key)');
}

async function referredValue(
  pod: Pod,
  container: Container,
  source: EnvVarSource,
  around: PodContext,
  lookup: ObjectLookup,
): Promise<string | undefined> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = source;
  if (fieldRef) return required(podField(pod, fieldRef.fieldPath, around), `fieldPath ${fieldRef.fieldPath}`);
  if (resourceFieldRef) {
    const value = containerResource(pod, resourceFieldRef, container, around);
    return required(value, `resource ${resourceFieldRef.resource}`);
  }
  if (configMapKeyRef) return keyValue(pod, 'configmap', configMapKeyRef, lookup);
  if (secretKeyRef) return keyValue(pod, 'secret', secretKeyRef, lookup);
  return '';
}

async function keyValue(
  pod: Pod,
  kind: KeyedText['kind'],
  reference: KeyRef,
  lookup: ObjectLookup,
): Promise<string | undefined> {
  const source = await keyedText(pod, kind, reference, lookup);
  const value = source?.text(reference.key);
  if (value !== undefined || reference.optional) return value;
  const { namespace } = pod.metadata;
  const kindName = kind === 'secret' ? 'Secret' : 'ConfigMap';
  throw refused(`couldn't find key ${reference.key} in ${kindName} ${namespace}/${reference.name}`);
}

async function keyedText(
  pod: Pod,
  kind: KeyedText['kind'],
  { name = '', optional }: { name?: string; optional?: boolean },
  lookup: ObjectLookup,
): Promise<KeyedText | undefined> {
  const namespace = pod.metadata.namespace ?? '';
  if (kind === 'configmap') {
    const map = await lookup.configMap(namespace, name);
    if (map) return { kind, text: (key) => map.data?.[key], keys: () => Object.keys(map.data ?? {}).sort() };
  } else {
    const secret = await lookup.secret(namespace, name);
    if (secret) {
      const text = (key: string): string | undefined => {
        const value = secret.data?.[key];
        return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
      };
      return { kind, text, keys: () => Object.keys(secret.data ?? {}).sort() };
    }
  }
  if (optional) return undefined;
  throw refused(`${kind} "${name}" not found`);
}

function required(value: string | undefined, what: string): string {
  if (value === undefined) throw refused(`${what} cannot be read from the pod`);
  return value;
}

function refused(message: string): ContainerRefusedError {
  return new ContainerRefusedError('CreateContainerConfigError', message);
}
