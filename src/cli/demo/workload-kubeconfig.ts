import { parse, stringify } from 'yaml';
import { ipFamily } from '../../machinery/index.ts';

interface KubeconfigFile {
  clusters?: { cluster: { server: string; 'tls-server-name'?: string } }[];
}

/**
 * Rewrites a kubeconfig with a Gateway host name so that it needs no DNS: it connects to the Gateway's address and
 * sends the name of the API.
 */
export function throughGateway(kubeconfig: string, address: string): string {
  const file = parse(kubeconfig) as KubeconfigFile;
  let isChanged = false;
  for (const { cluster } of file.clusters ?? []) {
    const url = new URL(cluster.server);
    if (ipFamily(url.hostname.replace(/^\[|\]$/g, '')) !== undefined) continue;
    cluster['tls-server-name'] = url.hostname;
    url.hostname = address;
    cluster.server = url.href.replace(/\/$/, '');
    isChanged = true;
  }
  return isChanged ? stringify(file) : kubeconfig;
}
