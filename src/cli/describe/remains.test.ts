import { describe, expect, it } from 'vitest';
import type { AnyObject } from './fields.ts';
import { describeRemains, remainsOf } from './remains.ts';
import { core, infrastructure, made, modern } from './testing/objects.ts';

const cluster = made(core, 'Cluster', 'c', {
  spec: {
    controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'cp' },
    infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackCluster', name: 'c' },
  },
  deleting: true,
});
const network = made(infrastructure, 'OpenStackCluster', 'c', {
  status: { conditions: [modern('Deleting', 'True', 5, { message: 'waiting for the load balancer\nPENDING_DELETE' })] },
});
const controlPlane = made('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', 'cp');
const machine = (name: string, labels: Record<string, string> = {}): AnyObject =>
  made(core, 'Machine', name, { labels });
const first = machine('cp-1', { 'cluster.x-k8s.io/control-plane': '' });
const worker = machine('w-1');
const deployment = made(core, 'MachineDeployment', 'w');

describe('the remains of a cluster that is being deleted', () => {
  it.each([
    [[worker, deployment, first, controlPlane, network], 'workers', ['Machine/w-1', 'MachineDeployment/w']],
    [[deployment, controlPlane, network], 'workers', ['MachineDeployment/w']],
    [[first, controlPlane, network], 'control plane', ['KubeadmControlPlane/cp', 'Machine/cp-1']],
    [[network], 'infrastructure', ['OpenStackCluster/c']],
    [[], 'cluster', ['Cluster/c']],
  ])('%#: wait for the %s', (objects, phase, waitingFor) => {
    expect(remainsOf({ cluster, objects })).toMatchObject({ phase, waitingFor });
  });

  it('include the reasons given by the objects', () => {
    expect(remainsOf({ cluster, objects: [network] }).reasons).toEqual([
      'OpenStackCluster/c: waiting for the load balancer; PENDING_DELETE',
    ]);
  });

  it("include the reason from the Ready condition of a machine's infrastructure", () => {
    const name = 'w-1';
    const stuck = made(core, 'Machine', name, {
      spec: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachine', name } },
      status: {
        conditions: [modern('Deleting', 'True', 5, { message: 'Waiting for OpenStackMachine to be deleted' })],
      },
    });
    const message = 'Secret default/creds does not exist; create it';
    const status = { conditions: [modern('Ready', 'False', 5, { message })] };
    const server = made(infrastructure, 'OpenStackMachine', name, { status, deleting: true });
    expect(remainsOf({ cluster, objects: [stuck, server] }).reasons).toEqual([
      'Machine/w-1: Waiting for OpenStackMachine to be deleted',
      `OpenStackMachine/w-1: ${message}`,
    ]);
    // Problems of an object do not delay the deletion before its turn.
    const untouched = made(infrastructure, 'OpenStackMachine', name, { status });
    expect(remainsOf({ cluster, objects: [stuck, untouched] }).reasons).toHaveLength(1);
  });

  it('are described in one line, however many there are', () => {
    const objects = [...['a', 'b', 'c', 'd', 'e'].map((name) => machine(name)), deployment];
    expect(describeRemains(remainsOf({ cluster, objects }))).toBe(
      'deleting the workers: 5 Machines, MachineDeployment/w',
    );
  });
});
