import {
  deepEqual,
  type FieldError,
  fieldError,
  parseDuration,
  parseSchedule,
  type ResourceStrategy,
} from '../../../machinery/index.ts';
import { refuseOtherNamespaces, validateRKE2ConfigSpec } from '../../bootstrap/rke2/admission.ts';
import { topologyDryRunAnnotation } from '../../cluster/labels.ts';
import { validateTemplateMetadata } from '../../cluster/validation.ts';
import { validateChangedSpec } from '../../kind/strategy.ts';
import { restoreAnnotation } from '../group.ts';
import { keepReplicas, validateReplicas } from '../replicas.ts';
import { validateVersionChange } from '../version-change.ts';
import { isSnapshotName } from './annotations.ts';
import type {
  RKE2ControlPlane,
  RKE2ControlPlaneTemplate,
  RKE2ControlPlaneTemplateResourceSpec,
  RKE2ServerConfig,
} from './types.ts';

/** Upstream's default timeout of each step when a machine leaves the cluster. */
const defaultTimeoutSeconds = 10;

const whenSpecChanges = validateChangedSpec<RKE2ControlPlane>((object, old) => validateControlPlane(object, old));

export const rke2ControlPlaneStrategy: ResourceStrategy<RKE2ControlPlane> = {
  prepareForUpdate: keepReplicas,
  applyDefaults(draft) {
    const { spec } = draft;
    if (spec === undefined) return;
    spec.replicas ??= 1;
    spec.rolloutStrategy ??= {};
    spec.rolloutStrategy.type ??= 'RollingUpdate';
    spec.rolloutStrategy.rollingUpdate = { maxSurge: 1, ...spec.rolloutStrategy.rollingUpdate };
    const machine = spec.machineTemplate?.spec;
    if (machine === undefined) return;
    machine.deletion = {
      nodeDrainTimeoutSeconds: defaultTimeoutSeconds,
      nodeVolumeDetachTimeoutSeconds: defaultTimeoutSeconds,
      nodeDeletionTimeoutSeconds: defaultTimeoutSeconds,
      ...machine.deletion,
    };
  },
  validateCreate: (object, context) => [
    ...(whenSpecChanges.validateCreate?.(object, context) ?? []),
    ...validateRestore(object),
  ],
  validateUpdate: (object, old, context) => [
    ...(whenSpecChanges.validateUpdate?.(object, old, context) ?? []),
    ...(requestedSnapshot(object) === requestedSnapshot(old) ? [] : validateRestore(object)),
  ],
  warnings: ({ spec }) => replicaWarnings(spec),
};

/** Upstream accepts an even number, so existing manifests must work. */
function replicaWarnings(spec: RKE2ControlPlane['spec'] | undefined): string[] {
  const { replicas = 1, serverConfig } = spec ?? {};
  if (replicas % 2 === 1 || serverConfig?.externalDatastoreSecret !== undefined) return [];
  return [
    `spec.replicas: etcd with ${replicas} members tolerates no more failures than with ${replicas - 1}; use an odd number`,
  ];
}

const versionPattern = /^v\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?\+rke2r\d+$/;

function validateControlPlane(controlPlane: RKE2ControlPlane, old: RKE2ControlPlane | undefined): FieldError[] {
  const { metadata, spec } = controlPlane;
  // The schema already reports missing fields.
  if (spec?.machineTemplate?.spec === undefined) return [];
  const errors: FieldError[] = [];
  if (!versionPattern.test(spec.version)) {
    errors.push(fieldError.invalid('spec.version', spec.version, 'must be a version of rke2, e.g. v1.34.2+rke2r1'));
  }
  errors.push(...validateReplicas(spec.replicas));
  errors.push(...validateShared(spec, 'spec', metadata.namespace, spec.replicas));
  if (old?.spec !== undefined) errors.push(...validateChange(controlPlane, old));
  return errors;
}

function validateChange({ spec }: RKE2ControlPlane, old: RKE2ControlPlane): FieldError[] {
  const errors = validateVersionChange(spec.version, old);
  const { registrationMethod: before = '' } = old.spec;
  if (before !== '' && spec.registrationMethod !== before) {
    const problem = 'field value is immutable once set';
    errors.push(fieldError.invalid('spec.registrationMethod', spec.registrationMethod ?? '', problem));
  }
  // Existing machines keep their state in either etcd or the external datastore, so the choice is fixed.
  const isOutside = spec.serverConfig?.externalDatastoreSecret !== undefined;
  if (isOutside !== (old.spec.serverConfig?.externalDatastoreSecret !== undefined)) {
    const problem = 'cannot change between the etcd on the machines and another datastore';
    errors.push(fieldError.forbidden('spec.serverConfig.externalDatastoreSecret', problem));
  }
  return errors;
}

function validateShared(
  spec: RKE2ControlPlaneTemplateResourceSpec,
  path: string,
  namespace: string | undefined,
  replicas: number | undefined,
): FieldError[] {
  return [
    ...validateRKE2ConfigSpec(spec, path, namespace),
    ...validateTemplateMetadata(spec.machineTemplate?.metadata, `${path}.machineTemplate.metadata`),
    ...validateRollout(spec, path, replicas),
    ...validateRemediation(spec, path),
    ...validateRegistration(spec, path),
    ...validateServer(spec.serverConfig ?? {}, `${path}.serverConfig`, namespace),
    ...refuseOtherNamespaces([[`${path}.manifestsConfigMapReference`, spec.manifestsConfigMapReference]], namespace),
  ];
}

