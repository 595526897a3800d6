import { formatTime } from '../../../machinery/index.ts';
import type { ConditionView } from '../conditions.ts';
import type { AnyObject } from '../fields.ts';

export const nowMs: number = Date.UTC(2026, 0, 1, 12);

/** A point in time so many seconds ago. */
export function ago(seconds: number): string {
  return formatTime(nowMs - seconds * 1000);
}

export interface ObjectWish {
  spec?: object;
  status?: object;
  labels?: Record<string, string>;
  /** uid of the object that controls it; uids are `kind/name` */
  owner?: string;
  deleting?: boolean;
}

/** An object of a cluster named `capi-quickstart`. */
export function made(apiVersion: string, kind: string, name: string, wish: ObjectWish = {}): AnyObject {
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      namespace: 'default',
      uid: `${kind}/${name}`,
      labels: { 'cluster.x-k8s.io/cluster-name': 'capi-quickstart', ...wish.labels },
      ...(wish.owner !== undefined && { ownerReferences: [{ uid: wish.owner, controller: true }] }),
      ...(wish.deleting && { deletionTimestamp: ago(30) }),
    },
    ...(wish.spec && { spec: wish.spec }),
    ...(wish.status && { status: wish.status }),
  } as AnyObject;
}

/** Status with one condition of the v1beta1 contract. */
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
