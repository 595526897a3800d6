import { gunzipSync } from 'node:zlib';
import { parseKubeconfig } from '../../../client/index.ts';
import type { K0sRole } from '../../shared/index.ts';
import { type BootstrapToken, k0sJoinToken, parseToken } from '../../shared/index.ts';

/** Port of the k0s join API for controllers. */
const controllerJoinPort = 9443;

/**
 * Builds a join token with the address and CA from the kubeconfig of a plane; undefined if the kubeconfig lacks them.
 */
export function joinTokenFrom(kubeconfig: string, role: K0sRole, token: BootstrapToken): string | undefined {
  const cluster = parseKubeconfig(kubeconfig, 'of the control plane').clusters?.[0]?.cluster;
  const authority = cluster?.['certificate-authority-data'];
  if (cluster?.server === undefined || authority === undefined) return undefined;
  return k0sJoinToken({
    role,
    token,
    server: role === 'worker' ? cluster.server : withPort(cluster.server, controllerJoinPort),
    authority: Buffer.from(authority, 'base64').toString('utf8'),
  });
}

function withPort(server: string, port: number): string {
  const url = new URL(server);
  url.port = String(port);
  return url.origin;
}

/** Extracts the bootstrap token from an existing join token; undefined if it is malformed. */
export function tokenInside(joinToken: string): BootstrapToken | undefined {
  try {
    const text = gunzipSync(Buffer.from(joinToken, 'base64')).toString('utf8');
    return parseToken(parseKubeconfig(text, 'of the join token').users?.[0]?.user.token ?? '');
  } catch {
    return undefined;
  }
}
