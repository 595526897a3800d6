import { describe, expect, it } from 'vitest';
import { Nodes } from '../../api/index.ts';
import { type Client, memoryClient } from '../../client/index.ts';
import { ManualClock } from '../../machinery/index.ts';
import { kubeletLease, leaveNode, registerNode } from './registration.ts';

const name = 'simulated';
const facts = {
  name,
  address: '127.65.0.1',
  version: 'v1.34.4+capstan',
  runtime: 'capstan://0.2.0',
};

/** A client during whose first calls somebody else writes the Node, as node controllers do. */
function meddledClient(server: ReturnType<typeof memoryClient>): Client {
  let meddled = 0;
  const meddle = async (): Promise<void> => {
    meddled += 1;
    const metadata = { annotations: { 'node.alpha.kubernetes.io/ttl': String(meddled) } };
    await server.patch(Nodes, { name }, 'merge', { metadata }, { fieldManager: 'ttl-controller' });
  };
  return new Proxy(server, {
    get(over, member, receiver) {
      if (member === 'create') {
        return async (...args: Parameters<Client['create']>) => {
          const made = await over.create(...args);
          await meddle();
          return made;
        };
      }
      if (member === 'get') {
        return async (resource: typeof Nodes, key: { name: string }) => {
          const found = await over.get(resource, key);
          if (meddled < 2) await meddle();
          return found;
        };
      }
      return Reflect.get(over, member, receiver);
    },
  });
}

describe('a node', () => {
  // A real Kubernetes annotates and taints Nodes the moment they appear.
  it.each([
    { title: 'is made', isKnown: false },
    { title: 'comes back', isKnown: true },
  ])('is registered although others write it while it $title', async ({ isKnown }) => {
    const clock = new ManualClock(0);
    const server = memoryClient({ clock });
    if (isKnown) server.seed(Nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    const client = meddledClient(server);
    await registerNode({ client, clock, lease: kubeletLease, facts });
    const node = await server.get(Nodes, { name });
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    expect(node.metadata.labels).toMatchObject({ 'kubernetes.io/hostname': name });
    expect(node.metadata.annotations).toEqual({ 'node.alpha.kubernetes.io/ttl': '2' });
  });

  it('is marked as stopped although others write it meanwhile', async () => {
    const clock = new ManualClock(0);
    const server = memoryClient({ clock });
    await registerNode({ client: server, clock, lease: kubeletLease, facts });
    await leaveNode({ client: meddledClient(server), clock, lease: kubeletLease, facts }, true);
    const node = await server.get(Nodes, { name });
    expect(node.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
  });
});
