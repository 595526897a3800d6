import {
  CapstanError,
  linkLocalNetworks,
  loopbackNetworks,
  type PeerNetworks,
  type PeerPolicy,
  peerPolicy,
} from '../machinery/index.ts';

export interface PeerOptions {
  /** `--deny-peers`: takes the place of the default */
  denyPeers?: string | undefined;
  /** `--allow-peers`: exceptions, added to the default ones */
  allowPeers?: string | undefined;
  /** where the management API listens */
  listenHost: string;
  /** clouds and Pods that are simulated here have addresses of this machine */
  simulatesCloud: boolean;
  simulatesPods: boolean;
}

/** Load balancers of simulated Pods are in this range. */
const simulatedNetworks: readonly string[] = ['127.64.0.0/10'];

/**
 * Which addresses this program asks on the word of a tenant. Those of the link never. Those of this machine only while nobody
 * but its own users can write manifests, or where the cloud is simulated on it.
 */
export function peersOf(options: PeerOptions): PeerPolicy {
  const isOpen = options.simulatesCloud || isLoopback(options.listenHost);
  const usual: PeerNetworks = {
    deny: [...linkLocalNetworks, ...(isOpen ? [] : loopbackNetworks)],
    allow: options.simulatesPods ? simulatedNetworks : [],
  };
  return peerPolicy({
    deny: options.denyPeers === undefined ? usual.deny : networksOf(options.denyPeers, '--deny-peers'),
    allow: [...usual.allow, ...networksOf(options.allowPeers ?? '', '--allow-peers')],
  });
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.');

function networksOf(text: string, flag: string): string[] {
  const networks = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  try {
    peerPolicy({ deny: networks, allow: [] });
  } catch (error) {
    if (error instanceof CapstanError) throw new CapstanError('CAP_USAGE', `${flag}: ${error.message}`);
    throw error;
  }
  return networks;
}
