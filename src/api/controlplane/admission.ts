import { deepEqual, type FieldError, fieldError, type ResourceStrategy } from '../../machinery/index.ts';
import { validateControlPlaneTimeouts, validateKubeadmConfigSpec } from '../bootstrap/admission.ts';
import { withFormerDefaults } from '../bootstrap/former-defaults.ts';
import type { KubeadmClusterConfiguration } from '../bootstrap/types.ts';
import { topologyDryRunAnnotation } from '../cluster/labels.ts';
import { validateMachineTaints, validateNamingTemplate, validateTemplateMetadata } from '../cluster/validation.ts';
import { parseKubernetesVersion, withLeadingV } from '../cluster/version.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { validateCoreDnsChange, validateImageTags } from './image-tags.ts';
import { keepReplicas, validateReplicas } from './replicas.ts';
import type {
  KubeadmControlPlane,
  KubeadmControlPlaneRollout,
  KubeadmControlPlaneSpec,
  KubeadmControlPlaneTemplate,
  KubeadmControlPlaneTemplateResourceSpec,
} from './types.ts';
import { validateVersionChange } from './version-change.ts';

/** Default lifetime of certificate authorities. */
const defaultAuthorityDays = 3650;

export const kubeadmControlPlaneStrategy: ResourceStrategy<KubeadmControlPlane> = {
  prepareForUpdate: keepReplicas,
  applyDefaults(draft) {
    const { spec } = draft;
    if (spec === undefined) return;
    spec.replicas ??= 1;
    if (spec.version !== undefined) spec.version = withLeadingV(spec.version);
    spec.rollout ??= {};
    spec.rollout.strategy = { ...spec.rollout.strategy, type: 'RollingUpdate' };
    spec.rollout.strategy.rollingUpdate = { maxSurge: 1, ...spec.rollout.strategy.rollingUpdate };
  },
  ...validateChangedSpec<KubeadmControlPlane>((object, old) => validateControlPlane(object, old)),
};

function validateControlPlane(controlPlane: KubeadmControlPlane, old: KubeadmControlPlane | undefined): FieldError[] {
  const { spec } = controlPlane;
  // The schema already reports missing fields.
  if (spec?.machineTemplate?.spec === undefined) return [];
  const configPath = 'spec.kubeadmConfigSpec';
  const clusterPath = `${configPath}.clusterConfiguration`;
  const cluster = spec.kubeadmConfigSpec?.clusterConfiguration;
  const { metadata, spec: machine } = spec.machineTemplate;
  return [
    ...validateReplicas(spec.replicas),
    ...validateStackedReplicas(spec),
    ...validateMachineTaints(machine.taints, 'spec.machineTemplate.spec.taints', 'control plane'),
    ...validateTemplateMetadata(metadata, 'spec.machineTemplate.metadata'),
    ...validateVersion(spec.version),
    ...validateRollout(spec.rollout, spec.replicas, 'spec'),
    ...validateCertificateDays(cluster, spec.rollout, 'spec'),
    ...validateNaming(spec, 'spec'),
    ...(old?.spec === undefined ? [] : validateChange(controlPlane, old, clusterPath)),
    ...validateClusterConfiguration(cluster, clusterPath),
    ...validateKubeadmConfigSpec(spec.kubeadmConfigSpec, configPath),
    ...validateControlPlaneTimeouts(spec.kubeadmConfigSpec, configPath),
  ];
}

function validateStackedReplicas({ replicas = 0, kubeadmConfigSpec }: KubeadmControlPlaneSpec): FieldError[] {
  const isStacked = kubeadmConfigSpec?.clusterConfiguration?.etcd?.external === undefined;
  return isStacked && replicas > 0 && replicas % 2 === 0
    ? [fieldError.forbidden('spec.replicas', 'cannot be an even number when etcd is stacked')]
    : [];
}

function validateVersion(version: string): FieldError[] {
  return parseKubernetesVersion(version ?? '') === undefined
    ? [fieldError.invalid('spec.version', version, 'must be a valid semantic version')]
    : [];
}

function validateRollout(
  rollout: KubeadmControlPlaneRollout | undefined,
  replicas: number | undefined,
  path: string,
): FieldError[] {
  const maxSurge = rollout?.strategy?.rollingUpdate?.maxSurge;
  if (maxSurge === undefined) return [];
  const surge = String(maxSurge);
  const rollingPath = `${path}.rollout.strategy.rollingUpdate`;
  if (surge !== '0' && surge !== '1') return [fieldError.required(`${rollingPath}.maxSurge`, 'value must be 1 or 0')];
  if (surge === '0' && replicas !== undefined && replicas < 3) {
    const problem = 'when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3';
    return [fieldError.required(rollingPath, problem)];
  }
  return [];
}

