import { afterEach, describe, expect, it } from 'vitest';
import { OpenStackClusters } from '../../../api/index.ts';
import { requestsSince } from '../testing/footprint.ts';
import { createInfrastructureWorld, createOpenStackCluster, type InfrastructureWorld } from '../testing/world.ts';
import { openStackClusterController } from './cluster-controller.ts';

let world: InfrastructureWorld;
afterEach(() => world.stop());

describe('a restart of the OpenStackCluster controller', () => {
  it('needs as many requests for twelve clusters as for one, and writes nothing', async () => {
    world = await createInfrastructureWorld({
      controllers: (dependencies) => [openStackClusterController(dependencies)],
    });
    for (let i = 0; i < 12; i++) {
      await createOpenStackCluster(world, `c${i}`, {
        managedSubnets: [{ cidr: '10.6.0.0/24' }],
        managedSecurityGroups: {},
      });
    }
    await world.until(async () =>
      (await world.list(OpenStackClusters)).every(({ status }) => status?.initialization?.provisioned === true),
    );
    await world.pass(30_000);
    const writes = world.writes();
    const start = world.requests.length;
    await world.restart();
    await world.pass(20_000);
    expect(world.writes()).toBe(writes);
    expect(requestsSince(world, start).length).toBeLessThanOrEqual(12);
  });
});
