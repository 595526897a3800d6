import { type ContractReference, OpenStackMachines } from '../../api/index.ts';
import {
  formatApiVersion,
  isJsonObject,
  type JsonObject,
  type OwnerReference,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { at, groupKindOf } from './contract.ts';
import type { ContractKind } from './contract-resolver.ts';
import {
  clonedFromGroupKindAnnotation,
  clonedFromNameAnnotation,
  lastAppliedAnnotation,
  managedServerGroupAnnotation,
  openStackMachineFinalizer,
} from './names.ts';

/** Kind of the clones of a template kind. */
export function kindWithoutTemplate(kind: string): string {
  return kind.endsWith('Template') ? kind.slice(0, -'Template'.length) : kind;
}

export interface CloneOptions {
  template: UnstructuredObject;
  reference: ContractReference;
  /** kind of the clone */
  kind: ContractKind;
  name: string;
  namespace: string;
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  /** default: none yet */
  owner?: OwnerReference;
}

/** Builds a clone from a template. The caller's metadata wins over that in the template. */
export function cloneOf(options: CloneOptions): UnstructuredObject {
  const { template, reference, kind } = options;
  const spec = at(template, 'spec', 'template', 'spec');
  const metadata = at(template, 'spec', 'template', 'metadata');
  const annotations: Record<string, string> = {
    ...texts(metadata, 'annotations'),
    ...options.annotations,
    [clonedFromNameAnnotation]: reference.name,
    [clonedFromGroupKindAnnotation]: groupKindOf(reference),
  };
  delete annotations[lastAppliedAnnotation];
  return {
    apiVersion: formatApiVersion(kind.resource.group, kind.resource.version),
    kind: kind.resource.kind,
    metadata: {
      name: options.name,
      namespace: options.namespace,
      labels: { ...texts(metadata, 'labels'), ...options.labels },
      annotations,
      ...(options.owner && { ownerReferences: [options.owner] }),
      ...firstFinalizers(kind, annotations),
    },
    ...(isJsonObject(spec) && { spec }),
  };
}

/**
 * Finalizer that the controller of the clone would add first. A machine with a server group gets it from its controller,
 * once its credentials are known to be usable.
 */
function firstFinalizers({ resource }: ContractKind, annotations: Record<string, string>): { finalizers?: string[] } {
  const { group, kind } = OpenStackMachines;
  const isOpenStackMachine = resource.group === group && resource.kind === kind;
  if (!isOpenStackMachine || annotations[managedServerGroupAnnotation] !== undefined) return {};
  return { finalizers: [openStackMachineFinalizer] };
}

function texts(metadata: unknown, field: 'labels' | 'annotations'): Record<string, string> {
  const map = isJsonObject(metadata) ? (metadata as JsonObject)[field] : undefined;
  return isJsonObject(map) ? (map as Record<string, string>) : {};
}

/** Tells whether a clone was made from the referenced template. */
export function isCloneOf(clone: UnstructuredObject, reference: ContractReference): boolean {
  const annotations = clone.metadata.annotations ?? {};
  return (
    annotations[clonedFromNameAnnotation] === reference.name &&
    annotations[clonedFromGroupKindAnnotation] === groupKindOf(reference)
  );
}