function validateCertificateDays(
  cluster: KubeadmClusterConfiguration | undefined,
  rollout: KubeadmControlPlaneRollout | undefined,
  path: string,
): FieldError[] {
  const days = cluster?.certificateValidityPeriodDays;
  if (days === undefined) return [];
  const errors: FieldError[] = [];
  const authorityDays = cluster?.caCertificateValidityPeriodDays;
  if (days > (authorityDays ?? defaultAuthorityDays)) {
    const limit =
      authorityDays === undefined
        ? `the default value of caCertificateValidityPeriodDays (${defaultAuthorityDays})`
        : `caCertificateValidityPeriodDays (${authorityDays})`;
    const daysPath = `${path}.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays`;
    errors.push(fieldError.invalid(daysPath, days, `must be less than or equal to ${limit}`));
  }
  const before = rollout?.before?.certificatesExpiryDays;
  if (before !== undefined && before >= days) {
    const problem = `must be less than certificateValidityPeriodDays (${days})`;
    errors.push(fieldError.invalid(`${path}.rollout.before.certificatesExpiryDays`, before, problem));
  }
  return errors;
}

function validateNaming({ machineNaming }: Pick<KubeadmControlPlaneSpec, 'machineNaming'>, path: string): FieldError[] {
  return validateNamingTemplate(machineNaming?.template, `${path}.machineNaming.template`, {
    '.cluster.name': 'cluster',
    '.kubeadmControlPlane.name': 'kubeadmcontrolplane',
  });
}

function validateClusterConfiguration(cluster: KubeadmClusterConfiguration | undefined, path: string): FieldError[] {
  const errors = validateImageTags(cluster, path);
  if (cluster?.etcd?.local !== undefined && cluster.etcd.external !== undefined) {
    errors.push(fieldError.forbidden(`${path}.etcd.local`, 'cannot have both external and local etcd'));
  }
  return errors;
}

/** Existing machines, certificates and the endpoint depend on these fields. */
const fixedFields = ['controlPlaneEndpoint', 'certificatesDir', 'caCertificateValidityPeriodDays'] as const;

function validateChange(controlPlane: KubeadmControlPlane, old: KubeadmControlPlane, path: string): FieldError[] {
  const cluster = controlPlane.spec.kubeadmConfigSpec?.clusterConfiguration;
  const before = old.spec.kubeadmConfigSpec?.clusterConfiguration;
  const errors = fixedFields
    .filter((name) => cluster?.[name] !== before?.[name])
    .map((name) => fieldError.forbidden(`${path}.${name}`, 'cannot be modified'));
  errors.push(...validateVersionChange(controlPlane.spec.version, old));
  if ((cluster?.etcd?.external === undefined) !== (before?.etcd?.external === undefined)) {
    errors.push(fieldError.forbidden(`${path}.etcd.external`, 'cannot change between external and local etcd'));
  }
  errors.push(...validateCoreDnsChange(cluster, before, controlPlane.metadata, path));
  return errors;
}

export const kubeadmControlPlaneTemplateStrategy: ResourceStrategy<KubeadmControlPlaneTemplate> = {
  validateCreate: (object) => validateTemplate(object),
  validateUpdate(object, old, { dryRun }) {
    // The topology controller compares objects by dry-run server-side apply, so its dry-run requests may change every
    // field.
    if (dryRun === true && object.metadata.annotations?.[topologyDryRunAnnotation] !== undefined) return [];
    const { spec } = object;
    const before = old.spec;
    if (deepEqual(comparable(spec?.template?.spec), comparable(before?.template?.spec))) return [];
    const problem =
      'KubeadmControlPlaneTemplate spec.template.spec field is immutable. Please create new resource instead.';
    return [fieldError.invalid('spec.template.spec', spec?.template?.spec, problem)];
  },
};

/** Ignores differences in defaults that older versions wrote into templates. */
function comparable(
  spec: KubeadmControlPlaneTemplateResourceSpec | undefined,
): KubeadmControlPlaneTemplateResourceSpec {
  return {
    ...spec,
    kubeadmConfigSpec: withFormerDefaults(spec?.kubeadmConfigSpec ?? {}),
    rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } }, ...spec?.rollout },
  };
}

function validateTemplate({ spec }: KubeadmControlPlaneTemplate): FieldError[] {
  const { metadata, spec: resource } = spec?.template ?? {};
  const path = 'spec.template.spec';
  const configPath = `${path}.kubeadmConfigSpec`;
  const cluster = resource?.kubeadmConfigSpec?.clusterConfiguration;
  return [
    ...validateRollout(resource?.rollout, undefined, path),
    ...validateCertificateDays(cluster, resource?.rollout, path),
    ...validateNaming(resource ?? {}, path),
    ...validateMachineTaints(
      resource?.machineTemplate?.spec?.taints,
      `${path}.machineTemplate.spec.taints`,
      'control plane',
    ),
    ...validateTemplateMetadata(resource?.machineTemplate?.metadata, `${path}.machineTemplate.metadata`),
    ...validateClusterConfiguration(cluster, `${configPath}.clusterConfiguration`),
    ...validateKubeadmConfigSpec(resource?.kubeadmConfigSpec, configPath),
    ...validateControlPlaneTimeouts(resource?.kubeadmConfigSpec, configPath),
    ...validateTemplateMetadata(metadata, 'spec.template.metadata'),
  ];
}
