import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstan, capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { type House, openHouse, readyNodes } from '../vm-cluster/house.ts';

const missing = await missingKubectl();
const name = 'from-class';

/** Output of `kubectl get -o json`. */
interface Listed {
  items: { metadata: { name: string }; spec: Record<string, never> }[];
}

describe.skipIf(missing !== undefined)(`a cluster made from a ClusterClass${missing ? ` (${missing})` : ''}`, () => {
  let house: House;
  const on = (...args: string[]): string[] => [...args, '--kubeconfig', house.capstan.kubeconfig];
  const patch = (operations: object[]): Promise<string> =>
    house.kubectl('patch', 'cluster', name, '--type', 'json', '-p', JSON.stringify(operations));
  const reconciled = (timeout: string): Promise<string> =>
    house.kubectl('wait', '--for=condition=TopologyReconciled', `cluster/${name}`, `--timeout=${timeout}`);
  const templates = async (): Promise<string[]> => {
    const listed = JSON.parse(
      await house.kubectl('get', 'openstackmachinetemplates', '-o', 'json', '-l', 'topology.cluster.x-k8s.io/owned'),
    ) as Listed;
    return listed.items.map(({ metadata }) => metadata.name).sort();
  };
  const machineVersions = async (): Promise<string[]> =>
    (await house.kubectl('get', 'machines', '-o', 'jsonpath={range .items[*]}{.spec.version}{"\\n"}{end}'))
      .split('\n')
      .filter((line) => line !== '');

  beforeAll(async () => {
    house = await openHouse();
  });
  afterAll(() => house?.stop());

  it('has Ready nodes after it is applied as the example says', async () => {
    const text = await capstanOk(on('apply', '-f', 'examples/cluster-class'));
    expect(text.split('\n')).toContain(`cluster.cluster.x-k8s.io/${name} created`);
    await eventually(async () => {
      await house.workload(name);
    }, 60_000);
    const found = await readyNodes(house, name, 2);
    expect(found.map(({ roles }) => roles).sort()).toEqual(['<none>', 'control-plane']);
    await house.kubectl('wait', '--for=condition=Available', `cluster/${name}`, '--timeout=60s');
    await reconciled('60s');
    expect(await house.kubectl('get', 'clusters')).toMatch(/CLUSTERCLASS[\s\S]*from-class +machines/);
    expect(await house.kubectl('get', 'cc')).toMatch(/machines +True/);
  });

  it('replaces its workers when a variable changes and leaves no template behind', async () => {
    const before = await templates();
    expect(before).toHaveLength(2);
    await patch([{ op: 'replace', path: '/spec/topology/variables/0/value', value: 'm1.medium' }]);
    await eventually(async () => {
      const after = await templates();
      expect(after).toHaveLength(2);
      expect(after).not.toEqual(before);
    }, 120_000);
    await readyNodes(house, name, 2);
  });

  it('upgrades the control plane, then the workers', async () => {
    await patch([{ op: 'replace', path: '/spec/topology/version', value: 'v1.34.2' }]);
    await eventually(async () => expect(await machineVersions()).toEqual(['v1.34.2', 'v1.34.2']), 180_000);
    await reconciled('120s');
    const workload = await house.workload(name);
    await eventually(async () => {
      const versions = await workload('get', 'nodes', '-o', 'jsonpath={.items[*].status.nodeInfo.kubeletVersion}');
      expect(versions.split(' ')).toEqual(['v1.34.2', 'v1.34.2']);
    }, 60_000);
  });

  it('is left alone when it is at rest', async () => {
    const generations = (): Promise<string> =>
      house.kubectl(
        'get',
        'clusters,openstackclusters,kubeadmcontrolplanes,machinedeployments,machinehealthchecks',
        '-o',
        'jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.generation}{"\\n"}{end}',
      );
    await house.kubectl('wait', '--for=condition=Available', `cluster/${name}`, '--timeout=60s');
    const before = await generations();
    await house.kubectl('annotate', 'cluster', name, 'look=again');
    await house.kubectl('annotate', 'clusterclass', 'machines', 'look=again');
    await reconciled('30s');
    expect(await generations()).toBe(before);
  });

  it('is deleted to the last resource', async () => {
    const outcome = await capstan(on('delete', 'cluster', name, '--timeout', '120s', '--yes'));
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    await eventually(async () => expect(await templates()).toEqual([]), 30_000);
    await eventually(async () => expect(await house.cloud.inventory()).toEqual(house.before), 30_000);
  });
});
