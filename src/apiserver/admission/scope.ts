import type { AdmissionOperation, AdmissionRequest, AdmissionStep } from './types.ts';

type Scope = Required<Pick<AdmissionStep, 'concerns' | 'operations' | 'appliesTo'>>;

/** Matches writes of a core kind itself, not of its subresources. */
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
