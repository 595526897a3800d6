import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type CloudProcess, startCloud } from '../openstack-command/cloud-process.ts';

// A management API is lost with its data. A new one finds the resources the old one created, and deletes them.
describe('verbs that look at the cloud', () => {
  let cloud: CloudProcess;
  let view: CloudView;
  let lost: CapstanProcess;
  let other: CapstanProcess;
  let env: Record<string, string>;
  let before: Awaited<ReturnType<CloudView['inventory']>>;

  beforeAll(async () => {
    cloud = await startCloud({ args: [] });
    [lost, other] = await Promise.all([startCapstan({ controllers: 'all' }), startCapstan({})]);
    view = await viewCloud({ cloudsYaml: cloud.cloudsYaml, url: cloud.url, adminToken: await cloud.adminToken() });
    await view.operate('PATCH', '/timings', { timeScale: 0.05 });
    before = await view.inventory();
    env = { OS_CLIENT_CONFIG_FILE: cloud.cloudsYaml, OPENSTACK_SSH_KEY_NAME: 'demo' };
    const args = ['generate', 'cluster', 'leaky', '--cloud', 'openstack', '--worker-machine-count', '1'];
    const { stdout } = await capstan(args, { env });
    const applied = await capstan(['apply', '-f', '-', '--kubeconfig', lost.kubeconfig], { input: stdout, env });
    expect(applied, applied.stderr).toMatchObject({ code: 0 });
    await eventually(async () => {
      const { servers, loadBalancers } = await view.inventory();
      expect(loadBalancers).toHaveLength(1);
      expect(servers).toHaveLength(2);
    });
  });
  afterAll(async () => {
    await Promise.all([view?.close(), lost?.stop(), other?.stop(), cloud?.stop()]);
  });

  const audit = (...args: string[]): ReturnType<typeof capstan> =>
    capstan(['audit', '--kubeconfig', other.kubeconfig, '--cloud', 'openstack', ...args], { env });

  it('cost sums up the resources of a cluster by the price table of the user', async () => {
    const prices = join(lost.directory, 'prices.yaml');
    await writeFile(prices, 'flavors: {"*": 0.5}\nloadBalancer: {perMonth: 730}\nfloatingIP: 0.25\n');
    const { stdout, stderr } = await capstan([
      'cost',
      '--kubeconfig',
      lost.kubeconfig,
      '--prices',
      prices,
      '-o',
      'json',
    ]);
    expect(JSON.parse(stdout), stderr).toMatchObject({
      currency: 'USD',
      costs: [
        { group: 'default/leaky', controlPlane: 0.5, workers: 0.5, network: 1.25, perHour: 2.25, perMonth: 1642.5 },
      ],
      comparison: { onMachines: { clusters: 1 }, hosted: { clusters: 0 } },
      unpriced: [],
    });
    const guide = await capstan(['cost', '--kubeconfig', lost.kubeconfig, '--by', 'namespace']);
    expect(guide.stdout).toMatch(/NAMESPACE +CONTROL PLANE .*\ndefault +0\.0000 /);
    expect(guide.stderr).toContain('no price for flavor');
  });

  it('why names the object at fault, the cause in the words of the cloud, and what to do', async () => {
    const args = ['generate', 'cluster', 'stuck', '--cloud', 'openstack', '--flavor', 'without-lb'];
    const { stdout } = await capstan(args, {
      env: { ...env, OPENSTACK_IMAGE_NAME: 'no-such-image', OPENSTACK_NODE_CIDR: '10.9.0.0/24' },
    });
    await capstan(['apply', '-f', '-', '--kubeconfig', lost.kubeconfig], { input: stdout });
    await eventually(async () => {
      const outcome = await capstan(['why', 'stuck', '--kubeconfig', lost.kubeconfig]);
      expect(outcome.code).toBe(1);
      expect(outcome.stdout).toMatch(/^stuck waits for OpenStackMachine\/stuck-control-plane-\S+ \(.*no-such-image/);
      expect(outcome.stdout).toContain('next: ');
    });
    expect(await capstan(['why', 'nobody', '--kubeconfig', lost.kubeconfig])).toMatchObject({ code: 1, stdout: '' });
    expect(await capstan(['why', 'pod', 'x', '--kubeconfig', lost.kubeconfig])).toMatchObject({ code: 2 });
  });

  it('doctor cluster checks from the management API to the Nodes and names what is wrong', async () => {
    const doctor = (...args: string[]) => capstan(['doctor', ...args, '--kubeconfig', lost.kubeconfig], { env });
    type Findings = { findings: { check: string; status: string; detail: string; cure?: string }[] };
    await eventually(async () => {
      const { code, stdout } = await doctor('cluster', 'leaky', '-o', 'json');
      const { findings } = JSON.parse(stdout) as Findings;
      expect(findings.filter(({ status }) => status === 'failed')).toEqual([]);
      expect(code).toBe(0);
      const of = (check: string): string => findings.find((finding) => finding.check === check)?.detail ?? '';
      expect(of('load balancer')).toMatch(/\([0-9a-f-]{36}\) is ACTIVE, ONLINE/);
      expect(of('quota')).toContain('enough for one more machine');
      expect(of('nodes')).toBe('2 of 2 Ready');
      expect(of('API endpoint')).toContain('answers');
    }, 120_000);
    const stuck = await doctor('cluster', 'stuck');
    expect(stuck).toMatchObject({ code: 1 });
    expect(stuck.stdout).toMatch(/^FAILED +cluster +OpenStackMachine\/stuck-control-plane-.*no-such-image/m);
    expect(stuck.stdout).toMatch(/^SKIPPED +nodes /m);
    expect(await doctor('cluster')).toMatchObject({ code: 2 });
    expect(await doctor('machine', 'leaky')).toMatchObject({ code: 2 });
    expect(await doctor('cluster', 'nobody')).toMatchObject({ code: 1, stdout: '' });
  });

  it('audit finds nothing to do where the owner exists', async () => {
    const outcome = await capstan(['audit', '--kubeconfig', lost.kubeconfig], { env });
    expect(outcome, outcome.stdout).toMatchObject({ code: 0 });
    expect(outcome.stdout).not.toMatch(/no owner|not in the cloud/);
    expect(outcome.stdout).toContain('everything has its owner');
    expect(await audit('--also-owners-of', lost.kubeconfig)).toMatchObject({ code: 0 });
  });

  it('audit shows what a lost management API left and deletes only that when told to', async () => {
    const { network } = view.openstack;
    const precious = await network.networks.create({ name: 'k8s-clusterapi-cluster-default-old' });
    await lost.end('SIGKILL');
    const found = await audit('-o', 'json');
    expect(found, found.stderr).toMatchObject({ code: 1 });
    const [report] = (
      JSON.parse(found.stdout) as { clouds: { orphans: { type: string }[]; foreign: { id: string }[] }[] }
    ).clouds;
    const types = new Set(report?.orphans.map(({ type }) => type));
    for (const type of [
      'server',
      'load balancer',
      'floating IP',
      'port',
      'router',
      'subnet',
      'network',
      'security group',
    ]) {
      expect(types).toContain(type);
    }
    expect(report?.foreign.map(({ id }) => id)).toContain(precious.id);

    const unasked = await audit('--delete');
    expect(unasked).toMatchObject({ code: 1 });
    expect(unasked.stderr).toContain('nothing was deleted');
    const deleted = await audit('--delete', '--yes');
    expect(deleted, deleted.stderr).toMatchObject({ code: 0 });
    await network.networks.delete(precious.id);
    expect(await view.inventory()).toEqual(before);
    expect((await audit()).stdout).not.toMatch(/no owner|not in the cloud/);
  });

  it('audit looks at $OS_CLOUD where no object names a cloud, but deletes nothing there', async () => {
    const here = ['audit', '--kubeconfig', other.kubeconfig];
    const looked = await capstan(here, { env: { ...env, OS_CLOUD: 'openstack' } });
    expect(looked, looked.stderr).toMatchObject({ code: 0 });
    expect(looked.stdout).toContain('everything has its owner');
    const deleted = await capstan([...here, '--delete', '--yes'], { env: { ...env, OS_CLOUD: 'openstack' } });
    expect(deleted.stdout).toContain('say --cloud NAME');
  });
});
