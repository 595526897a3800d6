import { afterEach, describe, expect, it } from 'vitest';
import { OpenStackMachines } from '../../../api/index.ts';
import { openStackServerController } from '../server/server-controller.ts';
import {
  createMachine,
  joinNodes,
  machineCondition,
  machineIsReady,
  setClusterStatus,
  usualClusterStatus,
} from '../testing/machines.ts';
import { createInfrastructureWorld, createOpenStackCluster, type InfrastructureWorld } from '../testing/world.ts';
import { openStackMachineController } from './machine-controller.ts';

let world: InfrastructureWorld;

afterEach(async () => {
  await world.stop();
});

const minute = 60_000;

describe('a machine whose Node does not join', () => {
  it('has its console read when it is late, rarely afterwards, and never once the Node joined', async () => {
    world = await createInfrastructureWorld({
      controllers: (dependencies) => [
        openStackServerController(dependencies),
        openStackMachineController(dependencies),
      ],
    });
    await createOpenStackCluster(world, 'c1');
    await setClusterStatus(world, 'c1', await usualClusterStatus(world));
    await createMachine(world, 'm1');
    await world.until(() => machineIsReady(world, 'm1'));
    const reads = (): number => world.requests.filter(({ path }) => path.endsWith('/action')).length;
    await world.pass(4 * minute);
    expect(reads()).toBe(0);
    expect(await machineCondition(world, 'm1', 'NodeStartup')).toBe('');

    await world.pass(2 * minute);
    expect(reads()).toBe(1);
    expect(await machineCondition(world, 'm1', 'NodeStartup')).toContain('NothingOnConsole');
    await world.pass(24 * 60 * minute);
    expect(reads()).toBeLessThan(40);

    await joinNodes(world, ['m1']);
    await world.until(async () => (await machineCondition(world, 'm1', 'NodeStartup')) === '');
    const before = reads();
    await world.pass(24 * 60 * minute);
    expect(reads()).toBe(before);
    expect((await world.get(OpenStackMachines, 'm1')).status?.conditions?.map(({ type }) => type)).not.toContain(
      'NodeStartup',
    );
  });
});
