import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { capstan, capstanOk } from '../../support/command.ts';
import { kubectl, missingKubectl } from '../../support/kubectl.ts';
import type { Outcome } from '../../support/process.ts';

const missing = await missingKubectl();

const variable = (name: string, type: string, more = ''): string =>
  `{name: ${name}, required: false, schema: {openAPIV3Schema: {type: ${type}${more}}}}`;

// No controllers run here, so the templates need not exist.
const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata:
  name: plain
  namespace: team
  annotations: {topology.capstan.dev/control-plane-replicas-variable: controlPlaneReplicas}
spec:
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackClusterTemplate, name: parts}
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1alpha1, kind: HostedControlPlaneTemplate, name: parts}
  workers:
    machineDeployments:
    - class: default-worker
      bootstrap:
        templateRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, name: parts}
      infrastructure:
        templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: parts}
  variables:
  - ${variable('controlPlaneReplicas', 'integer', ', default: 3')}
  - ${variable('imageName', 'string')}
  - ${variable('dnsNameservers', 'array', ', items: {type: string}')}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: others, namespace: team}
spec:
  infrastructure:
    templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackClusterTemplate, name: parts}
  controlPlane:
    templateRef: {apiVersion: controlplane.cluster.x-k8s.io/v1alpha1, kind: HostedControlPlaneTemplate, name: parts}
  workers:
    machineDeployments:
    - class: default-worker
      bootstrap:
        templateRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, name: parts}
      infrastructure:
        templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: parts}
  variables:
  - ${variable('controlPlaneReplicas', 'integer', ', default: 3')}
  - ${variable('imageName', 'string')}
  - ${variable('dnsNameservers', 'array', ', items: {type: string}')}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: demo, namespace: team}
spec:
  topology:
    class: plain
    version: v1.32.8
    controlPlane: {replicas: 3}
    workers:
      machineDeployments:
      - {class: default-worker, name: md-0, replicas: 3}
      - {class: default-worker, name: md-1, replicas: 1}
    variables:
    - {name: imageName, value: ubuntu}
    - {name: controlPlaneReplicas, value: 3}
