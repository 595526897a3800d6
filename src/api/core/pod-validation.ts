import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkIp,
  checkQualifiedName,
  type FieldError,
  fieldError,
  type ObjectMeta,
  rangeText,
  validateAnnotations,
  validateDescendingPath,
  validateLabelSelector,
  validateLabels,
  validateNonNegative,
} from '../../machinery/index.ts';
import {
  invalid,
  notSupported,
  validateEnum,
  validateRequiredEnum,
  validateRequiredText,
} from '../common/validation.ts';
import { validateAffinity } from './affinity-validation.ts';
import { validateContainers, validateFieldRef, validateIds, validateResourceFieldRef } from './container-validation.ts';
import type { DownwardApiFile, KeyToPath, PodSpec, PodTemplateSpec, Toleration, Volume } from './pod-types.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];
const fileFieldPaths = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const fileModeText = 'must be a number between 0 and 0777 (octal), both inclusive';

export function validatePodSpec(spec: PodSpec | undefined, path: string): FieldError[] {
  if (!spec) return [fieldError.required(`${path}.containers`)];
  const errors: FieldError[] = [];
  const volumes = new Set<string>();
  if (spec.volumes) errors.push(...validateVolumes(spec.volumes, volumes, `${path}.volumes`));
  errors.push(...validateContainers(spec, volumes, path));
  errors.push(...validateRequiredEnum(spec.restartPolicy, restartPolicies, `${path}.restartPolicy`));
  errors.push(...validateRequiredEnum(spec.dnsPolicy, dnsPolicies, `${path}.dnsPolicy`));
  if (spec.nodeSelector) errors.push(...validateLabels(spec.nodeSelector, `${path}.nodeSelector`));
  if (spec.securityContext) {
    const at = `${path}.securityContext`;
    errors.push(...validateIds(spec.securityContext, at));
    errors.push(...validateSysctls(spec.securityContext.sysctls ?? [], `${at}.sysctls`));
    const changePolicy = spec.securityContext.fsGroupChangePolicy;
    errors.push(...validateEnum(changePolicy, ['Always', 'OnRootMismatch'], `${at}.fsGroupChangePolicy`));
  }
  errors.push(...validateHostNames(spec, path));
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647)) {
    errors.push(fieldError.invalid(`${path}.activeDeadlineSeconds`, deadline, rangeText(1, 2147483647)));
  }
  if (spec.tolerations) errors.push(...validateTolerations(spec.tolerations, `${path}.tolerations`));
  for (const [index, alias] of (spec.hostAliases ?? []).entries()) {
    const at = `${path}.hostAliases[${index}]`;
    errors.push(...invalid(`${at}.ip`, alias.ip ?? '', checkIp(alias.ip ?? '')));
    for (const [position, name] of (alias.hostnames ?? []).entries()) {
      errors.push(...invalid(`${at}.hostnames[${position}]`, name, checkDns1123Subdomain(name)));
    }
  }
  for (const field of ['priorityClassName', 'runtimeClassName', 'serviceAccountName', 'nodeName'] as const) {
    const value = spec[field];
    if (value) errors.push(...invalid(`${path}.${field}`, value, checkDns1123Subdomain(value)));
  }
  if (spec.topologySpreadConstraints) errors.push(...validateSpread(spec, `${path}.topologySpreadConstraints`));
  for (const [index, gate] of (spec.readinessGates ?? []).entries()) {
    const type = gate.conditionType ?? '';
    errors.push(...invalid(`${path}.readinessGates[${index}].conditionType`, type, checkQualifiedName(type)));
  }
  if (spec.affinity) errors.push(...validateAffinity(spec.affinity, `${path}.affinity`));
  errors.push(...validateDnsConfig(spec, `${path}.dnsConfig`));
  if (spec.os) errors.push(...validateRequiredEnum(spec.os.name, ['linux', 'windows'], `${path}.os`));
  return errors;
}

const maxSysctlName = 253;
const sysctlPattern = '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';
const sysctlSegment = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;

function validateSysctls(sysctls: readonly { name?: string }[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, { name = '' }] of sysctls.entries()) {
    const at = `${path}[${index}].name`;
    // Matches segment by segment, because the whole pattern may backtrack for a very long time.
    const isValid = name.length <= maxSysctlName && name.split(/[./]/).every((part) => sysctlSegment.test(part));
    if (name === '') errors.push(fieldError.required(at));
    else if (!isValid) {
      const text = `must have at most ${maxSysctlName} characters and match regex ${sysctlPattern}`;
      errors.push(fieldError.invalid(at, name, text));
    } else if (names.has(name)) errors.push(fieldError.duplicate(at, name));
    names.add(name);
  }
  return errors;
}

function validateHostNames(spec: PodSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['hostname', 'subdomain'] as const) {
    const value = spec[field];
    if (value) errors.push(...invalid(`${path}.${field}`, value, checkDns1123Label(value)));
  }
  return errors;
}

