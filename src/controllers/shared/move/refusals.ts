import type { KubeObject } from '../../../machinery/index.ts';
import { pausedAnnotation } from '../names.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
}

interface Observed {
  readonly spec?: {
    readonly paused?: boolean;
    readonly topology?: { readonly classRef?: { readonly namespace?: string } };
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly initialization?: {
      readonly infrastructureProvisioned?: boolean;
      readonly controlPlaneInitialized?: boolean;
    };
    readonly nodeRef?: { readonly name?: string };
  };
}

/** Lists reasons against a move of these objects, each with its remedy. */
export function refusals(
  objects: readonly KubeObject[],
  hostedPlanes: readonly KubeObject[],
  { continues }: { continues: boolean },
): string[] {
  return [
    ...hostedPlanes.map(
      (plane) =>
        `${titleOf(plane)} runs as Pods of the management cluster, and the volumes of its etcd cannot follow: back it up, and restore it into a new plane in the target`,
    ),
    ...objects.flatMap((object) => [...(continues ? [] : passing(object)), ...lasting(object)]),
  ];
}

/** Reasons that resolve with time, but not while controllers are paused for a move. */
function passing(object: KubeObject): string[] {
  const { metadata } = object;
  const { spec, status } = object as Observed;
  const title = titleOf(object);
  if (metadata.deletionTimestamp !== undefined) return [`${title} is being deleted: wait until it is gone`];
  if (metadata.annotations?.[pausedAnnotation] !== undefined || spec?.paused === true) {
    return [`${title} is paused: resume it first, a move ends with everything running`];
  }
  if (object.kind === 'Cluster') {
    const { infrastructureProvisioned, controlPlaneInitialized } = status?.initialization ?? {};
    if (infrastructureProvisioned !== true) return [`${title} has no infrastructure yet: wait until it is provisioned`];
    if (controlPlaneInitialized !== true) return [`${title} has no control plane yet: wait until it is initialized`];
  }
  if (object.kind === 'Machine' && (status?.nodeRef?.name ?? '') === '') {
    return [`${title} has no Node yet: wait until it has joined`];
  }
  return [];
}

function lasting(object: KubeObject): string[] {
  const { spec } = object as Observed;
  const { namespace } = object.metadata;
  const classNamespace = object.kind === 'Cluster' ? spec?.topology?.classRef?.namespace : undefined;
  if (classNamespace === undefined || classNamespace === '' || classNamespace === namespace) return [];
  return [`${titleOf(object)} uses a ClusterClass of the namespace ${classNamespace}, which does not move with it`];
}

/** Tells whether the object's controller has not yet confirmed the pause. */
export function isStillWorkedOn(object: KubeObject): boolean {
  const { status } = object as Observed;
  return status?.conditions?.some(({ type, status: value }) => type === 'Paused' && value !== 'True') ?? false;
}

export function titleOf({ kind, metadata: { namespace, name = '' } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
