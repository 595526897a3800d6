import { Gateways, Ingresses, Nodes, Services } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { ignoreNotFound } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import {
  type ClaimedRange,
  claimLoopbackRange,
  type LoopbackRange,
  loopbackRange,
  loopbackRangeOf,
} from '../../simkube/index.ts';
import { isExposed } from './services.ts';

/** The default range, used when no other program holds it. */
export const usualRange: LoopbackRange = loopbackRange(65);

export interface HostRangeOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** false: no sockets are opened, so other programs cannot conflict */
  readonly sockets: boolean;
  /** whether Gateways and Ingresses are served */
  readonly gateways: boolean;
  readonly usual: LoopbackRange;
  readonly log: Logger;
}

/**
 * Chooses the address range of this host. The node's address records the range. It stays while any object has an
 * address in it, because kubeconfigs and nodes of clusters contain these addresses.
 */
export async function hostRange(options: HostRangeOptions): Promise<ClaimedRange> {
  const { client, nodeName, sockets, usual, log } = options;
  const node = await client.get(Nodes, { name: nodeName }).catch(ignoreNotFound);
  const address = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  const before = address === undefined ? undefined : loopbackRangeOf(address);
  const isKept = before !== undefined && (await hasAddresses(options));
  const range = isKept ? before : usual;
  if (!sockets) return { ...range, release: async () => {} };
  return claimLoopbackRange({ purpose: 'load balancers of Pods', usual: range, isKept, log });
}

async function hasAddresses({ client, gateways: hasGateways }: HostRangeOptions): Promise<boolean> {
  const services = await client.list(Services, {});
  if (services.items.some(isExposed)) return true;
  if (!hasGateways) return false;
  if ((await client.list(Gateways, {})).items.length > 0) return true;
  return (await client.list(Ingresses, {})).items.length > 0;
}
