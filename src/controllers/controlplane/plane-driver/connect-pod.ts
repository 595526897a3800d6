import { type ConnectionConfig, portForward } from '../../../client/index.ts';
import type { Clock } from '../../../machinery/index.ts';
import type { ConnectPod } from './types.ts';

/** Connects to Pods of a remote management API through its port-forward. */
export function connectPodOver(connection: ConnectionConfig, clock: Clock): ConnectPod {
  return (pod, port, signal) => portForward(connection, pod, port, { signal, clock });
}

/** Default without a configured connection to Pods. */
export const noWayToPods: ConnectPod = () =>
  Promise.reject(new Error('this program has no way to ports of Pods on the management API'));
