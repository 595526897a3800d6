import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const missing = await missingKubectl();
const clusterName = 'k8s-clusterapi-cluster-default-basic-1';
const patienceMs = 180_000;

// Guide 003 step by step, in its order: a control plane on machines without a load balancer, in the oldest form of the API.
describe.skipIf(missing !== undefined)(`guide 003${missing ? ` (${missing})` : ''}`, { timeout: 240_000 }, () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench?.stop());
  // Every step stands on the one before; after a failure the others would only wait in vain.
  let failed = false;
  beforeEach((context) => context.skip(failed, 'an earlier step failed'));
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  const nodes = async (): Promise<{ name: string; status: string; isControlPlane: boolean }[]> =>
    (await bench.workload('get', 'nodes', '--no-headers'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [name = '', status = '', roles = ''] = line.split(/\s+/);
        return { name, status, isControlPlane: /master|control-plane/.test(roles) };
      });
  const untilNodes = (controlPlanes: number, workers: number): Promise<void> =>
    eventually(async () => {
      const found = await nodes();
      const ready = found.filter(({ status }) => status === 'Ready');
      expect(ready).toHaveLength(found.length);
      expect(found.filter(({ isControlPlane }) => isControlPlane)).toHaveLength(controlPlanes);
      expect(found.filter(({ isControlPlane }) => !isControlPlane)).toHaveLength(workers);
    }, patienceMs);
  /** the columns of `kubectl get kcp`, which must agree with what is there */
  const untilCounted = (replicas: number): Promise<void> =>
    eventually(async () => {
      const kcp = JSON.parse(await bench.kubectl('get', 'kcp', 'basic-1-control-plane', '-o', 'json')) as {
        status: Record<string, unknown>;
      };
      expect(kcp.status).toMatchObject({
        replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
        upToDateReplicas: replicas,
      });
    }, patienceMs);
  const floatingIp = async (): Promise<{ address: string; portId: string | undefined }> => {
    const { floatingIps } = await bench.cloud.inventory();
    expect(floatingIps).toHaveLength(1);
    const { address, portId } = floatingIps[0]!;
    return { address, portId };
  };
  /** the server whose port the floating address leads to */
  const holder = async (): Promise<string> => {
    const { portId } = await floatingIp();
    const port = await bench.cloud.openstack.network.ports.get(portId ?? '');
    return port?.deviceId ?? '';
  };
  const scale = (replicas: number): Promise<string> =>
    bench.kubectl('scale', 'kcp/basic-1-control-plane', `--replicas=${replicas}`);

  it('creates secret, infrastructure and cluster: groups, network, subnet, router and a reserved floating address', async () => {
    await bench.apply('1-secret.yaml');
    await bench.apply('2-openstackcluster.yaml');
    await bench.apply('3-cluster.yaml');
    await eventually(async () => {
      const { securityGroups, networks, subnets, routers } = await bench.cloud.inventory();
      expect(securityGroups).toEqual(
        expect.arrayContaining([
          'k8s-cluster-default-basic-1-secgroup-controlplane',
          'k8s-cluster-default-basic-1-secgroup-worker',
        ]),
      );
      for (const names of [networks, subnets, routers]) expect(names).toContain(clusterName);
      await floatingIp();
    }, patienceMs);
    expect((await floatingIp()).portId).toBeUndefined();
  });

  it('brings up the control plane at that very address', async () => {
    const { address } = await floatingIp();
    await bench.apply('4-control-plane-template.yaml');
    await bench.apply('5-control-plane.yaml');
    await untilNodes(1, 0);
    expect((await floatingIp()).address).toBe(address);
    expect(await bench.kubectl('get', 'cluster', 'basic-1', '-o', 'jsonpath={.spec.controlPlaneEndpoint.host}')).toBe(
      address,
    );
    await untilCounted(1);
  });

  it('adds a worker', async () => {
    await bench.apply('6-worker-template.yaml');
    await bench.apply('7-worker-config.yaml');
    await bench.apply('8-machine-deployment.yaml');
    await untilNodes(1, 1);
  });

  it('scales the control plane up, and the floating address does not travel', async () => {
    const before = await holder();
    await scale(3);
    await untilNodes(3, 1);
    await untilCounted(3);
    expect(await holder()).toBe(before);
  });

  it('scales it down, and up again', async () => {
    await scale(1);
    await untilNodes(1, 1);
    await untilCounted(1);
    await scale(3);
    await untilNodes(3, 1);
    await untilCounted(3);
  });

  it('moves the floating address when the machine that has it stops, and the API answers on', async () => {
    const stopped = await holder();
    await bench.cloud.operate('POST', `/servers/${stopped}/stop`);
    await eventually(async () => {
      expect(await holder()).not.toBe(stopped);
      await nodes();
    }, patienceMs);
    await bench.cloud.operate('POST', `/servers/${stopped}/start`);
    await untilNodes(3, 1);
  });

  it('replaces a control plane machine that was deleted', async () => {
    const names = (await bench.kubectl('get', 'machines', '-l', 'cluster.x-k8s.io/control-plane', '-o', 'name'))
      .trim()
      .split('\n');
    await bench.kubectl('delete', names[0]!, '--wait=true');
    await untilNodes(3, 1);
    await untilCounted(3);
    const after = await bench.kubectl('get', 'machines', '-l', 'cluster.x-k8s.io/control-plane', '-o', 'name');
    expect(after).not.toContain(`${names[0]}\n`);
  });

  it('is deleted with one command, to the last resource', async () => {
    await bench.kubectl('delete', 'cluster', 'basic-1', '--wait=true', '--timeout=180s');
    expect(await bench.cloud.inventory()).toEqual(bench.before);
  });
});
