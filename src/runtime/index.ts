// Public interface of the runtime room: everything a controller needs around its reconcile function.
export * from './controller/index.ts';
export * from './events/reasons.ts';
export * from './events/recorder.ts';
export * from './events/types.ts';
export * from './leader-election.ts';
export { type Lease, Leases } from './lease.ts';
export * from './log.ts';
export * from './manager.ts';
export * from './metrics.ts';
export * from './queue/work-queue.ts';
export { fencedClient } from './shares/fenced-client.ts';
export { leaderShare, type ShareMap } from './shares/share-map.ts';
export * from './status/patch-object.ts';
export type { ConditionChange, StatusChange } from './status/status-change.ts';
