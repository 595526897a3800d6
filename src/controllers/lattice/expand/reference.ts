import type { ContractReference } from '../../../api/index.ts';
import type { ExpandedObject } from './naming.ts';

export function referenceTo({ resource: { group, kind }, object }: ExpandedObject): ContractReference {
  return { apiGroup: group, kind, name: object.metadata.name ?? '' };
}
