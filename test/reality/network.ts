import { writeFile } from 'node:fs/promises';
import { command } from './processes.ts';

/** The one node: its address, and that of the DNS of the cluster. */
export const nodeAddress = '172.30.0.1';
export const nodeName = 'reality';
export const podRange = '10.85.0.0/16';
/** of Services, as the API server has it */
const serviceRange = '10.0.0.0/24';
/** addresses given to Services of the type LoadBalancer; kube-proxy answers for them */
export const balancerAddress = (index: number): string => `172.30.1.${index + 1}`;

/**
 * The network of the namespace the kit runs in: loopback, and a bridge with nothing behind it that has the address of the
 * node. Nothing leads out of it.
 */
export async function setUpNetwork(): Promise<void> {
  await command('ip', 'link', 'set', 'lo', 'up');
  await command('ip', 'link', 'add', 'node0', 'type', 'bridge');
  await command('ip', 'address', 'add', `${nodeAddress}/16`, 'dev', 'node0');
  await command('ip', 'link', 'set', 'node0', 'up');
  // the API server calls webhooks by their Services; without a way there kube-proxy is never asked
  await command('ip', 'route', 'add', serviceRange, 'dev', 'node0');
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
  // Pods of one bridge also meet through Services
  await writeFile('/proc/sys/net/bridge/bridge-nf-call-iptables', '1');
}
