import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenStackClusterSpec, OpenStackClusters } from '../../../api/index.ts';
import { ApiUnreachableError } from '../../../client/index.ts';
import type { FaultRule } from '../../../runtime/testkit/index.ts';
import { added, footprint } from '../testing/footprint.ts';
import {
  createInfrastructureWorld,
  createOpenStackCluster,
  type Fate,
  type InfrastructureWorld,
} from '../testing/world.ts';
import { openStackClusterController } from './cluster-controller.ts';

let world: InfrastructureWorld;
let before: string[];
/** faults of the management API */
const faults: FaultRule[] = [];

beforeAll(async () => {
  world = await createInfrastructureWorld({
    controllers: (dependencies) => [openStackClusterController(dependencies)],
    // other tests cover Octavia's delays
    cloud: { timeScale: 0.1 },
    faults,
  });
  before = await footprint(world.tenant);
});
afterAll(() => world.stop());

const variants: Record<string, Partial<OpenStackClusterSpec>> = {
  'with a floating IP': { tags: ['a'], managedSubnets: [{ cidr: '10.6.0.0/24' }], managedSecurityGroups: {} },
  'with a load balancer': {
    managedSubnets: [{ cidr: '10.6.0.0/24' }],
    managedSecurityGroups: {},
    apiServer: { managedLoadBalancer: { enabled: true } },
  },
};

const find = (name: string) => world.find(OpenStackClusters, name);
const isProvisioned = async (name: string): Promise<boolean> =>
  (await find(name))?.status?.initialization?.provisioned === true;
const isGone = async (name: string): Promise<boolean> => (await find(name)) === undefined;
/** Normalizes names and owners, so that the resources of clusters can be compared. */
const likeness = (lines: readonly string[], name: string): string[] =>
  lines.map((line) =>
    line
      .replace(new RegExp(`-${name}\\b`), '-NAME')
      .replace(/\[owner [-0-9a-f]+/, '[owner UID')
      .replace(/octavia-lb-[-0-9a-f]+/, 'octavia-lb-ID'),
  );

/**
 * Applies a fate to the n-th change from now on; with `crash`, also restarts the controllers there. Returns whether
 * that change happened. Reads do not count: a crash at a read equals a crash before the next change.
 */
async function strike(n: number, fate: Fate, crash: boolean, goal: () => Promise<boolean>): Promise<boolean> {
  let changes = 0;
  let struck = false;
  world.setFate(({ method, path }) => {
    if (method === 'GET' || path.startsWith('/identity')) return 'pass';
    if (++changes !== n) return 'pass';
    struck = true;
    return fate;
  });
  if (crash) {
    await world.until(async () => struck || (await goal()));
    if (struck) await world.restart();
  }
  await world.until(goal);
  world.setFate(undefined);
  return struck;
}

// A crash before a change equals one after the previous change, and a failed change at a crash adds nothing new, so
// these combinations are enough.
const fates: readonly { fate: Fate; crash: boolean; title: string }[] = [
  { fate: 'lose', crash: false, title: 'whose answer is lost' },
  { fate: 'lose', crash: true, title: 'that is done as the program dies' },
];

describe.each(Object.entries(variants))('an OpenStackCluster %s under faults', (_, spec) => {
  let serial = 0;
  let whole: string[];

  const named = (): string => `c${++serial}${spec.apiServer ? 'b' : 'a'}`;

  beforeAll(async () => {
    const name = named();
    await createOpenStackCluster(world, name, spec);
    await world.until(() => isProvisioned(name));
    whole = likeness(added(before, await footprint(world.tenant)), name);
    await world.client.delete(OpenStackClusters, { namespace: world.namespace, name });
    await world.until(() => isGone(name));
    expect(await footprint(world.tenant)).toEqual(before);
  });

  it.each(fates)(
    'survives any change $title without leaks or duplicates',
    { timeout: 120_000 },
    async ({ fate, crash }) => {
      for (let n = 1; ; n++) {
        const name = named();
        await createOpenStackCluster(world, name, spec);
        const made = await strike(n, fate, crash, () => isProvisioned(name));
        expect(likeness(added(before, await footprint(world.tenant)), name), `change ${n} of the creation`).toEqual(
          whole,
        );
        await world.client.delete(OpenStackClusters, { namespace: world.namespace, name });
        const deleted = await strike(n, fate, crash, () => isGone(name));
        expect(await footprint(world.tenant), `change ${n} of the deletion`).toEqual(before);
        if (!made && !deleted) break;
        expect(n).toBeLessThan(80);
      }
    },
  );

  it.each(['before', 'after'] as const)(
    'survives a management API write that fails %s it was done',
    { timeout: 120_000 },
    async (when) => {
      for (let nth = 1; ; nth++) {
        const name = named();
        let struck = 0;
        faults[0] = {
          verb: 'patch',
          resource: 'OpenStackCluster',
          nth,
          when,
          error: () => {
            struck++;
            return new ApiUnreachableError('read ECONNRESET');
          },
        };
        await createOpenStackCluster(world, name, spec);
        await world.until(() => isProvisioned(name));
        expect(likeness(added(before, await footprint(world.tenant)), name), `write ${nth}`).toEqual(whole);
        await world.client.delete(OpenStackClusters, { namespace: world.namespace, name });
        await world.until(() => isGone(name));
        faults.length = 0;
        expect(await footprint(world.tenant), `write ${nth}`).toEqual(before);
        if (struck === 0) break;
        expect(nth).toBeLessThan(40);
      }
    },
  );
});
