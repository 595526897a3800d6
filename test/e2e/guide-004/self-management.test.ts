import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { LatticeCluster, Node } from '../../../src/api/index.ts';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlApply, kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { EndpointReader } from './endpoint-reader.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const missing = await missingKubectl();
const patienceMs = 240_000;
const objects = 'clusters,machines,machinesets,machinedeployments,openstackclusters,openstackmachines,openstackservers';

/** As in the guide, and with other names and the other bootstrap provider. */
const cases = [
  { name: 'my-cluster', pool: 'default', bootstrap: 'kubeadm' },
  { name: 'edge-7', pool: 'fast', bootstrap: 'rke2' },
] as const;

// The cluster of guide 004 has endpoints, so it adopts its own objects, and its controllers run on its machines.
describe.skipIf(missing !== undefined).each(cases)(
  `$name manages itself, with $bootstrap${missing ? ` (${missing})` : ''}`,
  { timeout: 300_000 },
  ({ name, pool, bootstrap }) => {
    const namespace = `capi-${name}`;
    const changed = (manifest: string): string =>
      manifest
        .replace('controlPlane: 3', 'controlPlane: 1')
        .replace('replicas: 5', 'replicas: 1')
        .replace('bootstrap: kubeadm', `bootstrap: ${bootstrap}`)
        .replace('name: my-cluster', `name: ${name}`)
        .replace('default:', `${pool}:`);
    let bench: Workbench;
    let restarted: CapstanProcess | undefined;
    let servers: string[];
    beforeAll(async () => {
      bench = await openWorkbench();
      await bench.kubectl(
        ...['create', 'secret', 'generic', 'openstack-cloud-config', '-n', 'capo-system'],
        ...[`--from-file=clouds.yaml=${bench.cloudsYaml}`, `--from-file=cacert=${bench.authority}`],
      );
    });
    afterAll(async () => {
      await restarted?.end();
      await bench?.stop();
    });
    let failed = false;
    beforeEach((context) => context.skip(failed, 'an earlier step failed'));
    afterEach(({ task }) => {
      failed ||= task.result?.state === 'fail';
    });

    const cluster = async (): Promise<LatticeCluster> =>
      JSON.parse(await bench.kubectl('get', 'lc', name, '-o', 'json')) as LatticeCluster;
    const childFile = (): string => join(bench.capstan.directory, 'child.kubeconfig');
    const inside = (...args: string[]): Promise<string> => kubectlOn(childFile(), bench.capstan.directory)(...args);
    const namesIn = async (run: (...args: string[]) => Promise<string>): Promise<string[]> =>
      (await run('-n', namespace, 'get', objects, '-o', 'name')).split('\n').filter((line) => line !== '');
    const readyNodes = async (): Promise<number> =>
      (await inside('get', 'nodes', '--no-headers')).split('\n').filter((line) => / Ready /.test(line)).length;

    it('takes over its own objects once it is ready', async () => {
      await bench.apply(changed);
      await eventually(async () => {
        const { status } = await cluster();
        expect(status).toMatchObject({ phase: 'Ready', pivotComplete: true, readyControlPlane: 1, readyWorkers: 1 });
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'SelfManaged', status: 'True' }));
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Connected', status: 'True' }));
      }, patienceMs);
      const asked = ['get', 'kubeconfig', name, '-n', 'lattice-system', '--kubeconfig', bench.capstan.kubeconfig];
      const outcome = await capstan(asked);
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      await writeFile(childFile(), outcome.stdout, { mode: 0o600 });
      expect(await namesIn(bench.kubectl)).toEqual([]);
      expect(await namesIn(inside)).toContain(`cluster.cluster.x-k8s.io/${name}`);
      ({ servers } = await bench.cloud.inventory());
      expect(servers).toHaveLength(2);
    });

    it('is the owner of what it has, in the eyes of an audit at its parent', async () => {
      const { clouds } = parse(await readFile(bench.cloudsYaml, 'utf8')) as { clouds: { openstack: object } };
      const file = join(bench.capstan.directory, 'audit-clouds.yaml');
      await writeFile(file, stringify({ clouds: { openstack: { ...clouds.openstack, cacert: bench.authority } } }));
      const env = { OS_CLIENT_CONFIG_FILE: file };
      const args = ['--kubeconfig', bench.capstan.kubeconfig, '--cloud', 'openstack', '-o', 'json'];
      const outcome = await capstan(['audit', ...args], { env });
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      expect(JSON.parse(outcome.stdout)).toMatchObject({ clouds: [{ orphans: [], missing: [] }] });
      // In the cluster itself, the audit cannot see what its parent and the other clusters there own.
      const { network } = bench.cloud.openstack;
      const sibling = await network.networks.create({
        name: 'of a sibling',
        description: '[owner 5b1d3c9a-0f4e-4c7b-9a51-2f6d8e7c0b13]',
      });
      const insideArgs = ['--kubeconfig', childFile(), '--cloud', 'openstack'];
      const refused = await capstan(['audit', ...insideArgs, '--delete', '--yes'], { env });
      expect(refused, refused.stdout).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/nothing was deleted: LatticeCluster .* has a parent.*\n.*--also-owners-of/),
      });
      expect(await network.networks.get(sibling.id)).toBeDefined();
      await network.networks.delete(sibling.id);
      const costs = await capstan(['cost', '-A', '--kubeconfig', bench.capstan.kubeconfig]);
      expect(costs.stderr).toContain(`not counted: LatticeCluster ${name}:`);
    });

    const connected = async (): Promise<{ status: string; reason: string; message: string } | undefined> =>
      (await cluster()).status?.conditions?.find(({ type }) => type === 'Connected') as never;

    /** the cluster's certificate */
    const shown = (): Promise<string> =>
      inside('-n', 'lattice-system', 'get', 'secret', 'lattice-agent-credentials', '-o', 'jsonpath={.data.tls\\.crt}');

    it('connects with a token of its own, which works once', async () => {
      expect(
        await inside('get', 'lc', name, '-o', 'jsonpath={.status.conditions[?(@.type=="Connected")].status}'),
      ).toBe('True');
      const before = await shown();
      const outcome = await capstan(['lattice', 'token', name, '--kubeconfig', bench.capstan.kubeconfig]);
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      const token = /^token +(\S+)$/m.exec(outcome.stdout)?.[1] ?? '';
      const authority = await bench.kubectl(
        ...['-n', 'lattice-system', 'get', 'configmap', 'lattice-cell', '-o', 'jsonpath={.data.ca\\.crt}'],
      );
      const endpoint = new EndpointReader(bench.endpoints, authority);
      const manifests = await endpoint.manifests(name, token);
      expect(manifests.code).toBe(200);
      for (const kind of ['CustomResourceDefinition', 'Deployment', 'LatticeCluster']) {
        expect(manifests.text).toContain(`kind: ${kind}\n`);
      }
      expect((await endpoint.manifests('other', token)).code).toBe(401);
      expect((await endpoint.manifests(name, 'x'.repeat(43))).code).toBe(401);
      // A client with a stolen token replaces the cluster once.
      const stolen = await endpoint.certificate(name, token);
      expect(stolen.code).toBe(200);
      expect(await endpoint.certificate(name, token)).toMatchObject({ code: 409 });
      // The cluster is notified and gets a new token from its parent, over the connection the parent still has.
      await eventually(async () => {
        expect(await shown()).not.toBe(before);
        expect(await connected()).toMatchObject({ status: 'True' });
      }, patienceMs);
      expect(await endpoint.isLetIn(await endpoint.foreignCertificate(name))).toBe(false);
    });

    it('does not obey another parent, which is told so', async () => {
      const other = await startCapstan({ controllers: 'lattice', pods: 'none' });
      try {
        const at = kubectlOn(other.kubeconfig, other.directory);
        await at('create', 'namespace', 'lattice-system');
        const file = `--from-file=value=${childFile()}`;
        await at('-n', 'lattice-system', 'create', 'secret', 'generic', `${name}-kubeconfig`, file);
        const { apiVersion, kind, spec } = await cluster();
        const metadata = { name, annotations: { 'lattice.dev/management': 'self' } };
        await kubectlApply(other.kubeconfig, other.directory, JSON.stringify({ apiVersion, kind, metadata, spec }));
        await eventually(async () => {
          const path = 'jsonpath={.status.conditions[?(@.type=="Connected")].message}';
          expect(await at('get', 'lc', name, '-o', path)).toContain('the cluster belongs to another parent');
        }, patienceMs);
      } finally {
        await other.stop();
      }
      expect(await connected()).toMatchObject({ status: 'True' });
      expect(await namesIn(inside)).toContain(`cluster.cluster.x-k8s.io/${name}`);
    });

    it('is reached over its stream where its address leads nowhere', async () => {
      const kept = async (): Promise<string> => {
        const path = ['-n', 'lattice-system', 'get', 'secret', `${name}-kubeconfig`, '-o', 'jsonpath={.data.value}'];
        return Buffer.from(await bench.kubectl(...path), 'base64').toString('utf8');
      };
      const right = await kept();
      const wrong = right.replace(/^( *)server: .*/m, '$1server: https://127.0.0.1:1\n$1tls-server-name: kubernetes');
      expect(wrong).not.toBe(right);
      const data = { data: { value: Buffer.from(wrong).toString('base64') } };
      await bench.kubectl(
        ...[
          '-n',
          'lattice-system',
          'patch',
          'secret',
          `${name}-kubeconfig`,
          '--type=merge',
          '-p',
          JSON.stringify(data),
        ],
      );
      // The parent reads it again from the cluster, over a connection that the cluster opened.
      await eventually(async () => expect(await kept()).toBe(right), patienceMs);
      expect(await connected()).toMatchObject({ status: 'True' });
    });

    it('scales and heals itself while its parent is dead', async () => {
      await bench.capstan.end('SIGKILL');
      const more = { spec: { nodes: { workerPools: { [pool]: { replicas: 2 } } } } };
      await inside('patch', 'lc', name, '--type=merge', '-p', JSON.stringify(more));
      await eventually(async () => expect(await readyNodes()).toBe(3), patienceMs);
      const [machine = ''] = (await inside('-n', namespace, 'get', 'machines', '-o', 'name'))
        .split('\n')
        .filter((each) => each.includes(`pool-${pool}`));
      await inside('-n', namespace, 'delete', machine, '--wait=false');
      await eventually(async () => {
        const left = await namesIn(inside);
        expect(left).not.toContain(machine);
        expect(left.filter((each) => each.startsWith('machine.'))).toHaveLength(3);
        expect(await readyNodes()).toBe(3);
      }, patienceMs);
      expect((await bench.cloud.inventory()).servers).toHaveLength(3);
    });

    it('upgrades itself while its parent is dead, the control plane before the workers', async () => {
      const newer = { spec: { provider: { kubernetes: { version: '1.33.6' } } } };
      const release = bootstrap === 'rke2' ? 'v1.33.6+rke2r1' : 'v1.33.6';
      await inside('patch', 'lc', name, '--type=merge', '-p', JSON.stringify(newer));
      let early: string[] = [];
      await eventually(async () => {
        const { items } = JSON.parse(await inside('get', 'nodes', '-o', 'json')) as { items: Node[] };
        const versionOf = ({ status }: Node): string => status?.nodeInfo?.kubeletVersion ?? '';
        const isServer = ({ metadata }: Node): boolean => metadata.name?.includes(`-pool-${pool}-`) === false;
        const workers = items.filter((node) => !isServer(node));
        const isUpgraded = items.filter(isServer).every((node) => versionOf(node) === release);
        if (!isUpgraded)
          early = [
            ...early,
            ...workers.filter((node) => versionOf(node) === release).map(({ metadata }) => metadata.name ?? ''),
          ];
        expect(items.map(versionOf)).toEqual([release, release, release]);
        expect(JSON.parse(await inside('get', 'lc', name, '-o', 'json'))).toMatchObject({
          status: { phase: 'Ready', readyControlPlane: 1, readyWorkers: 2 },
        });
      }, patienceMs);
      expect(early).toEqual([]);
    });

    it('is found by the parent when it comes back', async () => {
      const { directory, port } = bench.capstan;
      const { args } = bench;
      restarted = await startCapstan({ controllers: 'all', pods: 'simulated', directory, port, args });
      await eventually(async () => {
        expect((await cluster()).status).toMatchObject({ phase: 'Ready', readyWorkers: 2 });
        expect(await connected()).toMatchObject({ status: 'True' });
      }, patienceMs);
      expect(await namesIn(bench.kubectl)).toEqual([]);
    });

    it('returns to its parent when deleted in itself, and leaves nothing behind', async () => {
      await inside('delete', 'lc', name, '--wait=false');
      await bench.kubectl('wait', '--for=delete', `lc/${name}`, '--timeout=240s');
      expect(await bench.cloud.inventory()).toEqual(bench.before);
      await expect(bench.kubectl('-n', 'lattice-system', 'get', 'secret', `${name}-kubeconfig`)).rejects.toThrow();
    });
  },
);
