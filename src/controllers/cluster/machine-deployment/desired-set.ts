import { createHash } from 'node:crypto';
import {
  clusterNameLabel,
  deploymentNameLabel,
  type MachineDeployment,
  MachineDeployments,
  type MachineSet,
  MachineSets,
} from '../../../api/index.ts';
import { formatApiVersion, nameAlphabet } from '../../../machinery/index.ts';
import {
  desiredReplicasAnnotation,
  disableMachineCreateAnnotation,
  isDeleting,
  lastAppliedAnnotation,
  machineSetFinalizer,
  machineTemplateHashLabel,
  maxReplicasAnnotation,
  ownerReference,
  revisionAnnotation,
} from '../../shared/index.ts';
import { rolloutLimits } from './rollout-limits.ts';

const maxNameLength = 63;
const suffixLength = 5;

/**
 * Derives name and hash of a revision's set from stored data. A retry after a lost response therefore creates the same
 * name instead of a second set.
 */
export function setIdentity(deployment: MachineDeployment, revision: number): { name: string; hash: string } {
  const { version, bootstrap, infrastructureRef, failureDomain } = deployment.spec.template.spec;
  const template = JSON.stringify([version, bootstrap, infrastructureRef, failureDomain]);
  const digest = createHash('sha256').update(`${deployment.metadata.uid}\n${revision}\n${template}`).digest();
  let suffix = '';
  for (const byte of digest.subarray(0, suffixLength)) suffix += nameAlphabet[byte % nameAlphabet.length];
  const base = `${deployment.metadata.name}-`.slice(0, maxNameLength - suffixLength);
  return { name: `${base}${suffix}`, hash: `${digest.readUInt32BE(8)}-${suffix}` };
}

/** Annotations of the deployment that sets do not inherit. */
const notInherited = [lastAppliedAnnotation, revisionAnnotation, desiredReplicasAnnotation, maxReplicasAnnotation];

export interface DesiredSetOptions {
  name: string;
  hash: string;
  revision: number;
  replicas: number;
  /** set on old sets with strategy OnDelete, while users delete machines one by one */
  disableCreate: boolean;
  /** in addition to the annotations of every set */
  annotations?: Readonly<Record<string, string>>;
  /** the existing set, source of immutable fields */
  existing?: MachineSet;
}

/**
 * Builds a set as the deployment wants it. Fields that can change in place come from the deployment, for old sets too.
 */
export function desiredSet(deployment: MachineDeployment, options: DesiredSetOptions): MachineSet {
  const { existing, hash } = options;
  const { template, selector, clusterName, machineNaming, deletion } = deployment.spec;
  const limits = rolloutLimits(deployment);
  const labels = { ...template.metadata?.labels, [machineTemplateHashLabel]: hash };
  const inherited = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => !notInherited.includes(key),
  );
  const born = existing?.spec.template.spec ?? template.spec;
  const { minReadySeconds, readinessGates, deletion: nodeDeletion, taints } = template.spec;
  const { namespace } = deployment.metadata;
  return {
    apiVersion: formatApiVersion(MachineSets.group, MachineSets.version),
    kind: MachineSets.kind,
    metadata: {
      name: options.name,
      ...(namespace !== undefined && { namespace }),
      ...(existing?.metadata.uid !== undefined && { uid: existing.metadata.uid }),
      labels: {
        ...labels,
        [clusterNameLabel]: clusterName,
        [deploymentNameLabel]: deployment.metadata.name ?? '',
      },
      annotations: {
        ...Object.fromEntries(inherited),
        [revisionAnnotation]: String(options.revision),
        [desiredReplicasAnnotation]: String(limits.replicas),
        [maxReplicasAnnotation]: String(limits.replicas + limits.maxSurge),
        [disableMachineCreateAnnotation]: String(options.disableCreate),
        ...options.annotations,
      },
      ownerReferences: [ownerReference(deployment, MachineDeployments, { controller: true })],
      // only to sets that are there to stay: the API refuses to add a finalizer during a deletion
      ...(!(existing && isDeleting(existing)) && { finalizers: [machineSetFinalizer] }),
    },
    spec: {
      clusterName,
      replicas: options.replicas,
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [machineTemplateHashLabel]: hash } },
      template: {
        metadata: {
          labels,
          ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
        },
        spec: {
          clusterName,
          bootstrap: born.bootstrap,
          infrastructureRef: born.infrastructureRef,
          ...(born.version !== undefined && { version: born.version }),
          ...(born.failureDomain !== undefined && { failureDomain: born.failureDomain }),
          ...(minReadySeconds !== undefined && { minReadySeconds }),
          ...(readinessGates && { readinessGates }),
          ...(nodeDeletion && { deletion: nodeDeletion }),
          ...(taints && { taints }),
        },
      },
      ...(machineNaming && { machineNaming }),
      ...(deletion?.order !== undefined && { deletion: { order: deletion.order } }),
    },
  };
}