function validateRollout(
  { rolloutStrategy }: RKE2ControlPlaneTemplateResourceSpec,
  path: string,
  replicas: number | undefined,
): FieldError[] {
  const at = `${path}.rolloutStrategy`;
  const { type, rollingUpdate } = rolloutStrategy ?? {};
  if (type !== undefined && type !== '' && type !== 'RollingUpdate') {
    return [fieldError.notSupported(`${at}.type`, type, ['RollingUpdate'])];
  }
  const surge = rollingUpdate?.maxSurge;
  if (surge === undefined) return [];
  if (String(surge) !== '0' && String(surge) !== '1') {
    return [fieldError.invalid(`${at}.rollingUpdate.maxSurge`, surge, 'must be 0 or 1')];
  }
  return String(surge) === '0' && replicas !== undefined && replicas < 3
    ? [fieldError.invalid(`${at}.rollingUpdate.maxSurge`, surge, 'can be 0 only with at least 3 replicas')]
    : [];
}

function validateRemediation(
  { remediationStrategy }: RKE2ControlPlaneTemplateResourceSpec,
  path: string,
): FieldError[] {
  return (['minHealthyPeriod', 'retryPeriod'] as const).flatMap((name) => {
    const value = remediationStrategy?.[name];
    if (value === undefined || parseDuration(value) !== undefined) return [];
    return [fieldError.invalid(`${path}.remediationStrategy.${name}`, value, 'must be a duration like 5m')];
  });
}

function validateRegistration(
  { registrationMethod, registrationAddress }: RKE2ControlPlaneTemplateResourceSpec,
  path: string,
): FieldError[] {
  if (registrationMethod !== 'address' || (registrationAddress ?? '') !== '') return [];
  const problem = "registrationAddress must be supplied when using registration method 'address'";
  return [fieldError.invalid(`${path}.registrationAddress`, registrationAddress ?? '', problem)];
}

const requestedSnapshot = ({ metadata }: RKE2ControlPlane): string => metadata.annotations?.[restoreAnnotation] ?? '';

/** A restore starts on a new machine, which gets the snapshot from the object store. */
function validateRestore(controlPlane: RKE2ControlPlane): FieldError[] {
  const snapshot = requestedSnapshot(controlPlane);
  const { serverConfig } = controlPlane.spec ?? {};
  if (snapshot === '') return [];
  const path = `metadata.annotations[${restoreAnnotation}]`;
  if (!isSnapshotName(snapshot)) {
    const problem = 'must be the name of a snapshot without its directory, such as etcd-snapshot-server-1-1700000000';
    return [fieldError.invalid(path, snapshot, problem)];
  }
  if (serverConfig?.etcd?.backupConfig?.s3 !== undefined) return [];
  const problem = 'needs spec.serverConfig.etcd.backupConfig.s3: a new server has no snapshots of its own';
  return [fieldError.forbidden(path, problem)];
}

function validateServer(server: RKE2ServerConfig, path: string, namespace: string | undefined): FieldError[] {
  const errors: FieldError[] = [];
  if (server.cniMultusEnable === true && server.cni === undefined) {
    errors.push(fieldError.invalid(`${path}.cni`, '', 'must be specified when cniMultusEnable is true'));
  }
  const { backupConfig } = server.etcd ?? {};
  const at = `${path}.etcd.backupConfig`;
  const { retention, scheduleCron } = backupConfig ?? {};
  if (retention !== undefined && retention !== '' && !/^\d+$/.test(retention)) {
    errors.push(fieldError.invalid(`${at}.retention`, retention, 'must be a number'));
  }
  const schedule = scheduleCron === undefined || scheduleCron === '' ? undefined : parseSchedule(scheduleCron);
  if (typeof schedule === 'string') {
    const problem = `must be a schedule like "0 */12 * * *": ${schedule}`;
    errors.push(fieldError.invalid(`${at}.scheduleCron`, scheduleCron, problem));
  }
  const references = [
    [`${path}.auditPolicySecret`, server.auditPolicySecret],
    [`${path}.cloudProviderConfigMap`, server.cloudProviderConfigMap],
    [`${path}.externalDatastoreSecret`, server.externalDatastoreSecret],
    [`${path}.secretsEncryption.encryptionKeySecret`, server.secretsEncryption?.encryptionKeySecret],
    [`${at}.s3.endpointCAsecret`, backupConfig?.s3?.endpointCAsecret],
    [`${at}.s3.s3CredentialSecret`, backupConfig?.s3?.s3CredentialSecret],
  ] as const;
  return [...errors, ...refuseOtherNamespaces(references, namespace)];
}

export const rke2ControlPlaneTemplateStrategy: ResourceStrategy<RKE2ControlPlaneTemplate> = {
  validateCreate: (object) => validateTemplate(object),
  validateUpdate(object, old, { dryRun }) {
    // The topology controller compares objects by dry-run server-side apply, so its dry-run requests may change every
    // field.
    if (dryRun === true && object.metadata.annotations?.[topologyDryRunAnnotation] !== undefined) return [];
    const { spec } = object;
    if (deepEqual(spec?.template?.spec, old.spec?.template?.spec)) return [];
    const problem =
      'RKE2ControlPlaneTemplate spec.template.spec field is immutable. Please create new resource instead.';
    return [fieldError.invalid('spec.template.spec', spec?.template?.spec, problem)];
  },
};

function validateTemplate({ metadata, spec }: RKE2ControlPlaneTemplate): FieldError[] {
  const { template } = spec ?? {};
  if (template?.spec === undefined) return [];
  return [
    ...validateShared(template.spec, 'spec.template.spec', metadata.namespace, undefined),
    ...validateTemplateMetadata(template.metadata, 'spec.template.metadata'),
  ];
}