function validateDnsConfig(spec: PodSpec, path: string): FieldError[] {
  const servers = spec.dnsConfig?.nameservers ?? [];
  const errors: FieldError[] = [];
  if (spec.dnsPolicy === 'None') {
    if (!spec.dnsConfig) {
      errors.push(fieldError.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'));
    } else if (servers.length === 0) {
      errors.push(
        fieldError.required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
      );
    }
  }
  if (servers.length > 3) {
    errors.push(fieldError.invalid(`${path}.nameservers`, servers, 'must not have more than 3 nameservers'));
  }
  for (const [index, server] of servers.entries()) {
    errors.push(...invalid(`${path}.nameservers[${index}]`, server, checkIp(server)));
  }
  return errors;
}

function validateSpread(spec: PodSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, constraint] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = `${path}[${index}]`;
    if (!(constraint.maxSkew > 0)) {
      errors.push(fieldError.invalid(`${at}.maxSkew`, constraint.maxSkew ?? 0, 'must be greater than zero'));
    }
    errors.push(...validateRequiredText(constraint.topologyKey, `${at}.topologyKey`, 'can not be empty'));
    errors.push(
      ...validateEnum(
        constraint.whenUnsatisfiable ?? '',
        ['DoNotSchedule', 'ScheduleAnyway'],
        `${at}.whenUnsatisfiable`,
      ),
    );
    errors.push(...validateLabelSelector(constraint.labelSelector, `${at}.labelSelector`));
  }
  return errors;
}

