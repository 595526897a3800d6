import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LatticeClusters, Namespaces, Secrets } from '../../../api/index.ts';
import { ManualClock, seededRandom } from '../../../machinery/index.ts';
import { createAuthority } from '../../../pki/index.ts';
import { createManager, nullLogger } from '../../../runtime/index.ts';
import { type MemoryClient, memoryClient, settle } from '../../../runtime/testkit/index.ts';
import { partedSecrets } from '../../shared/index.ts';
import { type ParentLink, parentLink } from './agent-controller.ts';
import { parentConfigKey } from './names.ts';
import { configSecret } from './parent-config.ts';

const by = { fieldManager: 'test' };

describe('the agent in a cluster', () => {
  let client: MemoryClient;
  let link: ParentLink;
  let dialled: string[];
  let stop: AbortController;
  let running: Promise<void>;

  beforeEach(async () => {
    const clock = new ManualClock();
    client = memoryClient({ clock, random: seededRandom(1) });
    client.seed(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lattice-system' } });
    dialled = [];
    // as in a Pod: unrelated Secrets are cached without content
    const common = { client, clock, random: seededRandom(2) };
    const manager = createManager({ ...common, log: nullLogger, parted: [partedSecrets], gracefulStopMs: 1 });
    link = parentLink(manager.reader, {
      ...common,
      log: nullLogger,
      dials: {
        parent: async (host, port) => {
          dialled.push(`${host}:${port}`);
          throw new Error('connect ECONNREFUSED');
        },
        api: () => Promise.reject(new Error('no API here')),
      },
    });
    manager.add(link.controller);
    manager.add({ name: 'reads', for: LatticeClusters, reconcile: async () => ({ kind: 'done' }) });
    stop = new AbortController();
    running = manager.run(stop.signal);
    await manager.whenReady();
  });
  afterEach(async () => {
    stop.abort();
    await running.catch(() => {});
  });

  it('connects only to the parent it was told', async () => {
    await settle();
    expect(link.agent.verdict).toBeUndefined();
    const { certificate } = await createAuthority({ commonName: 'ca', clock: new ManualClock() });
    const told = {
      host: 'parent.test',
      bootstrapPort: 8443,
      agentPort: 50_051,
      authority: certificate,
      cluster: 'one',
      parent: 'uid',
      token: 'token',
    };
    await client.create(Secrets, configSecret(told), by);
    await expect.poll(() => link.agent.verdict?.reason).toBe('NotReached');
    expect(dialled).toEqual(['parent.test:8443']);
    expect(link.agent.verdict?.message).toContain('the parent at parent.test:50051 is not reached');
    await client.delete(Secrets, parentConfigKey);
    await expect.poll(() => link.agent.verdict).toBeUndefined();
  });
});
