import { describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import { createManager } from '../../runtime/index.ts';
import { memoryClient } from '../../runtime/testkit/index.ts';
import { setupInfrastructureControllers } from './index.ts';

describe('setting up the infrastructure controllers', () => {
  it('adds all of them to a manager, and runs and stops with it', async () => {
    const clock = new ManualClock();
    const random = seededRandom(1);
    const client = memoryClient({ clock, random });
    const manager = createManager({ client, clock, random, gracefulStopMs: 1 });
    const added: string[] = [];
    const { close } = setupInfrastructureControllers(
      {
        ...manager,
        add: (definition) => {
          added.push(definition.name);
          return manager.add(definition);
        },
      },
      { client, clock, random, transport: () => Promise.reject(new Error('no cloud is asked here')) },
    );
    expect(added).toContain('openstackcluster');
    expect(new Set(added).size).toBe(6);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await manager.whenReady();
    expect(manager.ready()).toEqual({ ok: true, problems: [] });
    stop.abort();
    await running;
    await close();
  });
});
