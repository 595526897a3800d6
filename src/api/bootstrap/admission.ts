import { type FieldError, fieldError, type ResourceStrategy } from '../../machinery/index.ts';
import { validateTemplateMetadata } from '../cluster/validation.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { validateForKubeadm } from './kubeadm-refusals.ts';
import type { KubeadmConfig, KubeadmConfigSpec, KubeadmConfigTemplate } from './types.ts';

export const kubeadmConfigStrategy: ResourceStrategy<KubeadmConfig> = validateChangedSpec<KubeadmConfig>((object) =>
  validateKubeadmConfigSpec(object.spec, 'spec'),
);

export const kubeadmConfigTemplateStrategy: ResourceStrategy<KubeadmConfigTemplate> =
  validateChangedSpec<KubeadmConfigTemplate>((object) => validateTemplate(object));

function validateTemplate({ spec }: KubeadmConfigTemplate): FieldError[] {
  const { metadata, spec: config } = spec?.template ?? {};
  return [
    ...validateKubeadmConfigSpec(config, 'spec.template.spec'),
    ...validateTemplateMetadata(metadata, 'spec.template.metadata'),
  ];
}

/** Checks what upstream's webhook refuses beyond the schema, and what kubeadm would refuse on the machine. */
export function validateKubeadmConfigSpec(spec: KubeadmConfigSpec | undefined, path: string): FieldError[] {
  if (spec === undefined) return [];
  return [
    ...validateFiles(spec, path),
    ...validateUsers(spec, path),
    ...validateIgnition(spec, path),
    ...validateDiskSetup(spec, path),
    ...validateForKubeadm(spec, path),
  ];
}

/**
 * A control plane machine uses the same configuration for init and join. v1beta1 has only one timeout field for both,
 * so the two values must be equal.
 */
export function validateControlPlaneTimeouts(spec: KubeadmConfigSpec | undefined, path: string): FieldError[] {
  const name = 'controlPlaneComponentHealthCheckSeconds';
  const init = String(spec?.initConfiguration?.timeouts?.[name] ?? 'unset');
  const join = String(spec?.joinConfiguration?.timeouts?.[name] ?? 'unset');
  if (init === join) return [];
  const problem = `${name} must be set to the same value both in initConfiguration.timeouts (${init}) and in joinConfiguration.timeouts (${join})`;
  return [
    fieldError.invalid(`${path}.initConfiguration.timeouts.${name}`, init, problem),
    fieldError.invalid(`${path}.joinConfiguration.timeouts.${name}`, join, problem),
  ];
}

function validateFiles({ files }: KubeadmConfigSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const known = new Set<string>();
  files?.forEach((file, i) => {
    if (file.content !== undefined && file.contentFrom !== undefined) {
      const problem = 'only one of content or contentFrom may be specified for a single file';
      errors.push(fieldError.invalid(`${path}.files[${i}]`, file, problem));
    }
    if (known.has(file.path) && file.append !== true) {
      const problem = 'path property must be unique among all files';
      errors.push(fieldError.invalid(`${path}.files[${i}].path`, file.path, problem));
    }
    known.add(file.path);
  });
  return errors;
}

function validateUsers({ users }: KubeadmConfigSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  users?.forEach((user, i) => {
    if (user.passwd === undefined || user.passwdFrom === undefined) return;
    const problem = 'only one of passwd or passwdFrom may be specified for a single user';
    errors.push(fieldError.invalid(`${path}.users[${i}]`, { name: user.name }, problem));
  });
  return errors;
}

const notWithIgnition = 'not supported when spec.format is set to: "ignition"';

function validateIgnition(spec: KubeadmConfigSpec, path: string): FieldError[] {
  if (spec.format !== 'ignition') {
    return spec.ignition === undefined
      ? []
      : [fieldError.invalid(`${path}.format`, spec.format ?? '', 'must be set to "ignition" if spec.ignition is set')];
  }
  const errors: FieldError[] = [];
  const forbid = (field: string): number => errors.push(fieldError.forbidden(`${path}.${field}`, notWithIgnition));
  spec.users?.forEach(({ inactive }, i) => {
    if (inactive === true) forbid(`users[${i}].inactive`);
  });
  spec.files?.forEach(({ encoding }, i) => {
    if (encoding === 'gzip' || encoding === 'gzip+base64') forbid(`files[${i}].encoding`);
  });
  if (spec.bootCommands !== undefined) forbid('bootCommands');
  spec.diskSetup?.partitions?.forEach(({ tableType }, i) => {
    if (tableType === undefined || tableType === 'gpt') return;
    const problem = 'only partition type "gpt" is supported when spec.format is set to "ignition"';
    errors.push(fieldError.invalid(`${path}.diskSetup.partitions[${i}].tableType`, tableType, problem));
  });
  spec.diskSetup?.filesystems?.forEach(({ replaceFS, partition }, i) => {
    if (replaceFS !== undefined) forbid(`diskSetup.filesystems[${i}].replaceFS`);
    if (partition !== undefined) forbid(`diskSetup.filesystems[${i}].partition`);
  });
  return errors;
}

function validateDiskSetup({ diskSetup }: KubeadmConfigSpec, path: string): FieldError[] {
  const errors: FieldError[] = [];
  diskSetup?.partitions?.forEach(({ diskLayout }, i) => {
    const total = (diskLayout ?? []).reduce((sum, { percentage }) => sum + percentage, 0);
    if (total <= 100) return;
    const problem = 'the sum of all partition percentages must not be greater than 100';
    errors.push(fieldError.invalid(`${path}.diskSetup.partitions[${i}].diskLayout`, total, problem));
  });
  return errors;
}
