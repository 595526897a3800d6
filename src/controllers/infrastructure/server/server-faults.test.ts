import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenStackServerSpec, OpenStackServers } from '../../../api/index.ts';
import {
  createServer,
  createUserData,
  deleteServer,
  leftBehind,
  serverIsReady,
  usualNetwork,
} from '../testing/servers.ts';
import { createInfrastructureWorld, type Fate, type InfrastructureWorld } from '../testing/world.ts';
import { openStackServerController } from './server-controller.ts';

/** One world for all: resources left behind by one round would show in the next. */
let world: InfrastructureWorld;

beforeAll(async () => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackServerController(dependencies)],
  });
  await createUserData(world, 'boot');
});

afterAll(async () => {
  await world.stop();
});

const rich: Partial<OpenStackServerSpec> = {
  userDataRef: { name: 'boot' },
  tags: ['blue'],
  rootVolume: { sizeGiB: 10 },
  additionalBlockDevices: [{ name: 'data', sizeGiB: 1, storage: { type: 'Volume' } }],
  ports: [
    { network: { filter: { name: usualNetwork } }, trunk: true },
    { network: { filter: { name: usualNetwork } } },
  ],
};
const made = (name: string): string[] => [
  `port ${name}-0`,
  `port ${name}-1`,
  `server ${name}`,
  `trunk ${name}-0`,
  `volume ${name}-data`,
  `volume ${name}-root`,
];

interface Strike {
  struck: boolean;
}

/** Applies the fate to the n-th request from now on, polls excluded. */
function strikeAt(n: number, fate: Exclude<Fate, 'pass'>): Strike {
  const strike: Strike = { struck: false };
  let seen = 0;
  world.setFate(({ path }) => {
    if (strike.struck || /servers\/detail\?(sort|changes)|auth\/tokens/.test(path) || ++seen !== n) return 'pass';
    strike.struck = true;
    return fate;
  });
  return strike;
}

/** Strikes at each request in turn until there are no more; returns their number. */
async function atEveryRequest(run: (n: number) => Promise<Strike>): Promise<number> {
  for (let n = 1; ; n++) {
    const { struck } = await run(n);
    world.setFate(undefined);
    expect(await leftBehind(world), `after a fault of request ${n}`).toEqual([]);
    if (!struck) return n - 1;
  }
}

let round = 0;

describe.each<[string, Exclude<Fate, 'pass'>, boolean]>([
  ['fails', 'fail', false],
  ['is carried out though its answer is lost, and the program crashes', 'lose', true],
])('when a cloud request %s', (_, fate, crashes) => {
  it('creating a server duplicates nothing and leaves nothing behind', { timeout: 120_000 }, async () => {
    const requests = await atEveryRequest(async (n) => {
      const name = `m${++round}`;
      const strike = strikeAt(n, fate);
      await createServer(world, name, rich);
      await world.until(async () => (crashes && strike.struck) || (await serverIsReady(world, name)));
      if (crashes) await world.restart();
      await world.until(() => serverIsReady(world, name));
      expect(await leftBehind(world), `after a fault of request ${n}`).toEqual(made(name));
      await deleteServer(world, name);
      return strike;
    });
    expect(requests).toBeGreaterThanOrEqual(9);
  });

  it('deleting a server leaves nothing behind', { timeout: 120_000 }, async () => {
    const requests = await atEveryRequest(async (n) => {
      const name = `d${++round}`;
      await createServer(world, name, rich);
      await world.until(() => serverIsReady(world, name));
      const strike = strikeAt(n, fate);
      const { namespace } = world;
      const isGone = async (): Promise<boolean> => (await world.find(OpenStackServers, name)) === undefined;
      await world.client.delete(OpenStackServers, { namespace, name });
      await world.until(async () => (crashes && strike.struck) || (await isGone()));
      if (crashes) await world.restart();
      await world.until(isGone);
      return strike;
    });
    expect(requests).toBeGreaterThanOrEqual(6);
  });
});