`;

const part = (kind: string, group: string, spec: object): string =>
  JSON.stringify({
    apiVersion: group,
    kind,
    metadata: { name: 'parts', namespace: 'team' },
    spec: { template: { spec } },
  });

const parts = [
  part('OpenStackClusterTemplate', 'infrastructure.cluster.x-k8s.io/v1beta1', {
    identityRef: { name: 'openstack', cloudName: 'openstack' },
  }),
  part('HostedControlPlaneTemplate', 'controlplane.cluster.x-k8s.io/v1alpha1', {}),
  part('KubeadmConfigTemplate', 'bootstrap.cluster.x-k8s.io/v1beta2', { verbosity: 2 }),
  part('OpenStackMachineTemplate', 'infrastructure.cluster.x-k8s.io/v1beta1', {
    flavor: 'm1.small',
    image: { filter: { name: 'ubuntu' } },
  }),
].join('\n---\n');

describe.skipIf(missing !== undefined)(`editing a topology${missing ? ` (${missing})` : ''}`, () => {
  let server: CapstanProcess;
  const on = (...args: string[]): string[] => [...args, '-n', 'team', '--kubeconfig', server.kubeconfig];
  const kube = (args: string[], input?: string, env?: Record<string, string>): Promise<Outcome> =>
    kubectl(args, {
      ...(env && { env }),
      kubeconfig: server.kubeconfig,
      directory: server.directory,
      namespace: 'team',
      ...(input !== undefined && { input }),
    });
  const topology = async (): Promise<{
    version: string;
    classRef: { name: string };
    controlPlane: { replicas: number; variables?: unknown };
    workers: { machineDeployments: { name: string; replicas: number; variables?: unknown }[] };
    variables: { name: string; value: unknown }[];
  }> => {
    const { stdout } = await kube(['get', 'clusters.v1beta2.cluster.x-k8s.io', 'demo', '-o', 'json']);
    return JSON.parse(stdout).spec.topology;
  };

  beforeAll(async () => {
    server = await startCapstan();
    const applied = await kube(['apply', '-f', '-'], manifest);
    expect(applied).toMatchObject({ code: 0 });
  });
  afterAll(() => server?.stop());

  it('kubectl patch that would drop variables is refused with a command that works', async () => {
    const patch = '{"spec":{"topology":{"variables":[{"name":"controlPlaneReplicas","value":5}]}}}';
    const refused = await kube(['patch', 'cluster', 'demo', '--type', 'merge', '-p', patch]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('would drop the variables imageName');
    expect(refused.stderr).toContain('capstan set variable demo -n team controlPlaneReplicas=5');
    const json = /--type json -p '(.*?)'\. To remove/.exec(refused.stderr)?.[1] ?? '';
    expect(await kube(['patch', 'cluster', 'demo', '--type', 'json', '-p', json])).toMatchObject({ code: 0 });
    expect((await topology()).variables).toEqual([
      { name: 'imageName', value: 'ubuntu' },
      { name: 'controlPlaneReplicas', value: 5 },
    ]);
    // An equivalent JSON patch is refused too.
    const replace = '[{"op":"replace","path":"/spec/topology/variables","value":[]}]';
    expect(await kube(['patch', 'cluster', 'demo', '--type', 'json', '-p', replace])).toMatchObject({ code: 1 });
  });

  it('kubectl patch that names all machine deployments succeeds, others are refused', async () => {
    const workers = (...names: string[]): string =>
      JSON.stringify({
        spec: {
          topology: {
            workers: { machineDeployments: names.map((name) => ({ class: 'default-worker', name, replicas: 5 })) },
          },
        },
      });
    const refused = await kube(['patch', 'cluster', 'demo', '--type', 'merge', '-p', workers('md-0')]);
    expect(refused.stderr).toContain('would drop the machine deployments md-1');
    expect(refused.stderr).toContain('capstan scale cluster demo -n team --machine-deployment md-0 --replicas 5');
    const taken = await kube(['patch', 'cluster', 'demo', '--type', 'merge', '-p', workers('md-0', 'md-1')]);
    expect(taken).toMatchObject({ code: 0 });
  });

  it('kubectl apply, replace, edit and server-side apply may remove entries', async () => {
    const less = manifest.replace('- {class: default-worker, name: md-1, replicas: 1}', '');
    expect(await kube(['apply', '-f', '-'], less)).toMatchObject({ code: 0 });
    expect((await topology()).workers.machineDeployments.map(({ name }) => name)).toEqual(['md-0']);
    expect(await kube(['apply', '-f', '-'], manifest)).toMatchObject({ code: 0 });
    const { stdout } = await kube(['get', 'clusters.v1beta2.cluster.x-k8s.io', 'demo', '-o', 'json']);
    const edited = JSON.parse(stdout);
    // replace records what it got, and an API server refuses an apply that takes this version away again
    delete edited.metadata.resourceVersion;
    edited.spec.topology.workers.machineDeployments.pop();
    expect(await kube(['replace', '-f', '-'], JSON.stringify(edited))).toMatchObject({ code: 0 });
    expect(await kube(['apply', '-f', '-'], manifest)).toMatchObject({ code: 0 });
    const editor = { KUBE_EDITOR: "sed -i '/name: imageName/,/value: ubuntu/d'" };
    const byHand = await kube(['edit', 'clusters.v1beta1.cluster.x-k8s.io', 'demo'], undefined, editor);
    expect(byHand).toMatchObject({ code: 0 });
    expect((await topology()).variables.map(({ name }) => name)).toEqual(['controlPlaneReplicas']);
    expect(await kube(['apply', '-f', '-'], manifest)).toMatchObject({ code: 0 });
    const forced = ['apply', '--server-side', '--force-conflicts', '--field-manager', 'kubectl-client-side-apply'];
    expect(await kube([...forced, '-f', '-'], less)).toMatchObject({ code: 0 });
    expect((await topology()).workers.machineDeployments.map(({ name }) => name)).toEqual(['md-0']);
    expect(await kube(['apply', '-f', '-'], manifest)).toMatchObject({ code: 0 });
  });

  it('capstan scale changes one machine deployment, and the control plane where its class reads it', async () => {
    const lines = await capstanOk(
      on('scale', 'cluster', 'demo', '--machine-deployment', 'md-1', '--replicas', '4', '--control-plane', '1'),
    );
    expect(lines).toMatch(/^cluster\/demo: variable controlPlaneReplicas \d+ -> 1\n/);
    expect(lines).toContain('cluster/demo: controlPlane.replicas 3 -> 1\n');
    expect(lines).toContain('cluster/demo: machineDeployment md-1 replicas 1 -> 4\n');
    const now = await topology();
    expect(now.workers.machineDeployments.map(({ name, replicas }) => [name, replicas])).toEqual([
      ['md-0', 3],
      ['md-1', 4],
    ]);
    expect(now.variables).toContainEqual({ name: 'controlPlaneReplicas', value: 1 });
    expect(now.variables).toContainEqual({ name: 'imageName', value: 'ubuntu' });
    const again = await capstanOk(on('scale', 'cluster', 'demo', '--machine-deployment', 'md-1', '--replicas', '4'));
    expect(again).toBe('cluster/demo: machineDeployment md-1 replicas unchanged\n');
  });

  it('capstan set variable sets, adds and removes single variables and overrides', async () => {
    const lines = await capstanOk(
      on('set', 'variable', 'demo', 'imageName=22.04', 'dnsNameservers=["9.9.9.9"]', 'controlPlaneReplicas=3'),
    );
    expect(lines).toBe(
      'cluster/demo: variable imageName "ubuntu" -> "22.04"\n' +
        'cluster/demo: variable dnsNameservers unset -> ["9.9.9.9"]\n' +
        'cluster/demo: variable controlPlaneReplicas 1 -> 3\n' +
        'cluster/demo: controlPlane.replicas 1 -> 3\n',
    );
    await capstanOk(on('set', 'variable', 'demo', 'imageName=flatcar', '--machine-deployment', 'md-0'));
    await capstanOk(on('set', 'variable', 'demo', 'imageName=debian', '--control-plane'));
    const now = await topology();
    expect(now.variables).toContainEqual({ name: 'imageName', value: '22.04' });
    expect(now.controlPlane.variables).toEqual({ overrides: [{ name: 'imageName', value: 'debian' }] });
    expect(now.workers.machineDeployments[0]?.variables).toEqual({
      overrides: [{ name: 'imageName', value: 'flatcar' }],
    });
    await capstanOk(on('set', 'variable', 'demo', 'imageName-', '--machine-deployment', 'md-0'));
    await capstanOk(on('set', 'variable', 'demo', 'imageName-', '--control-plane'));
    await capstanOk(on('set', 'variable', 'demo', 'dnsNameservers-'));
    const then = await topology();
    expect(then.workers.machineDeployments[0]?.variables).toBeUndefined();
    expect(then.controlPlane).toEqual({ replicas: 3 });
    expect(then.variables.map(({ name }) => name)).not.toContain('dnsNameservers');
  });

  it('capstan upgrade changes version and class in one write; --dry-run changes nothing', async () => {
    const dry = await capstanOk(on('upgrade', 'cluster', 'demo', '--version', '1.33.6', '--dry-run'));
    expect(dry).toBe('cluster/demo: version v1.32.8 -> v1.33.6 (dry run)\n');
    expect((await topology()).version).toBe('v1.32.8');
    const lines = await capstanOk(on('upgrade', 'cluster', 'demo', '--version', 'v1.33.6', '--class', 'others'));
    expect(lines).toBe('cluster/demo: class plain -> others\ncluster/demo: version v1.32.8 -> v1.33.6\n');
    expect(await topology()).toMatchObject({ version: 'v1.33.6', classRef: { name: 'others' } });
    const down = await capstan(on('upgrade', 'cluster', 'demo', '--version', 'v1.32.8'));
    expect(down.code).toBe(1);
    expect(down.stderr).toContain('cannot be decreased');
  });

  it('capstan topology plan shows what a cluster would consist of, and changes nothing', async () => {
    const fresh = manifest.replaceAll('name: demo', 'name: fresh');
    const outcome = await capstan(on('topology', 'plan', '-f', '-'), { input: `${parts}\n---\n${fresh}` });
    expect([outcome.code, outcome.stderr.replace(/^Warning: .*\n/gm, '')]).toEqual([0, '']);
    expect(outcome.stdout).toContain('cluster team/fresh: class plain, v1.32.8\n');
    expect(outcome.stdout).toMatch(/ {2}create {3}HostedControlPlane fresh-\w+\n/);
    expect(outcome.stdout).toMatch(/ {2}create {3}MachineDeployment fresh-md-1-\w+\n/);
    expect(await kube(['get', 'cluster', 'fresh'])).toMatchObject({ code: 1 });
    const broken = await capstan(on('topology', 'plan', '-o', 'json', '-f', '-'), { input: fresh });
    expect(broken.code).toBe(1);
    const { clusters, problems } = JSON.parse(broken.stdout);
    expect(clusters).toEqual([]);
    expect(problems[0]).toMatchObject({ of: 'cluster team/fresh' });
    expect(broken.stderr).toContain('KubeadmConfigTemplate team/parts');
  });

  it.each([
    ['an unknown variable', ['set', 'variable', 'demo', 'imagName=x'], 2, 'has no variable "imagName"'],
    [
      'an unknown machine deployment',
      ['scale', 'cluster', 'demo', '--machine-deployment', 'md-9', '--replicas', '1'],
      2,
      'it has md-0, md-1',
    ],
    [
      'a cluster that is not there',
      ['scale', 'cluster', 'none', '--control-plane', '1'],
      1,
      'there is no cluster "none"',
    ],
  ])('%s is refused with an explanation', async (_, args, code, message) => {
    const outcome = await capstan(on(...args));
    expect([outcome.code, outcome.stdout]).toEqual([code, '']);
    expect(outcome.stderr).toContain(message);
  });
});
