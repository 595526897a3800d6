import { gunzipSync } from 'node:zlib';
import { parseKubeconfig } from '../../../client/index.ts';
import type { K0sRole } from '../../shared/index.ts';
import { type BootstrapToken, k0sJoinToken, parseToken } from '../../shared/index.ts';

/** Where controllers ask to join, beside the API itself. */
const controllerJoinPort = 9443;

/** A join token, from the kubeconfig of a plane: same address, same authority. Undefined where that does not say them. */
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

/** The secret inside a join token that was made before; undefined for what is none. */
export function tokenInside(joinToken: string): BootstrapToken | undefined {
  try {
    const text = gunzipSync(Buffer.from(joinToken, 'base64')).toString('utf8');
    return parseToken(parseKubeconfig(text, 'of the join token').users?.[0]?.user.token ?? '');
  } catch {
    return undefined;
  }
}
