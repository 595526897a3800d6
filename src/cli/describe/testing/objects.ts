import { formatTime } from '../../../machinery/index.ts';
import type { ConditionView } from '../conditions.ts';
import type { AnyObject } from '../fields.ts';

export const nowMs: number = Date.UTC(2026, 0, 1, 12);

/** Returns a timestamp the given number of seconds ago. */
export function ago(seconds: number): string {
  return formatTime(nowMs - seconds * 1000);
}

export interface ObjectSpec {
  spec?: object;
  status?: object;
  labels?: Record<string, string>;
  /** uid of the controlling owner; uids are `kind/name` */
  owner?: string;
  deleting?: boolean;
}

/** Builds an object of a cluster named `capi-quickstart`. */
export function made(apiVersion: string, kind: string, name: string, desired: ObjectSpec = {}): AnyObject {
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: 'default',
      uid: `${kind}/${name}`,
      labels: { 'cluster.x-k8s.io/cluster-name': 'capi-quickstart', ...desired.labels },
      ...(desired.owner !== undefined && { ownerReferences: [{ uid: desired.owner, controller: true }] }),
      ...(desired.deleting && { deletionTimestamp: ago(30) }),
    },
    ...(desired.spec && { spec: desired.spec }),
    ...(desired.status && { status: desired.status }),
  } as AnyObject;
}

/** Builds a status with one condition of the v1beta1 contract. */
export function legacyReady(
  status: string,
  secondsAgo: number,
  rest: Partial<ConditionView> = {},
): { deprecated: { v1beta1: { conditions: ConditionView[] } } } {
  const condition = { type: 'Ready', status, lastTransitionTime: ago(secondsAgo), ...rest };
  return { deprecated: { v1beta1: { conditions: [condition] } } };
}

export function modern(
  type: string,
  status: string,
  secondsAgo: number,
  rest: Partial<ConditionView> = {},
): ConditionView {
  return { type, status, reason: type, lastTransitionTime: ago(secondsAgo), ...rest };
}

export const core = 'cluster.x-k8s.io/v1beta2';
export const infrastructure = 'infrastructure.cluster.x-k8s.io/v1beta2';
export const bootstrap = 'bootstrap.cluster.x-k8s.io/v1beta2';
