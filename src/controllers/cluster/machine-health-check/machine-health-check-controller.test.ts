import { afterEach, describe, expect, it } from 'vitest';
import {
  type MachineHealthCheck,
  MachineHealthChecks,
  type MachineSet,
  MachineSets,
  Machines,
  Nodes,
} from '../../../api/index.ts';
import { formatTime } from '../../../machinery/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { setNodeConditions } from '../../testing/fake-provider.ts';
import { FakeRemediations, FakeRemediationTemplates, infrastructureGroup } from '../../testing/provider-kinds.ts';
import {
  by,
  createCluster,
  createTemplates,
  createWorld,
  machineTemplateSpec,
  type World,
  type WorldOptions,
} from '../../testing/world.ts';

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function begin(
  replicas: number,
  remediation: MachineHealthCheck['spec']['remediation'] = {},
  options: WorldOptions = {},
): Promise<World> {
  world = await createWorld(options);
  const w = world;
  await createCluster(w);
  await createTemplates(w);
  const set: MachineSet = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineSet',
    metadata: { name: 'ms', namespace: w.namespace },
    spec: {
      clusterName: 'c1',
      replicas,
      selector: { matchLabels: { pool: 'a' } },
      template: { metadata: { labels: { pool: 'a' } }, spec: machineTemplateSpec() },
    },
  };
  await w.client.create(MachineSets, set, by);
  const check: MachineHealthCheck = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineHealthCheck',
    metadata: { name: 'mhc', namespace: w.namespace },
    spec: {
      clusterName: 'c1',
      selector: { matchLabels: { pool: 'a' } },
      checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'False', timeoutSeconds: 300 }] },
      ...(Object.keys(remediation).length > 0 && { remediation }),
    },
  };
  await w.client.create(MachineHealthChecks, check, by);
  return w;
}

const healthy = (w: World, count: number) => async (): Promise<boolean> =>
  (await w.find(MachineHealthChecks, 'mhc'))?.status?.currentHealthy === count;
const sicken = (w: World, name: string) =>
  setNodeConditions(w.workload, name, [
    { type: 'Ready', status: 'False', reason: 'KubeletNotReady', lastTransitionTime: formatTime(w.clock.now()) },
  ]);

describe('a machine health check', () => {
  it('has unhealthy machines replaced by their owner after the timeout', async () => {
    const w = await begin(2);
    await w.until(healthy(w, 2));
    const names = (await w.list(Machines)).map(({ metadata }) => metadata.name ?? '');
    for (const machine of await w.list(Machines)) {
      expect(conditionOf(machine, 'HealthCheckSucceeded')?.status).toBe('True');
    }
    const sick = names[0]!;
    await sicken(w, sick);
    await w.pass(200_000);
    expect(conditionOf(await w.find(Machines, sick), 'HealthCheckSucceeded')?.status).toBe('True');
    expect((await w.find(MachineHealthChecks, 'mhc'))?.status?.currentHealthy).toBe(1);
    await w.until(async () => (await w.find(Machines, sick)) === undefined);
    await w.until(async () => (await healthy(w, 2)()) && (await w.list(Machines)).length === 2);
    const check = await w.find(MachineHealthChecks, 'mhc');
    expect(check?.status).toMatchObject({ expectedMachines: 2, remediationsAllowed: 2 });
    expect(check?.status?.targets).toHaveLength(2);
    expect(check?.metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Cluster', name: 'c1' });
  });

  it('remediates nothing when too many machines are unhealthy', async () => {
    const w = await begin(3, { triggerIf: { unhealthyLessThanOrEqualTo: '40%' } });
    await w.until(healthy(w, 3));
    const names = (await w.list(Machines)).map(({ metadata }) => metadata.name ?? '');
    await sicken(w, names[0]!);
    await sicken(w, names[1]!);
    await w.until(
      async () => conditionOf(await w.find(Machines, names[0]!), 'HealthCheckSucceeded')?.status === 'False',
    );
    await w.pass(60_000);
    expect((await w.list(Machines)).map(({ metadata }) => metadata.name)).toEqual(names);
    expect(conditionOf(await w.find(Machines, names[0]!), 'OwnerRemediated')).toBeUndefined();
    expect(conditionOf(await w.find(MachineHealthChecks, 'mhc'), 'RemediationAllowed')).toMatchObject({
      status: 'False',
      reason: 'TooManyUnhealthy',
      message:
        'Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (total: 3, unhealthy: 2, maxUnhealthy: 40%)',
    });
  });

  it('has machines replaced that never become Nodes', async () => {
    let broken = true;
    const w = await begin(1, {}, { broken: () => broken });
    await w.until(async () => (await w.list(Machines)).length === 1);
    const [first] = await w.list(Machines);
    await w.until(async () => (await w.list(Machines)).every(({ metadata }) => metadata.uid !== first?.metadata.uid));
    broken = false;
    await w.until(healthy(w, 1), 3_600_000);
  });

  it('has a machine replaced whose Node was deleted', async () => {
    const w = await begin(1);
    await w.until(healthy(w, 1));
    const name = (await w.list(Machines))[0]?.metadata.name ?? '';
    await w.workload.delete(Nodes, { name });
    await w.until(async () => (await w.find(Machines, name)) === undefined);
    await w.until(healthy(w, 1));
  });

  it('creates a remediation request from a template, and deletes it when the machine recovers', async () => {
    const templateRef = { apiVersion: `${infrastructureGroup}/v1`, kind: 'FakeRemediationTemplate', name: 'reboot' };
    const w = await begin(1, { templateRef });
    await w.client.create(
      FakeRemediationTemplates,
      {
        apiVersion: `${infrastructureGroup}/v1`,
        kind: 'FakeRemediationTemplate',
        metadata: { name: 'reboot', namespace: w.namespace },
        spec: { template: { spec: { strategy: 'reboot' } } },
      },
      by,
    );
    await w.until(healthy(w, 1));
    const name = (await w.list(Machines))[0]?.metadata.name ?? '';
    await sicken(w, name);
    await w.until(async () => (await w.find(FakeRemediations, name)) !== undefined);
    expect((await w.find(FakeRemediations, name))?.spec).toEqual({ strategy: 'reboot' });
    await w.until(
      async () => conditionOf(await w.find(Machines, name), 'ExternallyRemediated')?.reason === 'WaitingForRemediation',
    );
    expect(conditionOf(await w.find(Machines, name), 'OwnerRemediated')).toBeUndefined();
    await setNodeConditions(w.workload, name, [
      { type: 'Ready', status: 'True', lastTransitionTime: formatTime(w.clock.now()) },
    ]);
    await w.until(async () => (await w.find(FakeRemediations, name)) === undefined);
    await w.until(async () => conditionOf(await w.find(Machines, name), 'HealthCheckSucceeded')?.status === 'True');
    expect(conditionOf(await w.find(Machines, name), 'ExternallyRemediated')).toBeUndefined();
  });
});
