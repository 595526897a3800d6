import { parseDocument } from 'yaml';
import {
  checkCronSchedule,
  type FieldError,
  fieldError,
  isJsonObject,
  type JsonValue,
  parseDuration,
  type ResourceStrategy,
} from '../../machinery/index.ts';
import { imageProblem, parseImage } from '../common/image-reference.ts';
import { defaultK0sVersion, desiredK0sVersion, parseK0sVersion } from '../common/k0s-version.ts';
import {
  validateHost,
  validateNotNegative,
  validatePlaneVersionChange,
  validatePort,
} from '../common/plane-validation.ts';
import { notSupported } from '../common/validation.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { parseDefragmentRule } from './defragment-rule.ts';
import { validateK0sConfig, yamlObjectProblem } from './k0s-config-validation.ts';
import type {
  JoinTokenRequest,
  K0smotronCluster,
  K0smotronClusterSpec,
  K0smotronEtcd,
  K0smotronPatch,
  K0smotronPersistence,
  K0smotronService,
  K0smotronStorage,
} from './types.ts';

export const k0smotronClusterStrategy: ResourceStrategy<K0smotronCluster> = {
  ...validateChangedSpec<K0smotronCluster>((object, before) => {
    const { spec } = object;
    return [
      ...validateK0smotronSpec(spec ?? {}, 'spec'),
      ...(before?.spec === undefined ? [] : validateK0smotronChange(spec ?? {}, before.spec, undefined, 'spec')),
    ];
  }),
  warnings: (object) => k0smotronWarnings(object.spec ?? {}),
};

export const joinTokenRequestStrategy: ResourceStrategy<JoinTokenRequest> = {
  ...validateChangedSpec<JoinTokenRequest>((object, old) => {
    const { spec } = object;
    const expiry = spec?.expiry ?? '0s';
    const errors = parseDuration(expiry) === undefined ? [notADuration('spec.expiry', expiry)] : [];
    const before = old?.spec?.clusterName;
    if (before !== undefined && before !== spec?.clusterName) {
      errors.push(fieldError.forbidden('spec.clusterName', 'cannot be changed: the token belongs to its cluster'));
    }
    return errors;
  }),
};

const notADuration = (path: string, value: string): FieldError =>
  fieldError.invalid(path, value, 'must be a duration, e.g. 24h or 90m');

/** Validates the spec that k0smotron's Cluster, K0smotronControlPlane and its template share. */
export function validateK0smotronSpec(spec: K0smotronClusterSpec, path: string): FieldError[] {
  return [
    ...validateNotNegative(spec.replicas, `${path}.replicas`),
    ...validateVersionAndImage(spec, path),
    ...validateService(spec.service, `${path}.service`),
    ...validateHost(spec.externalAddress, `${path}.externalAddress`),
    ...validateIngress(spec, `${path}.ingress`),
    ...validatePersistence(spec.persistence, `${path}.persistence`),
    ...validateStorage(spec.storage, spec.replicas, `${path}.storage`),
    ...validateK0sConfig(spec.k0sConfig, `${path}.k0sConfig`),
    ...validateMounts(spec, path),
    ...validatePatches(spec.patches, `${path}.patches`),
  ];
}

/** Checks changes of a control plane that runs the given version. */
export function validateK0smotronChange(
  spec: K0smotronClusterSpec,
  old: K0smotronClusterSpec,
  running: string | undefined,
  path: string,
): FieldError[] {
  const versionOf = (desired: K0smotronClusterSpec): ReturnType<typeof parseK0sVersion> =>
    parseK0sVersion(desiredK0sVersion(desired) ?? '');
  const change = { wanted: versionOf(spec), before: versionOf(old), running: parseK0sVersion(running ?? '') };
  const versionPath = spec.version === undefined || spec.version === '' ? `${path}.image` : `${path}.version`;
  const errors = validatePlaneVersionChange(change, versionPath);
  const [type, before] = [spec.storage?.type ?? 'etcd', old.storage?.type ?? 'etcd'];
  if (type !== before) {
    errors.push(
      fieldError.forbidden(`${path}.storage.type`, `cannot be changed from ${before}: the data would stay behind`),
    );
  } else if (type === 'nats' && spec.replicas !== old.replicas) {
    errors.push(fieldError.forbidden(`${path}.replicas`, 'cannot be changed with storage of type nats'));
  }
  return errors;
}

