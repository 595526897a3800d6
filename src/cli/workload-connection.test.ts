import { describe, expect, it } from 'vitest';
import { anyPeer } from '../machinery/index.ts';
import { connectBeside } from './workload-connection.ts';

const kubeconfig = JSON.stringify({
  clusters: [{ name: 'c1', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'admin', user: { token: 'x' } }],
  contexts: [{ name: 'c1', context: { cluster: 'c1', user: 'admin' } }],
  'current-context': 'c1',
});

describe('the connection to a workload API', () => {
  it('goes through the Pod network as soon as the address belongs to a Pod', async () => {
    let isKnown = false;
    const dialled: string[] = [];
    const pods = {
      knows: () => isKnown,
      network: {
        resolve: () => [],
        dial: (host: string, port: number) => {
          dialled.push(`${host}:${port}`);
          throw new Error('nothing listens there');
        },
      },
    };
    const connect = connectBeside(pods, anyPeer);
    const api = await connect(kubeconfig, { name: 'c1' });
    const { signal } = new AbortController();
    await expect(api.probe(signal)).rejects.toThrow(/ECONNREFUSED/);
    expect(dialled).toEqual([]);
    isKnown = true;
    await expect(api.probe(signal)).rejects.toThrow('nothing listens there');
    await expect(
      api.client.list({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false }),
    ).rejects.toThrow('nothing listens there');
    expect(dialled).toEqual(['127.0.0.1:1', '127.0.0.1:1']);
    await api.close();
  });
});
