import type { ReferenceGrant } from './types.ts';

/** One object naming another one, which may be in another namespace. */
export interface CrossReference {
  readonly from: { readonly group: string; readonly kind: string; readonly namespace: string };
  readonly to: { readonly group: string; readonly kind: string; readonly namespace: string; readonly name: string };
}

/** Whether a grant, which counts for objects of its own namespace only, lets one object name another. */
export function grantsReference({ metadata, spec }: ReferenceGrant, { from, to }: CrossReference): boolean {
  return (
    metadata.namespace === to.namespace &&
    spec.from.some((one) => one.group === from.group && one.kind === from.kind && one.namespace === from.namespace) &&
    spec.to.some(
      (one) => one.group === to.group && one.kind === to.kind && (one.name === undefined || one.name === to.name),
    )
  );
}