export function k0smotronWarnings(spec: K0smotronClusterSpec): string[] {
  const version = spec.version ?? '';
  const { tag } = parseImage(spec.image ?? '');
  if (version === '' && tag === undefined) {
    return [`spec.version: empty, ${defaultK0sVersion} is used; name the version of k0s`];
  }
  if (version !== '' && tag !== undefined && parseK0sVersion(tag) !== undefined && tag !== version) {
    return desiredK0sVersion({ image: `k0s:${tag}` }) === desiredK0sVersion({ version })
      ? []
      : [`spec.image: the tag ${tag} is not used, because spec.version says ${version}`];
  }
  if (version !== '' && !/[-+]k0s\./.test(version))
    return [`spec.version: ${version} has no k0s suffix, k0s.0 is used`];
  return [];
}

function validateVersionAndImage({ version = '', image = '' }: K0smotronClusterSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const problem = image === '' ? undefined : imageProblem(image);
  if (problem !== undefined) errors.push(fieldError.invalid(`${path}.image`, image, problem));
  if (version !== '') {
    if (parseK0sVersion(version) === undefined) {
      errors.push(fieldError.invalid(`${path}.version`, version, 'must be a version of k0s, e.g. v1.32.6+k0s.0'));
    }
    return errors;
  }
  const { tag, digest } = parseImage(image);
  const saysVersion = tag !== undefined && parseK0sVersion(tag) !== undefined;
  if (problem === undefined && !saysVersion && (tag ?? digest) !== undefined) {
    errors.push(
      fieldError.required(`${path}.version`, `spec.image names ${tag ?? digest}, which does not say a version of k0s`),
    );
  }
  return errors;
}

/** Default node port range of kube-apiserver. */
const nodePorts = { first: 30000, last: 32767 };

function validateService(service: K0smotronService | undefined, path: string): FieldError[] {
  if (service === undefined) return [];
  const ports = { apiPort: service.apiPort, konnectivityPort: service.konnectivityPort };
  const errors = Object.entries(ports).flatMap(([name, port]) => validatePort(port, `${path}.${name}`));
  if (errors.length > 0) return errors;
  if (ports.apiPort !== undefined && ports.apiPort === ports.konnectivityPort) {
    return [fieldError.invalid(`${path}.konnectivityPort`, ports.konnectivityPort, 'must not be the same as apiPort')];
  }
  if (service.type !== 'NodePort') return [];
  return Object.entries(ports).flatMap(([name, port]) =>
    port === undefined || (port >= nodePorts.first && port <= nodePorts.last)
      ? []
      : [fieldError.invalid(`${path}.${name}`, port, `must be a node port: ${nodePorts.first} to ${nodePorts.last}`)],
  );
}

function validateIngress({ ingress, version, image }: K0smotronClusterSpec, path: string): FieldError[] {
  if (ingress === undefined) return [];
  const errors = [
    ...validateHost(ingress.apiHost, `${path}.apiHost`),
    ...validateHost(ingress.konnectivityHost, `${path}.konnectivityHost`),
    ...validatePort(ingress.port, `${path}.port`),
  ];
  const desired = { ...(version === undefined ? {} : { version }), ...(image === undefined ? {} : { image }) };
  const wanted = desiredK0sVersion(desired);
  const parsed = parseK0sVersion(wanted ?? '');
  if (parsed !== undefined && (parsed.minor < 34 || (parsed.minor === 34 && parsed.patch < 1))) {
    errors.push(fieldError.forbidden(path, `needs k0s v1.34.1 or later, not ${wanted}`));
  }
  return errors;
}

