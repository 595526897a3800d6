import { type FieldError, fieldError, type ResourceStrategy } from '../../../machinery/index.ts';
import { parseK0sVersion } from '../../common/k0s-version.ts';
import { validateChangedSpec } from '../../kind/strategy.ts';
import type {
  K0sFile,
  K0sProvisioner,
  K0sWorkerConfig,
  K0sWorkerConfigSpec,
  K0sWorkerConfigTemplate,
} from './types.ts';

export const k0sWorkerConfigStrategy: ResourceStrategy<K0sWorkerConfig> = {
  ...validateChangedSpec<K0sWorkerConfig>((object) => validateSpec(object.spec ?? {}, 'spec')),
};

export const k0sWorkerConfigTemplateStrategy: ResourceStrategy<K0sWorkerConfigTemplate> = {
  ...validateChangedSpec<K0sWorkerConfigTemplate>((object) => {
    const { spec } = object;
    return validateSpec(spec?.template?.spec ?? {}, 'spec.template.spec');
  }),
};

function validateSpec(spec: K0sWorkerConfigSpec, path: string): FieldError[] {
  return [
    ...validateVersion(spec.version, `${path}.version`),
    ...validateFiles(spec.files, `${path}.files`),
    ...validateProvisioner(spec.provisioner, `${path}.provisioner`),
    ...validateDownload(spec, path),
  ];
}

/** Accepts every spelling of a version, including the `-k0s.` of image tags, which upstream refuses for workers. */
function validateVersion(version: string | undefined, path: string): FieldError[] {
  if (version === undefined || version === '' || parseK0sVersion(version) !== undefined) return [];
  return [fieldError.invalid(path, version, 'must be a version of k0s, e.g. v1.32.6+k0s.0')];
}

const permissionsPattern = /^0?[0-7]{3,4}$/;

function validateFiles(files: readonly K0sFile[] | undefined, path: string): FieldError[] {
  const seen = new Set<string>();
  return (files ?? []).flatMap((file, i) => {
    const at = `${path}[${i}]`;
    const errors = validateContent(file, at);
    if (file.path === undefined || file.path === '') return [...errors, fieldError.required(`${at}.path`)];
    if (!file.path.startsWith('/'))
      errors.push(fieldError.invalid(`${at}.path`, file.path, 'must be an absolute path'));
    if (seen.has(file.path)) errors.push(fieldError.duplicate(`${at}.path`, file.path));
    seen.add(file.path);
    if (file.permissions !== undefined && file.permissions !== '' && !permissionsPattern.test(file.permissions)) {
      errors.push(fieldError.invalid(`${at}.permissions`, file.permissions, 'must be a mode in octal, e.g. 0644'));
    }
    return errors;
  });
}

function validateContent({ content, contentFrom }: K0sFile, path: string): FieldError[] {
  if (contentFrom === undefined) return [];
  if (content !== undefined && content !== '') {
    return [fieldError.forbidden(`${path}.contentFrom`, 'cannot be used together with content')];
  }
  const sources = [contentFrom.secretRef, contentFrom.configMapRef].filter((source) => source !== undefined);
  return sources.length === 1
    ? []
    : [fieldError.invalid(`${path}.contentFrom`, contentFrom, 'must name either a secretRef or a configMapRef')];
}

function validateProvisioner(provisioner: K0sProvisioner | undefined, path: string): FieldError[] {
  if (provisioner === undefined) return [];
  const { type = 'cloud-config', platform = 'linux', ignition } = provisioner;
  const isPowershell = type === 'powershell' || type === 'powershell-xml';
  const errors: FieldError[] = [];
  if (isPowershell !== (platform === 'windows')) {
    errors.push(fieldError.invalid(`${path}.type`, type, `cannot be used on ${platform}`));
  }
  if (type === 'ignition' && ignition === undefined) {
    errors.push(
      fieldError.required(`${path}.ignition`, 'with type ignition, variant and version of the configuration'),
    );
  }
  if (type !== 'ignition' && ignition !== undefined) {
    errors.push(fieldError.forbidden(`${path}.ignition`, `cannot be used with type ${type}`));
  }
  return errors;
}

function validateDownload({ downloadURL, preInstalledK0s }: K0sWorkerConfigSpec, path: string): FieldError[] {
  if (downloadURL === undefined || downloadURL === '' || preInstalledK0s === true) return [];
  return /^(https?|oci):\/\/[^\s/]+/.test(downloadURL)
    ? []
    : [
        fieldError.invalid(
          `${path}.downloadURL`,
          downloadURL,
          'must be a URL that begins with https://, http:// or oci://',
        ),
      ];
}
