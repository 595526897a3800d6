import { type ClusterClass, type TemplateReference, validateMachineGroup } from '../../../api/index.ts';
import {
  checkDns1123Subdomain,
  compareKubernetesVersions,
  errorMessage,
  type FieldError,
  fieldError,
  parseKubernetesVersion,
} from '../../../machinery/index.ts';
import { nameFrom } from '../desired/names.ts';
import { validateClassVariables } from '../variables/definitions.ts';
import { validatePatches } from './patch-rules.ts';

export const noPools = 'OpenStack has no machine pools: write machineDeployments instead';

export function validateClass({ spec }: ClusterClass): FieldError[] {
  const { controlPlane, infrastructure, workers } = spec;
  const errors: FieldError[] = [];
  const template = (reference: TemplateReference | undefined, path: string): void => {
    if (reference && !/.Template$/.test(reference.kind)) {
      errors.push(
        fieldError.invalid(`${path}.templateRef.kind`, reference.kind, "template kind must end with 'Template'"),
      );
    }
  };
  const naming = (text: string | undefined, path: string, machineDeployment?: string): void => {
    if (text !== undefined) errors.push(...validateNaming(text, `${path}.naming.template`, machineDeployment));
  };
  template(infrastructure.templateRef, 'spec.infrastructure');
  naming(infrastructure.naming?.template, 'spec.infrastructure');
  template(controlPlane.templateRef, 'spec.controlPlane');
  naming(controlPlane.naming?.template, 'spec.controlPlane');
  template(controlPlane.machineInfrastructure?.templateRef, 'spec.controlPlane.machineInfrastructure');
  if (controlPlane.healthCheck && !controlPlane.machineInfrastructure) {
    const detail = 'can be set only if spec.controlPlane.machineInfrastructure is set';
    errors.push(fieldError.forbidden('spec.controlPlane.healthCheck', detail));
  }
  errors.push(...validateMachineGroup(controlPlane, 'spec.controlPlane', 'control plane'));
  const seen = new Set<string>();
  workers?.machineDeployments?.forEach((worker, i) => {
    const path = `spec.workers.machineDeployments[${i}]`;
    errors.push(...validateMachineGroup(worker, path, 'worker'));
    if (seen.has(worker.class)) {
      const detail = `MachineDeployment class must be unique. MachineDeployment with class "${worker.class}" is defined more than once`;
      errors.push(fieldError.invalid(`${path}.class`, worker.class, detail));
    }
    seen.add(worker.class);
    template(worker.bootstrap.templateRef, `${path}.bootstrap`);
    template(worker.infrastructure.templateRef, `${path}.infrastructure`);
    naming(worker.naming?.template, path, 'md');
  });
  if ((workers?.machinePools ?? []).length > 0) errors.push(fieldError.forbidden('spec.workers.machinePools', noPools));
  errors.push(...validateVersions(spec.kubernetesVersions ?? []));
  errors.push(...validateClassVariables(spec.variables ?? [], 'spec.variables'));
  errors.push(...validatePatches(spec, 'spec.patches'));
  return errors;
}

function validateNaming(text: string, path: string, machineDeployment: string | undefined): FieldError[] {
  try {
    const name = nameFrom(text, {
      cluster: 'cluster',
      random: 'bcdfg',
      ...(machineDeployment !== undefined && { machineDeployment }),
    });
    return checkDns1123Subdomain(name).map((problem) =>
      fieldError.invalid(path, text, `generated names would not be names of Kubernetes objects: ${problem}`),
    );
  } catch (error) {
    return [fieldError.invalid(path, text, errorMessage(error))];
  }
}

function validateVersions(versions: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  let before: ReturnType<typeof parseKubernetesVersion>;
  versions.forEach((text, i) => {
    const path = `spec.kubernetesVersions[${i}]`;
    const version = parseKubernetesVersion(text);
    if (!version) {
      errors.push(fieldError.invalid(path, text, 'must be a version such as v1.34.2'));
      return;
    }
    if (before && compareKubernetesVersions(version, before) <= 0) {
      errors.push(fieldError.invalid(path, text, `must be newer than the version before it, ${versions[i - 1]}`));
    } else if (before && version.minor > before.minor + 1) {
      const detail = `expecting a version of minor ${before.minor} or ${before.minor + 1} after ${versions[i - 1]}: minors cannot be left out`;
      errors.push(fieldError.invalid(path, text, detail));
    }
    before = version;
  });
  return errors;
}