const persistenceTypes = ['emptyDir', 'hostPath', 'pvc'];

function validatePersistence(persistence: K0smotronPersistence | undefined, path: string): FieldError[] {
  if (persistence?.type === undefined) return [];
  const { type, hostPath } = persistence;
  if (!persistenceTypes.includes(type)) return [notSupported(`${path}.type`, type, persistenceTypes)];
  if (type !== 'hostPath') return [];
  if (hostPath === undefined || hostPath === '') return [fieldError.required(`${path}.hostPath`, 'with type hostPath')];
  return hostPath.startsWith('/') ? [] : [fieldError.invalid(`${path}.hostPath`, hostPath, 'must be an absolute path')];
}

function validateStorage(
  storage: K0smotronStorage | undefined,
  replicas: number | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const problem = storage?.etcd?.image === undefined ? undefined : imageProblem(storage.etcd.image);
  if (problem !== undefined) errors.push(fieldError.invalid(`${path}.etcd.image`, storage?.etcd?.image, problem));
  errors.push(...validateDefragmentation(storage?.etcd?.defragJob, `${path}.etcd.defragJob`));
  if (storage?.type === 'kine') {
    const { dataSourceURL = '', dataSourceSecretName = '' } = storage.kine ?? {};
    if (dataSourceURL === '' && dataSourceSecretName === '') {
      errors.push(fieldError.required(`${path}.kine`, 'with type kine, dataSourceURL or dataSourceSecretName'));
    }
  }
  if (storage?.type === 'nats' && replicas !== undefined && replicas > 0 && replicas % 2 === 0) {
    errors.push(
      fieldError.invalid('spec.replicas', replicas, 'must be odd with storage of type nats: half of them is no quorum'),
    );
  }
  return errors;
}

function validateDefragmentation(job: K0smotronEtcd['defragJob'], path: string): FieldError[] {
  if (job?.enabled !== true) return [];
  const rule = parseDefragmentRule(job.rule ?? '');
  return [
    ...checkCronSchedule(job.schedule).map((text) => fieldError.invalid(`${path}.schedule`, job.schedule, text)),
    ...('problem' in rule ? [fieldError.invalid(`${path}.rule`, job.rule, rule.problem)] : []),
  ];
}

function validateMounts({ mounts = [], manifests = [] }: K0smotronClusterSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const paths = new Set<string>();
  for (const [i, mount] of mounts.entries()) {
    const at = `${path}.mounts[${i}].path`;
    if (!mount.path.startsWith('/')) errors.push(fieldError.invalid(at, mount.path, 'must be an absolute path'));
    if (paths.has(mount.path)) errors.push(fieldError.duplicate(at, mount.path));
    paths.add(mount.path);
  }
  const names = new Set<string>();
  for (const [i, { name }] of manifests.entries()) {
    if (names.has(name)) errors.push(fieldError.duplicate(`${path}.manifests[${i}].name`, name));
    names.add(name);
  }
  return errors;
}

function validatePatches(patches: readonly K0smotronPatch[] | undefined, path: string): FieldError[] {
  return (patches ?? []).flatMap(({ patch }, i) => {
    const problem = patch.type === 'json' ? jsonPatchProblem(patch.content) : yamlObjectProblem(patch.content);
    return problem === undefined ? [] : [fieldError.invalid(`${path}[${i}].patch.content`, patch.content, problem)];
  });
}

function jsonPatchProblem(text: string): string | undefined {
  const document = parseDocument(text);
  const operations = document.errors.length > 0 ? undefined : (document.toJS() as JsonValue);
  const isList =
    Array.isArray(operations) && operations.every((item) => isJsonObject(item) && typeof item['op'] === 'string');
  return isList ? undefined : 'must be a list of operations as in RFC 6902';
}
