import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../src/machinery/index.ts';
import {
  type Change,
  cloudFromText,
  collect,
  connect,
  createObserver,
  type OpenStack,
  type OpenStackError,
  type Server,
} from '../../src/openstack/index.ts';
import {
  createCloud,
  defaultWorld,
  type FaultRule,
  renderCloudsYaml,
  type SimulatedCloud,
} from '../../src/simulator/index.ts';

/** Client and simulated cloud in one process on a manual clock, so that faults occur deterministically. */
interface Lab {
  simulated: SimulatedCloud;
  clock: ManualClock;
  cloud: OpenStack;
  /** finished attempts, as `service METHOD status` */
  attempts: string[];
  fault(rule: Omit<FaultRule, 'id'>): void;
  /** advances the clock until the promise is settled */
  settle<T>(promise: Promise<T>): Promise<T>;
}

const labs: Lab[] = [];
afterEach(async () => {
  for (const { simulated } of labs.splice(0)) await simulated.close();
});

async function createLab(): Promise<Lab> {
  const clock = new ManualClock();
  const simulated = await createCloud({ clock, random: seededRandom(1), world: defaultWorld });
  const text = renderCloudsYaml({ url: 'http://simulated.test', region: 'RegionOne', secrets: simulated.secrets });
  const config = await cloudFromText({ text, source: 'clouds.yaml', cloud: 'openstack' });
  const attempts: string[] = [];
  const cloud = connect(config, {
    transport: simulated.transport,
    clock,
    random: seededRandom(2),
    timeoutMs: 60_000,
    onRequest: ({ service, method, status }) => void attempts.push(`${service} ${method} ${status ?? 'nothing'}`),
  });
  let rules = 0;
  const lab: Lab = {
    simulated,
    clock,
    cloud,
    attempts,
    fault: (rule) => simulated.operator.faults.set({ id: `rule-${rules++}`, ...rule }),
    async settle(promise) {
      let settled = false;
      promise.then(
        () => (settled = true),
        () => (settled = true),
      );
      for (let turn = 0; !settled && turn < 10_000; turn++) {
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (!settled) await clock.advance(Math.min(clock.untilNext() ?? 0, 1000));
      }
      return promise;
    },
  };
  labs.push(lab);
  return lab;
}

const failureOf = (promise: Promise<unknown>): Promise<OpenStackError> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: OpenStackError) => error,
  );

