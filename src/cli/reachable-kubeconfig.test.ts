import { describe, expect, it } from 'vitest';
import type { Client } from '../client/index.ts';
import { reachableKubeconfig } from './reachable-kubeconfig.ts';

const { signal } = new AbortController();
const kubeconfigOf = (host: string): string =>
  `apiVersion: v1\nclusters:\n  - name: c\n    cluster:\n      server: https://${host}:8443\n`;

/** Serves lists and objects by plural. */
function apiWith(objects: Record<string, object[]>): Client {
  return {
    list: async ({ plural }: { plural: string }) => ({ items: objects[plural] ?? [] }),
    get: async ({ plural }: { plural: string }, { name }: { name: string }) =>
      (objects[plural] as { metadata: { name: string } }[]).find(({ metadata }) => metadata.name === name),
  } as unknown as Client;
}

const route = { spec: { hostnames: ['c.ns.planes.localhost'], parentRefs: [{ name: 'planes' }], rules: [] } };
const gateway = { metadata: { name: 'planes' }, status: { addresses: [{ value: '127.65.0.3' }] } };
const ingress = {
  spec: { rules: [{ host: 'api.c.localhost' }] },
  status: { loadBalancer: { ingress: [{ ip: '127.65.0.2' }] } },
};

describe('a kubeconfig that is given to a user', () => {
  it.each([
    ['a Gateway', 'c.ns.planes.localhost', '127.65.0.3'],
    ['an Ingress', 'api.c.localhost', '127.65.0.2'],
  ])('uses the address of %s for a name that does not resolve', async (_what, host, address) => {
    const client = apiWith({ tlsroutes: [route], gateways: [gateway], ingresses: [ingress] });
    const text = await reachableKubeconfig(client, 'ns', kubeconfigOf(host), signal);
    expect(text).toContain(`server: https://${address}:8443`);
    expect(text).toContain(`tls-server-name: ${host}`);
  });

  it.each(['api.example.org', '127.65.0.9', 'other.localhost'])('stays unchanged for %s', async (host) => {
    const client = apiWith({ tlsroutes: [route], gateways: [gateway], ingresses: [ingress] });
    expect(await reachableKubeconfig(client, 'ns', kubeconfigOf(host), signal)).toBe(kubeconfigOf(host));
  });
});
