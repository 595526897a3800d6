import { describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import type { SimulatedProgram } from '../process.ts';
import { createSimulatedBackend } from './backend.ts';

const unreachable = (): never => {
  throw new Error('there is no network here');
};

describe('a simulated back end', () => {
  it('starts nothing in a Pod that was removed while its container was being made', async () => {
    const clock = new ManualClock();
    let began = 0;
    const program: SimulatedProgram = () => {
      began++;
      return new Promise(() => {});
    };
    const backend = createSimulatedBackend({
      clock,
      random: seededRandom(1),
      network: { resolve: () => [], dial: unreachable },
      programs: () => program,
      nodeAddress: '10.0.0.1',
    });
    const sandbox = await backend.createSandbox({
      namespace: 'default',
      name: 'p',
      uid: 'u',
      hostname: 'p',
      hostNetwork: false,
      hostAliases: new Map(),
    });
    const run = { name: 'c', image: 'registry.k8s.io/pause:3.10', args: [], env: {}, mounts: [], ports: [] };
    const starting = sandbox.start(run).catch((error: unknown) => error);
    await backend.close();
    await clock.advance(60_000);
    expect(await starting).toBeInstanceOf(Error);
    expect(began).toBe(0);
  });

  it.each([
    [{ drop: ['ALL'] }, 1],
    [{ drop: ['NET_BIND_SERVICE'] }, 1],
    [{ drop: ['ALL'], add: ['NET_BIND_SERVICE'] }, 0],
    [undefined, 0],
  ])('does not start a file with a capability its container may not have: %j', async (capabilities, exitCode) => {
    const clock = new ManualClock();
    const backend = createSimulatedBackend({
      clock,
      random: seededRandom(1),
      network: { resolve: () => [], dial: unreachable },
      programs: () => async () => 0,
      nodeAddress: '10.0.0.1',
    });
    const sandbox = await backend.createSandbox({
      namespace: 'default',
      name: 'p',
      uid: 'u',
      hostname: 'p',
      hostNetwork: false,
      hostAliases: new Map(),
    });
    const starting = sandbox.start({
      name: 'c',
      image: 'registry.k8s.io/kube-apiserver:v1.34.4',
      command: ['kube-apiserver'],
      args: [],
      env: {},
      mounts: [],
      ports: [],
      ...(capabilities && { capabilities }),
    });
    await clock.advance(60_000);
    const container = await starting;
    expect(await container.exited).toMatchObject({ exitCode });
    expect(container.logs().map(({ text }) => text)).toEqual(
      exitCode === 0 ? [] : ['exec /usr/local/bin/kube-apiserver: operation not permitted'],
    );
    await backend.close();
  });
});
