import { type ConnectionConfig, portForward } from '../../../client/index.ts';
import type { Clock } from '../../../machinery/index.ts';
import type { ConnectPod } from './types.ts';

/** The way to Pods of a management API that is not in this process: its port-forward. */
export function connectPodOver(connection: ConnectionConfig, clock: Clock): ConnectPod {
  return (pod, port, signal) => portForward(connection, pod, port, { signal, clock });
}

/** Where nobody said how Pods are reached. */
export const noWayToPods: ConnectPod = () =>
  Promise.reject(new Error('this program has no way to ports of Pods on the management API'));
