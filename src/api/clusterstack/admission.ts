import {
  checkDns1123Subdomain,
  type FieldError,
  fieldError,
  parseApiVersion,
  type ResourceStrategy,
} from '../../machinery/index.ts';
import { stackInfrastructureGroup } from './group.ts';
import { familyName, inChannel, parseStackId, parseStackVersion, releaseNameOf } from './stack-id.ts';
import type { ClusterAddon, ClusterStack, ClusterStackSpec } from './types.ts';

// Validates without reading other objects. Whether a stack is in use is checked at admission.

export const clusterStackStrategy: ResourceStrategy<ClusterStack> = {
  validateCreate: (object) => validateStack(object),
  validateUpdate: (object, old) => [...validateStack(object), ...fixedFields(object.spec, old.spec)],
  warnings: ({ spec }) => (spec === undefined ? [] : otherChannels(spec)),
};

function validateStack({ metadata: { namespace }, spec }: ClusterStack): FieldError[] {
  if (spec === undefined) return [fieldError.required('spec', 'says which stack it is')];
  // The schema already reports missing fields.
  if (spec.name === undefined || spec.provider === undefined || spec.kubernetesVersion === undefined) return [];
  const errors: FieldError[] = [];
  if (spec.provider.includes('-')) {
    errors.push(fieldError.invalid('spec.provider', spec.provider, 'must have no dash: it is the first part of ids'));
  }
  const family = familyName(spec);
  for (const problem of checkDns1123Subdomain(`${family}-v1`)) {
    errors.push(fieldError.invalid('spec.name', spec.name, `makes no valid name of a release: ${problem}`));
  }
  for (const [i, text] of (spec.versions ?? []).entries()) {
    const path = `spec.versions[${i}]`;
    const version = parseStackVersion(text);
    if (version === undefined) {
      errors.push(fieldError.invalid(path, text, 'must look like v1, or v0-sha.abc in the channel custom'));
    } else {
      const name = releaseNameOf({ ...spec, version });
      const problem = checkDns1123Subdomain(name)[0];
      if (problem !== undefined) errors.push(fieldError.invalid(path, text, `makes no valid name: ${problem}`));
    }
  }
  if (spec.providerRef === undefined && spec.noProvider !== true) {
    errors.push(fieldError.required('spec.providerRef', 'is needed unless spec.noProvider is true'));
  }
  const { providerRef } = spec;
  if (providerRef !== undefined) {
    const { group } = parseApiVersion(providerRef.apiVersion ?? '');
    // The controller creates objects from these references, so only kinds of cluster stacks are allowed.
    if (group !== stackInfrastructureGroup) {
      const problem = `must be a version of ${stackInfrastructureGroup}`;
      errors.push(fieldError.invalid('spec.providerRef.apiVersion', providerRef.apiVersion, problem));
    }
    if (!/.Template$/.test(providerRef.kind ?? '')) {
      errors.push(fieldError.invalid('spec.providerRef.kind', providerRef.kind, 'must end in Template'));
    }
    if (providerRef.namespace && providerRef.namespace !== namespace) {
      const problem = 'must be the namespace of the ClusterStack';
      errors.push(fieldError.invalid('spec.providerRef.namespace', providerRef.namespace, problem));
    }
    if (!providerRef.name) errors.push(fieldError.required('spec.providerRef.name', 'names the template'));
  }
  return errors;
}

/** A version of another channel is kept because the spec lists it, but it is never upgraded automatically. */
function otherChannels({ versions = [], channel = 'stable' }: ClusterStackSpec): string[] {
  return versions.flatMap((text, i) => {
    const version = parseStackVersion(text);
    if (version === undefined || inChannel(version, channel)) return [];
    return [`spec.versions[${i}]: ${text} is not of the channel ${channel}`];
  });
}

function fixedFields(spec: ClusterStackSpec | undefined, old: ClusterStackSpec | undefined): FieldError[] {
  // An object without a spec may get one.
  if (spec === undefined || old === undefined) return [];
  const errors: FieldError[] = [];
  for (const name of ['provider', 'name', 'kubernetesVersion', 'channel'] as const) {
    if (spec[name] !== old[name]) errors.push(fieldError.invalid(`spec.${name}`, spec[name], 'field is immutable'));
  }
  return errors;
}

export const clusterAddonStrategy: ResourceStrategy<ClusterAddon> = {
  validateCreate: (object) => validateAddon(object),
  validateUpdate: (object, old) => {
    const errors = validateAddon(object);
    for (const name of ['kind', 'name'] as const) {
      const value = object.spec?.clusterRef?.[name];
      if (value !== old.spec?.clusterRef?.[name]) {
        errors.push(fieldError.invalid(`spec.clusterRef.${name}`, value, 'field is immutable'));
      }
    }
    return errors;
  },
};

function validateAddon({ metadata, spec }: ClusterAddon): FieldError[] {
  if (spec === undefined) return [fieldError.required('spec', 'names the Cluster')];
  const { clusterRef, clusterStack } = spec;
  if (clusterRef === undefined) return [];
  const errors: FieldError[] = [];
  if (clusterRef.kind !== 'Cluster') {
    errors.push(fieldError.invalid('spec.clusterRef.kind', clusterRef.kind, 'must be Cluster'));
  }
  if (!clusterRef.name) errors.push(fieldError.required('spec.clusterRef.name', 'names the Cluster'));
  if (clusterRef.namespace !== metadata.namespace) {
    errors.push(
      fieldError.invalid('spec.clusterRef.namespace', clusterRef.namespace, 'must be the namespace of this object'),
    );
  }
  if (clusterStack && parseStackId(clusterStack) === undefined) {
    errors.push(fieldError.invalid('spec.clusterStack', clusterStack, 'is no id of a release'));
  }
  return errors;
}
