import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { ConnectionConfig } from '../../../client/index.ts';
import { failed, fine, type Seen } from '../findings.ts';
import { validity } from './expiry.ts';

const patienceMs = 10_000;
const cures: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, 'nothing listens there: check the control plane and the load balancer above'],
  [/ETIMEDOUT|timed out/, 'nothing answers there: check the route to the address, security groups and allowedCIDRs'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name of the endpoint has no address: add it to DNS'],
  [/ALTNAME/, 'the certificate is not for this name: add it to the certSANs of the control plane'],
  [/EXPIRED/, 'a rollout renews it: clusterctl alpha rollout restart'],
  [
    /SELF_SIGNED|UNABLE_TO|UNTRUSTED|SIGNATURE/,
    'another server has this address, or the kubeconfig Secret has another authority than the cluster',
  ],
];

/** Checks whether the API responds at its address, and the expiry of its certificate. */
export async function checkEndpoint(config: ConnectionConfig, nowMs: number): Promise<Seen[]> {
  const { hostname, port, host } = new URL(config.server);
  if (config.proxyUrl !== undefined) return [fine(`${host}, through a proxy`)];
  const address = hostname.replace(/^\[|\]$/g, '');
  try {
    const until = await certificateEnd({
      host: address,
      port: Number(port || 443),
      // an IP address is no valid server name
      ...(/[a-z]/i.test(config.tlsServerName ?? address) &&
        !address.includes(':') && { servername: config.tlsServerName ?? address }),
      ...(config.certificateAuthority !== undefined && { ca: config.certificateAuthority }),
      rejectUnauthorized: config.insecureSkipTlsVerify !== true,
    });
    const renew = 'a rollout renews it: clusterctl alpha rollout restart';
    return [fine(`${host} answers`), validity('its certificate', until, { nowMs, cure: renew })];
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const cure = cures.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1];
    return [failed(`${host} does not answer: ${message}`, cure)];
  }
}

function certificateEnd(options: ConnectionOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(options, () => {
      const { valid_to: end } = socket.getPeerCertificate();
      socket.destroy();
      resolve(Date.parse(end));
    });
    socket.setTimeout(patienceMs, () => socket.destroy(new Error(`timed out after ${patienceMs / 1000} s`)));
    socket.on('error', reject);
  });
}
