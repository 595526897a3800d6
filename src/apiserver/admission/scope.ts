import type { AdmissionOperation, AdmissionRequest, AdmissionStep } from './types.ts';

type Scope = Required<Pick<AdmissionStep, 'concerns' | 'operations' | 'appliesTo'>>;

/** Writes of the objects of one core kind themselves, not through a subresource. */
export function coreWrites(plural: string, operations: readonly AdmissionOperation[]): Scope {
  return {
    concerns: (definition) => definition.group === '' && definition.plural === plural,
    operations,
    appliesTo: isMainResource,
  };
}

function isMainResource({ subresource }: AdmissionRequest): boolean {
  return subresource === undefined;
}
