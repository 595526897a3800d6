import {
  CapstanError,
  linkLocalNetworks,
  loopbackNetworks,
  type PeerNetworks,
  type PeerPolicy,
  peerPolicy,
} from '../machinery/index.ts';

export interface PeerOptions {
  /** `--deny-peers`, replaces the default */
  denyPeers?: string | undefined;
  /** `--allow-peers`: exceptions, added to the defaults */
  allowPeers?: string | undefined;
  /** listen address of the management API */
  listenHost: string;
  /** simulated clouds and Pods have addresses of this host */
  simulatesCloud: boolean;
  simulatesPods: boolean;
}

/** Address range for load balancers of simulated Pods. */
const simulatedNetworks: readonly string[] = ['127.64.0.0/10'];

/**
 * Builds the policy for addresses that tenants specify. Link-local addresses are always denied. Addresses of this host
 * are allowed only while just its own users can write manifests, or while the cloud is simulated on it.
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
