import { type CloudConfig, httpTransport, type Transport } from '../openstack/index.ts';

const loopbackNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Connects programs on simulated machines to OpenStack: over HTTP with the CAs in their configuration, and only to the
 * simulated cloud. Tenants write that configuration and must not make this host connect anywhere else.
 */
export function ownCloudTransport(url: () => string | undefined): (config: Pick<CloudConfig, 'tls'>) => Transport {
  const known = new Map<string, Transport>();
  return ({ tls }) => {
    const key = JSON.stringify(tls);
    let over = known.get(key);
    if (!over) {
      over = httpTransport({ tls, env: {}, connections: 4, peers: undefined });
      known.set(key, over);
    }
    const transport = over;
    return (request) => (isOwn(request.url, url()) ? transport(request) : unreachable(request.url));
  };
}

function isOwn(asked: string, own: string | undefined): boolean {
  if (own === undefined) return false;
  const target = new URL(asked);
  const cloud = new URL(own);
  const isHere = target.hostname === cloud.hostname || loopbackNames.has(target.hostname);
  return isHere && target.port === cloud.port && target.protocol === cloud.protocol;
}

function unreachable(asked: string): Promise<never> {
  const { hostname } = new URL(asked);
  const message = `getaddrinfo ENOTFOUND ${hostname}: machines of the simulated cloud reach no other cloud`;
  return Promise.reject(Object.assign(new Error(message), { code: 'ENOTFOUND' }));
}
