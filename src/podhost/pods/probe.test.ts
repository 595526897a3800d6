import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Container, Pod } from '../../api/index.ts';
import type { SimulatedProgram } from '../../simkube/index.ts';
import { container, type HostWorld, hostWorld, isReady, untilStopped } from '../testing/host-world.ts';

let world: HostWorld;
beforeAll(async () => {
  world = await hostWorld();
});
afterEach(() => world.clear());
afterAll(() => world.stop());

/** Serves a port with the health status the test sets. */
function served(health: { status: number }): SimulatedProgram {
  return async ({ listen, signal }) => {
    listen(8080, {
      accept: (socket) => void socket.destroy(),
      get: async () => ({ status: health.status, body: '' }),
    });
    await untilStopped(signal);
    return 0;
  };
}

const httpGet = { path: '/healthz', port: 'web' };
const ports: Container['ports'] = [{ name: 'web', containerPort: 8080 }];
const restarts = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

describe('probes of a Pod', () => {
  it('make a Pod ready when it answers, and unready after enough failures', async () => {
    const health = { status: 503 };
    world.use({ app: served(health) });
    const readinessProbe = { httpGet, periodSeconds: 5, failureThreshold: 2 };
    await world.createPod('p', { containers: [container({ ports, readinessProbe })] });
    await world.podUntil('p', ({ status }) => status?.containerStatuses?.[0]?.started === true);
    await world.pass(30_000);
    expect(isReady(await world.pod('p'))).toBe(false);
    const unhealthy = (await world.events('p')).filter(({ reason }) => reason === 'Unhealthy');
    expect(unhealthy.map(({ message }) => message)).toEqual([
      'Readiness probe failed: HTTP probe failed with statuscode: 503',
    ]);
    expect(unhealthy[0]?.count).toBeGreaterThan(2);
    health.status = 200;
    await world.podUntil('p', isReady, 6_000);
    health.status = 500;
    await world.pass(5_000);
    expect(isReady(await world.pod('p'))).toBe(true);
    await world.podUntil('p', (pod) => !isReady(pod), 6_000);
    expect(restarts(await world.pod('p'))).toBe(0);
  });

  it('restart a container that stopped answering', async () => {
    const health = { status: 200 };
    world.use({ app: served(health) });
    const livenessProbe = { httpGet, periodSeconds: 10, failureThreshold: 3 };
    await world.createPod('p', { containers: [container({ ports, livenessProbe })] });
    await world.podUntil('p', isReady);
    await world.pass(60_000);
    expect(restarts(await world.pod('p'))).toBe(0);
    health.status = 500;
    await world.podUntil('p', (pod) => restarts(pod) === 1, 40_000);
    const messages = (await world.events('p')).map(({ message }) => message);
    expect(messages).toContain('Container main failed liveness probe, will be restarted');
  });

  it('do not count before a slow start has had its time', async () => {
    const slow: SimulatedProgram = async ({ listen, pass, signal }) => {
      await pass(45_000);
      listen(8080, { accept: (socket) => void socket.destroy() });
      await untilStopped(signal);
      return 0;
    };
    world.use({ app: slow });
    const tcpSocket = { port: 8080 };
    await world.createPod('p', {
      containers: [
        container({
          startupProbe: { tcpSocket, periodSeconds: 10, failureThreshold: 10 },
          livenessProbe: { tcpSocket, periodSeconds: 1, failureThreshold: 1 },
        }),
      ],
    });
    const pod = await world.podUntil('p', isReady);
    expect(restarts(pod)).toBe(0);
    expect(world.clock.now() - Date.parse(pod.status!.startTime!)).toBeGreaterThanOrEqual(45_000);
  });

  it('run commands in the container and treat one that does not end as a failure', async () => {
    let isHanging = false;
    const stays: SimulatedProgram = async ({ files, signal }) => {
      files.write('/ready', 'yes');
      await untilStopped(signal);
      return 0;
    };
    const looks: SimulatedProgram = async ({ files, argv, pass }) => {
      if (isHanging) await pass(3_600_000);
      return files.read(argv[1]!) === 'yes' ? 0 : 1;
    };
    world.use({ app: stays, look: looks });
    const readinessProbe = { exec: { command: ['look', '/ready'] }, periodSeconds: 5, failureThreshold: 1 };
    await world.createPod('p', { containers: [container({ readinessProbe })] });
    await world.podUntil('p', isReady);
    isHanging = true;
    await world.podUntil('p', (pod) => !isReady(pod), 10_000);
    expect((await world.events('p')).map(({ message }) => message)).toContain(
      'Readiness probe failed: command timed out: context deadline exceeded after 1s',
    );
  });
});