export function validateTolerations(tolerations: readonly Toleration[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, toleration] of tolerations.entries()) {
    const at = `${path}[${index}]`;
    const { key = '', operator = '', value = '', effect = '' } = toleration;
    if (key !== '') errors.push(...invalid(`${at}.key`, key, checkQualifiedName(key)));
    if (key === '' && operator !== 'Exists') {
      const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(fieldError.invalid(`${at}.operator`, operator, text));
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const text = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.push(fieldError.invalid(`${at}.effect`, effect, text));
    }
    if (operator === 'Exists') {
      if (value !== '') {
        errors.push(fieldError.invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
      }
    } else if (operator !== '' && operator !== 'Equal') {
      errors.push(notSupported(`${at}.operator`, operator, ['Equal', 'Exists']));
    }
    if (effect !== '' && !['NoSchedule', 'PreferNoSchedule', 'NoExecute'].includes(effect)) {
      errors.push(notSupported(`${at}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']));
    }
  }
  return errors;
}

function validateVolumes(volumes: readonly Volume[], valid: Set<string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    const found = validateVolumeSource(volume, at);
    if (!volume.name) found.push(fieldError.required(`${at}.name`));
    else found.push(...invalid(`${at}.name`, volume.name, checkDns1123Label(volume.name)));
    if (valid.has(volume.name)) found.push(fieldError.duplicate(`${at}.name`, volume.name));
    // Like upstream, a mount of an invalid volume is reported as a mount of a missing one.
    if (found.length === 0) valid.add(volume.name);
    else errors.push(...found);
  }
  return errors;
}

function validateVolumeSource(volume: Volume, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let sources = 0;
  for (const key in volume) {
    if (key === 'name' || volume[key] === undefined) continue;
    if (sources++ > 0) errors.push(fieldError.forbidden(`${path}.${key}`, 'may not specify more than 1 volume type'));
  }
  if (errors.length > 0) return errors;
  if (sources === 0) return [fieldError.required(path, 'must specify a volume type')];
  const { hostPath, secret, configMap, persistentVolumeClaim, downwardAPI, projected, csi, nfs } = volume;
  if (hostPath) {
    errors.push(...validateRequiredText(hostPath.path, `${path}.hostPath.path`));
    if (hostPath.path?.split('/').includes('..')) {
      errors.push(fieldError.invalid(`${path}.hostPath.path`, hostPath.path, "must not contain '..'"));
    }
    if (hostPath.path) errors.push(...validateEnum(hostPath.type, hostPathTypes, `${path}.hostPath.type`));
  }
  if (secret) {
    errors.push(...validateRequiredText(secret.secretName, `${path}.secret.secretName`));
    errors.push(...validateFiles(secret, `${path}.secret`));
  }
  if (configMap) {
    errors.push(...validateRequiredText(configMap.name, `${path}.configMap.name`));
    errors.push(...validateFiles(configMap, `${path}.configMap`));
  }
  if (persistentVolumeClaim) {
    errors.push(...validateRequiredText(persistentVolumeClaim.claimName, `${path}.persistentVolumeClaim.claimName`));
  }
  if (downwardAPI) errors.push(...validateDownwardFiles(downwardAPI, `${path}.downwardAPI`));
  if (projected) errors.push(...validateProjected(volume, `${path}.projected`));
  if (csi) errors.push(...validateRequiredText(csi.driver, `${path}.csi.driver`));
  if (nfs) {
    errors.push(...validateRequiredText(nfs.server, `${path}.nfs.server`));
    errors.push(...validateRequiredText(nfs.path, `${path}.nfs.path`));
    if (nfs.path && !nfs.path.startsWith('/')) {
      errors.push(fieldError.invalid(`${path}.nfs.path`, nfs.path, 'must be an absolute path'));
    }
  }
  return errors;
}

function validateMode(mode: number | undefined, path: string): FieldError[] {
  return mode !== undefined && (mode < 0 || mode > 0o777) ? [fieldError.invalid(path, mode, fileModeText)] : [];
}

function validateFiles(source: { items?: KeyToPath[]; defaultMode?: number }, path: string): FieldError[] {
  const errors = validateMode(source.defaultMode, `${path}.defaultMode`);
  for (const [index, item] of (source.items ?? []).entries()) {
    const at = `${path}.items[${index}]`;
    errors.push(...validateRequiredText(item.key, `${at}.key`));
    errors.push(...validateRequiredText(item.path, `${at}.path`));
    errors.push(...validateFilePath(item.path ?? '', `${at}.path`));
    errors.push(...validateMode(item.mode, `${at}.mode`));
  }
  return errors;
}

function validateFilePath(path: string, field: string): FieldError[] {
  const errors = validateDescendingPath(path, field);
  if (path.startsWith('..') && !path.startsWith('../') && path !== '..') {
    errors.push(fieldError.invalid(field, path, "must not start with '..'"));
  }
  return errors;
}

function validateDownwardFiles(
  source: { items?: DownwardApiFile[]; defaultMode?: number },
  path: string,
): FieldError[] {
  const errors = validateMode(source.defaultMode, `${path}.defaultMode`);
  // Upstream reports the path of the volume, not of the item.
  const at = path;
  for (const item of source.items ?? []) {
    errors.push(...validateRequiredText(item.path, `${at}.path`));
    errors.push(...validateFilePath(item.path ?? '', `${at}.path`));
    if (item.fieldRef) {
      errors.push(...validateFieldRef(item.fieldRef, fileFieldPaths, `${at}.fieldRef`));
      if (item.resourceFieldRef) {
        errors.push(
          fieldError.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'),
        );
      }
    } else if (item.resourceFieldRef) {
      errors.push(
        ...validateResourceFieldRef(item.resourceFieldRef, `${at}.resourceFieldRef`, { containerRequired: true }),
      );
    } else errors.push(fieldError.required(at, 'one of fieldRef and resourceFieldRef is required'));
    errors.push(...validateMode(item.mode, `${at}.mode`));
  }
  return errors;
}

function validateProjected(volume: Volume, path: string): FieldError[] {
  const { defaultMode, sources = [] } = volume.projected ?? {};
  const errors = validateMode(defaultMode, `${path}.defaultMode`);
  for (const [index, source] of sources.entries()) {
    const at = `${path}.sources[${index}]`;
    for (const type of ['secret', 'configMap'] as const) {
      const projection = source[type];
      if (!projection) continue;
      errors.push(...validateRequiredText(projection.name, `${at}.${type}.name`));
      errors.push(...validateFiles(projection, `${at}.${type}`));
    }
    if (source.downwardAPI) errors.push(...validateDownwardFiles(source.downwardAPI, `${at}.downwardAPI`));
    const token = source.serviceAccountToken;
    if (token) {
      const seconds = token.expirationSeconds ?? 3600;
      if (seconds < 600) {
        const text = 'may not specify a duration less than 10 minutes';
        errors.push(fieldError.invalid(`${at}.serviceAccountToken.expirationSeconds`, seconds, text));
      } else if (seconds > 2 ** 32) {
        const text = 'may not specify a duration larger than 2^32 seconds';
        errors.push(fieldError.invalid(`${at}.serviceAccountToken.expirationSeconds`, seconds, text));
      }
      errors.push(...validateRequiredText(token.path, `${path}.path`));
    }
  }
  return errors;
}

export function validatePodTemplateSpec(template: PodTemplateSpec | undefined, path: string): FieldError[] {
  const metadata: ObjectMeta = template?.metadata ?? {};
  const errors: FieldError[] = [];
  if (metadata.labels) errors.push(...validateLabels(metadata.labels, `${path}.metadata.labels`));
  if (metadata.annotations) errors.push(...validateAnnotations(metadata.annotations, `${path}.metadata.annotations`));
  const grace = template?.spec?.terminationGracePeriodSeconds;
  errors.push(...validateNonNegative(grace, `${path}.spec.terminationGracePeriodSeconds`));
  errors.push(...validatePodSpec(template?.spec, `${path}.spec`));
  if ((template?.spec?.ephemeralContainers ?? []).length > 0) {
    errors.push(
      fieldError.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'),
    );
  }
  return errors;
}
