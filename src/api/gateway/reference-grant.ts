import type { ReferenceGrant } from './types.ts';

/** A reference from one object to another, possibly in another namespace. */
export interface CrossReference {
  readonly from: { readonly group: string; readonly kind: string; readonly namespace: string };
  readonly to: { readonly group: string; readonly kind: string; readonly namespace: string; readonly name: string };
}

/** Tells whether a grant allows a reference. A grant applies to targets in its own namespace only. */
export function grantsReference({ metadata, spec }: ReferenceGrant, { from, to }: CrossReference): boolean {
  return (
    metadata.namespace === to.namespace &&
    spec.from.some((one) => one.group === from.group && one.kind === from.kind && one.namespace === from.namespace) &&
    spec.to.some(
      (one) => one.group === to.group && one.kind === to.kind && (one.name === undefined || one.name === to.name),
    )
  );
}
