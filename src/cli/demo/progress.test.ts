import { describe, expect, it } from 'vitest';
import type { AnyObject } from '../describe/fields.ts';
import { made } from '../describe/testing/objects.ts';
import { demoExamples, exampleDirectory } from './examples.ts';
import { isComplete, stagesOf } from './progress.ts';
import { throughGateway } from './workload-kubeconfig.ts';

const api = 'cluster.x-k8s.io/v1beta2';
const cluster = (more: { spec?: object; status?: object } = {}): AnyObject => made(api, 'Cluster', 'c', more);
const workers = (availableReplicas: number): AnyObject =>
  made(api, 'MachineDeployment', 'md', { spec: { replicas: 2 }, status: { availableReplicas } });
const machine = (name: string, more: { spec?: object; status?: object } = {}): AnyObject =>
  made(api, 'Machine', name, more);

const ready = {
  spec: { providerID: 'openstack:///1' },
  status: { nodeRef: { name: 'n' }, conditions: [{ type: 'NodeReady', status: 'True' }] },
};
const there = cluster({
  spec: { controlPlaneEndpoint: { host: '192.0.2.1', port: 6443 } },
  status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } },
});

describe('the progress of a cluster', () => {
  it('begins with no stage done', () => {
    const stages = stagesOf({ cluster: cluster(), objects: [] });
    expect(stages.map(({ done }) => done)).toEqual(stages.map(() => false));
  });

  it('shows the address and counts workers', () => {
    const joined = { spec: ready.spec, status: { nodeRef: { name: 'n' } } };
    const stages = stagesOf({ cluster: there, objects: [workers(0), machine('a', joined), machine('b')] });
    expect(stages.map(({ done, detail }) => `${done} ${detail}`)).toEqual([
      'true https://192.0.2.1:6443',
      'true ',
      'true ',
      'false 1 of 2',
      'false 1 of 2',
      'false 0 of 2',
      'false 0 of 2 workers',
    ]);
    expect(isComplete(stages)).toBe(false);
  });

  it('is complete when all workers are available and the cluster is Available', () => {
    const objects = [machine('a', ready), machine('b', ready)];
    const said = (status: string): AnyObject => ({
      ...there,
      ...{ status: { ...(there as { status?: object }).status, conditions: [{ type: 'Available', status }] } },
    });
    expect(isComplete(stagesOf({ cluster: said('True'), objects: [workers(1), ...objects] }))).toBe(false);
    expect(isComplete(stagesOf({ cluster: said('False'), objects: [workers(2), ...objects] }))).toBe(false);
    expect(isComplete(stagesOf({ cluster: said('True'), objects: [workers(2), ...objects] }))).toBe(true);
  });
});

describe('a demo example', () => {
  it.each(Object.values(demoExamples))('of $cluster is shipped with the program', ({ directory }) => {
    expect(exampleDirectory(directory)).toMatch(new RegExp(`/examples/${directory}$`));
  });

  it('is refused when its directory does not exist', () => {
    expect(() => exampleDirectory('no-such-example')).toThrow(/no-such-example/);
  });
});

describe('a kubeconfig of a cluster behind a Gateway', () => {
  const text = 'apiVersion: v1\nclusters:\n- name: c\n  cluster:\n    server: https://c.example:8443\n';

  it('gets the address of the Gateway and keeps the name as tls-server-name', () => {
    const changed = throughGateway(text, '127.65.0.9');
    expect(changed).toContain('server: https://127.65.0.9:8443');
    expect(changed).toContain('tls-server-name: c.example');
  });

  it('stays unchanged when it contains an address', () => {
    const plain = text.replace('c.example', '192.0.2.1');
    expect(throughGateway(plain, '127.65.0.9')).toBe(plain);
  });
});
