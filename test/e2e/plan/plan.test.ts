import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Plan, PlannedChange } from '../../../src/cli/plan/types.ts';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { capstan, capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type CloudProcess, startCloud } from '../openstack-command/cloud-process.ts';

interface Manifest {
  kind: string;
  metadata: { name: string };
}
type MachineTemplate = Manifest & { spec: { template: { spec: object } } };
type Deployment = Manifest & { spec: { template: { spec: { infrastructureRef: { name: string } } } } };
interface Edit {
  template: MachineTemplate;
  machines: object;
  workers: Deployment['spec'];
  network: object;
}

type Printed = Plan & { works: boolean };

// Compares the output of `capstan plan` with the later state of the cloud.
describe('capstan plan', () => {
  let cloud: CloudProcess;
  let view: CloudView;
  let management: CapstanProcess;
  let env: Record<string, string>;
  /** a cluster with a load balancer, one control plane machine and one worker */
  let manifest: string;

  beforeAll(async () => {
    cloud = await startCloud({ args: [] });
    management = await startCapstan({ controllers: 'all' });
    view = await viewCloud({ cloudsYaml: cloud.cloudsYaml, url: cloud.url, adminToken: await cloud.adminToken() });
    await view.operate('PATCH', '/timings', { timeScale: 0.05 });
    // This home directory has no management API.
    const home = join(management.directory, 'home');
    await mkdir(home, { recursive: true });
    env = {
      OS_CLIENT_CONFIG_FILE: cloud.cloudsYaml,
      OPENSTACK_SSH_KEY_NAME: 'demo',
      HOME: home,
      KUBECONFIG: join(home, 'none'),
    };
    manifest = await generate('planned');
  });
  afterAll(async () => {
    await Promise.all([view?.close(), management?.stop(), cloud?.stop()]);
  });

  const generate = async (name: string, ...args: string[]): Promise<string> => {
    const { stdout, stderr, code } = await capstan(
      ['generate', 'cluster', name, '--cloud', 'openstack', '--worker-machine-count', '1', ...args],
      { env },
    );
    expect(code, stderr).toBe(0);
    return stdout;
  };
  /** Changes the manifest. For machine resources the change applies to the workers. */
  const edited = (change: (edit: Edit) => void): string => {
    const objects = parseAllDocuments(manifest).map((document) => document.toJS() as Manifest);
    const find = <T>(kind: string, name: string): T =>
      objects.find((object) => object.kind === kind && object.metadata.name === name) as T;
    const template = find<MachineTemplate>('OpenStackMachineTemplate', 'planned-md-0');
    change({
      template,
      machines: template.spec.template.spec,
      workers: find<Deployment>('MachineDeployment', 'planned-md-0').spec,
      network: find<Manifest & { spec: object }>('OpenStackCluster', 'planned').spec,
    });
    return objects.map((object) => JSON.stringify(object)).join('\n---\n');
  };
  const planOf = async (
    input: string,
    ...args: string[]
  ): Promise<Printed & { code: number | undefined; stderr: string }> => {
    const outcome = await capstan(['plan', '-f', '-', '-o', 'json', ...args], { input, env });
    expect(outcome.stdout, outcome.stderr).toMatch(/^\{/);
    return { ...(JSON.parse(outcome.stdout) as Printed), code: outcome.code, stderr: outcome.stderr };
  };
  const running = (): string[] => ['--kubeconfig', management.kubeconfig];
  const namesOf = (
    changes: readonly PlannedChange[],
    action: PlannedChange['action'],
    type: PlannedChange['type'],
  ): string[] => changes.filter((change) => change.action === action && change.type === type).map(({ name }) => name);
  const amounts = (changes: readonly PlannedChange[]): Record<string, number> => {
    const counted: Record<string, number> = {};
    for (const { action, type } of changes) counted[`${action} ${type}`] = (counted[`${action} ${type}`] ?? 0) + 1;
    return counted;
  };
  const untilReady = (): Promise<void> =>
    eventually(async () => {
      const { stdout } = await capstan(['get', 'clusters', ...running(), '-o', 'json'], { env });
      const { servers, loadBalancers } = await view.inventory();
      expect(stdout).toContain('"planned"');
      expect([servers.length, loadBalancers.length]).toEqual([2, 1]);
      const plan = await planOf(manifest, ...running());
      expect(plan.clusters[0]?.changes).toEqual([]);
    });

  it('lists what a new cluster would get, without a management API and without touching anything', async () => {
    const before = await view.inventory();
    const plan = await planOf(manifest);
    expect(plan.stderr).toContain('there is no management API');
    expect(plan, JSON.stringify(plan.problems)).toMatchObject({ code: 0, works: true, problems: [] });
    const [cluster] = plan.clusters;
    expect(cluster).toMatchObject({ namespace: 'default', name: 'planned', exists: false });
    const changes = cluster?.changes ?? [];
    expect(changes.every(({ action, cause }) => action === 'create' && cause === 'edit')).toBe(true);
    expect(amounts(changes)).toMatchObject({
      'create network': 1,
      'create subnet': 1,
      'create router': 1,
      'create routerInterface': 1,
      'create loadBalancer': 1,
      'create listener': 1,
      'create pool': 1,
      'create healthMonitor': 1,
      'create member': 1,
      'create floatingIp': 1,
      'create securityGroup': 2,
      'create port': 2,
      'create server': 2,
    });
    expect(namesOf(changes, 'create', 'server').sort()).toEqual(['planned-control-plane-*', 'planned-md-0-*-*']);
    expect(plan.quotas).toContainEqual(expect.objectContaining({ resource: 'instances', needed: 2, enough: true }));
    expect(plan.quotas).toContainEqual(expect.objectContaining({ resource: 'ports', needed: 4 }));
    expect(await view.inventory()).toEqual(before);
  });

  it('prints a readable plan', async () => {
    const prices = join(management.directory, 'prices.yaml');
    await writeFile(prices, 'flavors: {"*": 0.5}\nloadBalancer: {perMonth: 730}\nfloatingIP: 0.25\n');
    const outcome = await capstan(['plan', '-f', '-', '--prices', prices], { input: manifest, env });
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    expect(outcome.stdout).toContain('cluster default/planned (new) in project demo');
    expect(outcome.stdout).toMatch(/^ {2}\+ network k8s-clusterapi-cluster-default-planned$/m);
    expect(outcome.stdout).toMatch(/^ {2}\+ server planned-md-0-\*-\*: \S+, .*key demo$/m);
    expect(outcome.stdout).toMatch(/^QUOTA +NEEDED +LEFT$/m);
    expect(outcome.stdout).toMatch(/^instances +2 +\d+$/m);
    expect(outcome.stdout).toContain('cost: 2.2500 USD per hour, 1642.50 per month');
  });

  it.each<[what: string, change: (edit: Edit) => void, message: RegExp]>([
    [
      'an image',
      ({ machines }) => Object.assign(machines, { image: { filter: { name: 'no-such-image' } } }),
      /spec\.template\.spec\.image: there is no image named "no-such-image"/,
    ],
    [
      'a flavor',
      ({ machines }) => Object.assign(machines, { flavor: { filter: { name: 'no-such-flavor' } } }),
      /spec\.template\.spec\.flavor: there is no flavor named "no-such-flavor"/,
    ],
    [
      'a key',
      ({ machines }) => Object.assign(machines, { sshKeyName: 'no-such-key' }),
      /spec\.template\.spec\.sshKeyName: there is no key pair "no-such-key"/,
    ],
    [
      'a zone',
      ({ workers }) => Object.assign(workers.template.spec, { failureDomain: 'no-such-zone' }),
      /failureDomain: there is no availability zone "no-such-zone" that takes servers; there are /,
    ],
    [
      'a volume type',
      ({ machines }) => Object.assign(machines, { rootVolume: { sizeGiB: 20, type: 'no-such-type' } }),
      /there is no volume type "no-such-type"/,
    ],
    [
      'an external network',
      ({ network }) => Object.assign(network, { externalNetwork: { filter: { name: 'no-such-network' } } }),
      /spec\.externalNetwork: no external network matches name "no-such-network"/,
    ],
    [
      'credentials',
      ({ network }) => Object.assign(network, { identityRef: { name: 'no-such-secret', cloudName: 'openstack' } }),
      /no-such-secret/,
    ],
    [
      'a template',
      ({ workers }) => Object.assign(workers.template.spec.infrastructureRef, { name: 'no-such-template' }),
      /spec\.template\.spec\.infrastructureRef: there is no OpenStackMachineTemplate default\/no-such-template/,
    ],
  ])('names %s that does not exist, with the field, and exits with 2', async (_, change, message) => {
    const plan = await planOf(edited(change));
    expect(plan).toMatchObject({ code: 2, works: false });
    expect(plan.problems.map((problem) => problem.message).join('\n')).toMatch(message);
  });

  it('expands a LatticeCluster and says what the cloud lacks for it', async () => {
    const lattice = await generate('whole', '--flavor', 'lattice', '--control-plane-machine-count', '1');
    const plan = await planOf(lattice);
    expect(plan, JSON.stringify(plan.problems)).toMatchObject({ code: 0, works: true });
    const [cluster] = plan.clusters;
    expect(cluster).toMatchObject({ namespace: 'capi-whole', name: 'whole', exists: false });
    const changes = cluster?.changes ?? [];
    expect(namesOf(changes, 'create', 'loadBalancer')).toHaveLength(1);
    expect(namesOf(changes, 'create', 'server').sort()).toEqual([
      'whole-control-plane-*',
      expect.stringMatching(/^whole-pool-.*-\*-\*$/),
    ]);

    const lacking = await planOf(lattice.replace(/workerFlavor: .*/, 'workerFlavor: no-such-flavor'));
    expect(lacking).toMatchObject({ code: 2, works: false, clusters: [] });
    expect(lacking.problems).toContainEqual({
      object: 'LatticeCluster whole',
      message: expect.stringMatching(/^there is no flavor "no-such-flavor"; choose one of /),
      severity: 'error',
    });
  });

  it('continues when a document cannot be read, and exits with 2', async () => {
    const plan = await planOf(`${manifest}\n---\nkind: Cluster\n`);
    expect(plan).toMatchObject({ code: 2, works: false });
    expect(plan.problems).toHaveLength(1);
    expect(plan.clusters[0]?.changes.length).toBeGreaterThan(10);
  });

  it('exits with 2 when the quota is too small', async () => {
    const project = await view.openstack.projectId();
    await view.operate('PATCH', `/quotas/compute/${project}`, { instances: 1 });
    try {
      const plan = await planOf(manifest);
      expect(plan).toMatchObject({ code: 2, works: false });
      expect(plan.quotas).toContainEqual({
        cloud: expect.stringContaining('project demo'),
        resource: 'instances',
        needed: 2,
        left: 1,
        enough: false,
      });
    } finally {
      await view.operate('PATCH', `/quotas/compute/${project}`, { instances: 100 });
    }
  });

  it('warns about a name that is taken', async () => {
    const { networks } = view.openstack.network;
    const taken = await networks.create({ name: 'k8s-clusterapi-cluster-default-planned' });
    try {
      const plan = await planOf(manifest);
      expect(plan).toMatchObject({ code: 0, works: true });
      const [problem] = plan.problems;
      expect(problem).toMatchObject({ severity: 'warning', object: 'OpenStackCluster default/planned' });
      expect(problem?.message).toContain(taken.id);
    } finally {
      await networks.delete(taken.id);
    }
  });

  it('plans objects of a namespace that does not exist yet, beside a management API', async () => {
    const namespace = '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"fresh"}}\n---\n';
    const plan = await planOf(
      `${namespace}${manifest.replaceAll('namespace: default', 'namespace: fresh')}`,
      ...running(),
    );
    expect(plan, JSON.stringify(plan.problems)).toMatchObject({ code: 0, works: true });
    expect(plan.clusters[0]).toMatchObject({ namespace: 'fresh', exists: false });
    expect(plan.clusters[0]?.changes.length).toBeGreaterThan(10);
  });

  it('matches what the cloud shows afterwards', async () => {
    const plan = await planOf(manifest, ...running());
    expect(plan, JSON.stringify(plan.problems)).toMatchObject({ code: 0 });
    await capstanOk(['apply', '-f', '-', ...running()], { input: manifest });
    await untilReady();
    const { servers, networks, subnets, routers, securityGroups, loadBalancers, floatingIps } = await view.inventory();
    const changes = plan.clusters[0]?.changes ?? [];
    const asPattern = (name: string): RegExp => new RegExp(`^${name.replaceAll('*', '[a-z0-9]{5}')}$`);
    const shows = (type: PlannedChange['type'], there: readonly string[]): void => {
      for (const name of namesOf(changes, 'create', type)) {
        expect(
          there.filter((one) => asPattern(name).test(one)),
          `${type} ${name}`,
        ).toHaveLength(1);
      }
    };
    shows('server', servers);
    shows('network', networks);
    shows('subnet', subnets);
    shows('router', routers);
    shows('securityGroup', securityGroups);
    shows('loadBalancer', loadBalancers);
    expect(floatingIps).toHaveLength(1);
  });

  it('shows which machines an edit replaces, and why', async () => {
    const bigger = edited(({ machines, template, workers }) => {
      Object.assign(machines, { flavor: { filter: { name: 'm1.large' } } });
      template.metadata.name = 'planned-md-1';
      workers.template.spec.infrastructureRef.name = 'planned-md-1';
    });
    const plan = await planOf(bigger, ...running());
    const changes = plan.clusters[0]?.changes ?? [];
    expect(namesOf(changes, 'create', 'server'), JSON.stringify(plan)).toHaveLength(1);
    const [gone] = namesOf(changes, 'delete', 'server');
    expect((await view.inventory()).servers).toContain(gone);
    // The new machine is created before the old one is deleted.
    const order = changes.filter(({ type }) => type === 'server').map(({ action }) => action);
    expect(order).toEqual(['create', 'delete']);
    expect(plan.clusters[0]?.machines).toContainEqual(
      expect.objectContaining({ object: 'MachineDeployment default/planned-md-0', create: 1, delete: 1, replace: 1 }),
    );
  });

  it('finds a stored template that only the edit refers to', async () => {
    const objects = edited(({ machines, template, workers }) => {
      Object.assign(machines, { flavor: { filter: { name: 'm1.large' } } });
      template.metadata.name = 'planned-md-2';
      workers.template.spec.infrastructureRef.name = 'planned-md-2';
    }).split('\n---\n');
    const only = (wanted: string): string =>
      objects.find((object) => {
        const { kind, metadata } = JSON.parse(object) as Manifest;
        return `${kind}/${metadata.name}` === wanted;
      }) ?? '';
    const stored = only('OpenStackMachineTemplate/planned-md-2');
    await capstanOk(['apply', '-f', '-', ...running()], { input: stored });
    const plan = await planOf(only('MachineDeployment/planned-md-0'), ...running());
    expect(plan, JSON.stringify(plan.problems)).toMatchObject({ code: 0, works: true });
    expect(namesOf(plan.clusters[0]?.changes ?? [], 'create', 'server')).toHaveLength(1);
  });

  it('shows drift that the controllers would correct', async () => {
    const { network } = view.openstack;
    const group = await network.securityGroups.find('k8s-cluster-default-planned-secgroup-controlplane');
    const rule = group?.rules.find(({ portRangeMin }) => portRangeMin === 6443);
    // No controller corrects the drift before it is checked.
    await management.end();
    management = await startCapstan({ directory: management.directory, controllers: 'none' });
    await network.securityGroupRules.delete(rule?.id ?? '');
    const plan = await planOf(manifest, ...running());
    const drift = plan.clusters[0]?.changes.filter(({ cause }) => cause === 'drift') ?? [];
    expect(drift).toContainEqual(
      expect.objectContaining({ action: 'create', type: 'securityGroupRule', detail: 'ingress IPv4 tcp 6443' }),
    );
  });

  it('reports when nothing can be planned', async () => {
    expect(await capstan(['plan', '-f', '/nonexistent.yaml'], { env })).toMatchObject({ code: 2, stdout: '' });
    expect(await capstan(['plan'], { env })).toMatchObject({ code: 2 });
    const empty = await capstan(['plan', '-f', '-'], { input: '# nothing\n', env });
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('the files contain nothing to plan') });
    const outcome = await capstan(['plan', '-f', '-', '--cloud', 'nobody'], { input: manifest, env });
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(await readFile(cloud.cloudsYaml, 'utf8')).not.toBe('');
  });
});
