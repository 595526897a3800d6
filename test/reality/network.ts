import { writeFile } from 'node:fs/promises';
import { command } from './processes.ts';

/** Address of the only node, and of the cluster's DNS. */
export const nodeAddress = '172.30.0.1';
export const nodeName = 'reality';
export const podRange = '10.85.0.0/16';
/** Service range, as configured in the API server */
const serviceRange = '10.0.0.0/24';
/** addresses of Services of type LoadBalancer, handled by kube-proxy */
export const balancerAddress = (index: number): string => `172.30.1.${index + 1}`;

/** Sets up the network namespace: loopback, and a bridge with the node's address and no uplink. */
export async function setUpNetwork(): Promise<void> {
  await command('ip', 'link', 'set', 'lo', 'up');
  await command('ip', 'link', 'add', 'node0', 'type', 'bridge');
  await command('ip', 'address', 'add', `${nodeAddress}/16`, 'dev', 'node0');
  await command('ip', 'link', 'set', 'node0', 'up');
  // The API server calls webhooks through Services. Without a route the packets never reach kube-proxy.
  await command('ip', 'route', 'add', serviceRange, 'dev', 'node0');
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
  // Makes traffic between Pods on the bridge pass through Service rules.
  await writeFile('/proc/sys/net/bridge/bridge-nf-call-iptables', '1');
}