describe('a cloud with faults (simulated, on simulated time)', () => {
  it('is asked again as it says when it limits requests', async () => {
    const lab = await createLab();
    lab.fault({
      when: { service: 'compute', path: '/v2.1/flavors*' },
      count: 2,
      effect: { kind: 'status', status: 429, retryAfter: 5 },
    });
    const started = lab.clock.now();
    const flavors = await lab.settle(collect(lab.cloud.compute.flavors.list()));
    expect(flavors.length).toBeGreaterThan(5);
    expect(lab.clock.now() - started).toBeGreaterThanOrEqual(10_000);
    expect(lab.attempts.filter((attempt) => attempt === 'compute GET 429')).toHaveLength(2);
  });

  it('is asked again after gateway errors for harmless requests', async () => {
    const lab = await createLab();
    lab.fault({ when: { service: 'network' }, count: 2, effect: { kind: 'status', status: 503 } });
    expect((await lab.settle(collect(lab.cloud.network.networks.list()))).length).toBeGreaterThan(0);
    lab.fault({ when: { service: 'network', method: 'POST' }, count: 1, effect: { kind: 'status', status: 503 } });
    const error = await lab.settle(failureOf(lab.cloud.network.networks.create({ name: 'n' })));
    expect(error.kind).toBe('unavailable');
  });

  it('creates one thing, found by its name, when the answer of a creation is lost', async () => {
    const lab = await createLab();
    const { networks } = lab.cloud.network;
    lab.fault({ when: { service: 'network', method: 'POST' }, count: 1, effect: { kind: 'reset', workDone: true } });
    const error = await lab.settle(failureOf(networks.create({ name: 'lost' })));
    expect(error.kind).toBe('network');
    expect(await lab.settle(collect(networks.list({ name: 'lost' })))).toHaveLength(1);
    expect((await lab.settle(networks.find('lost')))?.name).toBe('lost');
  });

  it('has deleted the thing even when the answer of a deletion is lost', async () => {
    const lab = await createLab();
    const { networks } = lab.cloud.network;
    const { id } = await lab.settle(networks.create({ name: 'n' }));
    lab.fault({
      when: { service: 'network', method: 'DELETE' },
      count: 1,
      effect: { kind: 'reset', workDone: true },
    });
    expect(await lab.settle(networks.delete(id))).toBe(false);
    expect(await lab.settle(networks.find('n'))).toBeUndefined();
  });

  it('leads to a timeout when it does not answer', async () => {
    const lab = await createLab();
    lab.fault({ when: { service: 'compute', method: 'POST' }, count: 1, effect: { kind: 'hang', workDone: false } });
    const started = lab.clock.now();
    const error = await lab.settle(failureOf(lab.cloud.compute.keypairs.create({ name: 'k', publicKey: 'x' })));
    expect(error).toMatchObject({ kind: 'timeout', service: 'compute' });
    expect(lab.clock.now() - started).toBeGreaterThanOrEqual(60_000);
  });

  it('gets a new token when it revokes all, unnoticed by the caller', async () => {
    const lab = await createLab();
    await lab.settle(lab.cloud.compute.limits());
    lab.simulated.operator.expireTokens();
    await lab.settle(Promise.all([lab.cloud.compute.limits(), lab.cloud.network.networks.find('public')]));
    expect(lab.attempts.filter((attempt) => attempt.startsWith('identity POST'))).toHaveLength(2);
  });

  it('is waited for when it is slow', async () => {
    const lab = await createLab();
    lab.fault({ when: { service: 'image' }, effect: { kind: 'latency', ms: 20_000 } });
    expect((await lab.settle(collect(lab.cloud.image.images.list()))).length).toBeGreaterThan(0);
  });

  it('has an occasional proxy page reported as what it is', async () => {
    const lab = await createLab();
    const body = '<html><head><title>Blocked</title></head><body>no</body></html>';
    lab.fault({
      when: { service: 'compute' },
      effect: { kind: 'status', status: 403, body, contentType: 'text/html' },
    });
    const error = await lab.settle(failureOf(lab.cloud.compute.limits()));
    expect(error.message).toContain('answered with a web page instead of an OpenStack API answer');
    // The error must not reveal the answers of other servers, because tenants choose the URL of the cloud.
    expect(error.message).not.toContain('Blocked');
  });

  it('breaks, stops and deletes servers on its own, and the observer reports it', async () => {
    const lab = await createLab();
    const { compute, image } = lab.cloud;
    const flavor = await lab.settle(compute.flavors.find('m1.small'));
    const system = await lab.settle(image.images.find('Ubuntu 22.04'));
    const desired = { name: 's', flavorId: flavor!.id, imageId: system!.id, networks: 'none' } as const;
    const { id } = await lab.settle(compute.servers.create(desired));
    const observer = createObserver(lab.cloud, { random: seededRandom(3) });
    const seen: string[] = [];
    observer.subscribe(
      'server',
      ({ change, now }: Change<Server>) => seen.push(now ? `${change} ${now.status}` : change),
      { id },
    );
    await lab.clock.advance(30_000);
    expect(seen.at(-1)).toMatch(/ACTIVE$/);
    lab.simulated.operator.stopServer(id);
    await lab.clock.advance(120_000);
    expect(seen.at(-1)).toBe('changed SHUTOFF');
    lab.simulated.operator.breakServer(id, 'the host burnt down');
    await lab.clock.advance(120_000);
    expect(seen.at(-1)).toBe('changed ERROR');
    expect(observer.current('server', id)?.fault?.message).toBe('the host burnt down');
    lab.fault({
      when: { service: 'compute', path: '/v2.1/servers/detail' },
      count: 3,
      effect: { kind: 'status', status: 500 },
    });
    lab.simulated.operator.deleteServer(id);
    await lab.clock.advance(300_000);
    expect(seen.at(-1)).toBe('removed');
    observer.close();
  });
});
