import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DockerRegistry, missingDockerRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { eventually } from '../../support/eventually.ts';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { publishedStack } from './published-stack.ts';
import { openReader, type Reader } from './reader.ts';

const missing = (await missingKubectl()) ?? (await missingDockerRegistry());
const patienceMs = 180_000;
const repository = 'kaas/cluster-stacks';
const artifactType = 'application/vnd.clusterstack.release';
const stack = 'openstack-hosted-control-plane';
const variables = ['OCI_REGISTRY', 'OCI_REPOSITORY', 'OCI_USERNAME', 'OCI_PASSWORD'] as const;

const extra = `apiVersion: v1
kind: ConfigMap
metadata: {name: of-the-second-release, namespace: kube-system}
data: {release: v2}
`;

// Stacks published in a real registry with authentication: pull, upgrade, rollback.
describe.skipIf(missing !== undefined)(
  `a cluster stack in a real registry${missing ? ` (${missing})` : ''}`,
  { timeout: 300_000 },
  () => {
    let registry: DockerRegistry;
    let bench: HostedBench;
    let reader: Reader;
    const before = new Map(variables.map((name) => [name, process.env[name]]));
    const restore = (): void => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    };
    beforeAll(async () => {
      registry = await startDockerRegistry();
      for (const minor of ['1-32', '1-33']) {
        const name = `${stack}-${minor}-v1`;
        await registry.push(repository, name, await publishedStack(name), artifactType);
      }
      await pushSecond('v2');
      Object.assign(process.env, {
        OCI_REGISTRY: registry.url,
        OCI_REPOSITORY: repository,
        OCI_USERNAME: registry.username,
        OCI_PASSWORD: registry.password,
      });
      bench = await openHostedBench({ args: ['--stacks-source', 'oci'] });
      restore();
      reader = await openReader(bench, {
        CLUSTER_NAMESPACE: 'team-b',
        CLUSTER_NAME: 'pulled',
        CLUSTERSTACK_NAMESPACE: 'team-b',
        CLUSTERSTACK_VERSION: 'v1',
      });
    });
    afterAll(async () => {
      restore();
      await bench?.stop();
      await registry?.stop();
    });
    // Every step depends on the previous one, so after a failure the others are skipped.
    let failed = false;
    beforeEach((context) => context.skip(failed, 'an earlier step failed'));
    afterEach(({ task }) => {
      failed ||= task.result?.state === 'fail';
    });

    const pushSecond = async (release: string): Promise<string> => {
      const addOns = { 'metrics-server/templates/extra.yaml': extra.replace('v2', release) };
      const files = await publishedStack(`${stack}-1-33-v2`, { from: `${stack}-1-33-v1`, addOns });
      return await registry.push(repository, `${stack}-1-33-v2`, files, artifactType);
    };
    const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
    const older = (commands: string): string =>
      commands
        .replaceAll('"1.33"', '"1.32"')
        .replaceAll('-1-33-', '-1-32-')
        .replaceAll('v1.33.6', 'v1.32.8')
        .replace('name: openstack\n', 'name: older\n')
        .replace('replicas: 2', 'replicas: 1')
        .replaceAll(/(name: controlPlaneReplicas\n +value:|replicas:) 3/g, '$1 1');
    const addonIs = (release: string): Promise<void> =>
      eventually(async () => {
        const path = '{.spec.clusterStack} {.status.ready}';
        const addon = await reader.run(`kubectl -n team-b get clusteraddon cluster-addon-pulled -o jsonpath='${path}'`);
        expect(addon).toBe(`${release} true`);
      }, patienceMs);
    const nodeHas = (version: string): Promise<void> =>
      eventually(async () => {
        await reader.follow('Get kubeconfig for workload cluster');
        const nodes = lines(await reader.follow('Verify worker nodes are ready')).slice(1);
        expect(nodes).toHaveLength(1);
        expect(nodes[0]).toMatch(new RegExp(` Ready .* ${version.replaceAll('.', '\\.')}$`));
      }, patienceMs);
    const extras = (): Promise<string> =>
      reader.run(
        "kubectl --kubeconfig $CLUSTER_NAME-kubeconfig -n kube-system get configmap of-the-second-release --ignore-not-found -o jsonpath='{.data.release}'",
      );

    it('is pulled with a name and a password and creates a cluster', async () => {
      await reader.follow('Create namespace');
      await reader.follow('Create OpenStack credentials secret');
      await reader.follow('Create clouds.yaml secret for workload cluster');
      await reader.follow('Create ClusterResourceSet');
      await reader.follow('Deploy ClusterStack Resource', older);
      await reader.follow('Deploy ClusterStack Resource', (commands) =>
        commands.replace('- $CLUSTERSTACK_VERSION', '- v1\n    - v2'),
      );
      for (const release of ['1-32-v1', '1-33-v1', '1-33-v2']) {
        await reader.run(`kubectl -n team-b wait --for=create cskr/${stack}-${release} --timeout=60s
          kubectl -n team-b wait cskr/${stack}-${release} --for=condition=Ready --timeout=60s`);
      }
      await reader.follow('Create Cluster', older);
      await nodeHas('v1.32.8');
      await addonIs(`${stack}-1-32-v1`);
    });

    it('is upgraded to the next minor by class and version together', async () => {
      await reader.run(
        `kubectl -n team-b patch cluster pulled --type merge -p '{"spec":{"topology":{"classRef":{"name":"${stack}-1-33-v1"},"version":"v1.33.6"}}}'`,
      );
      await nodeHas('v1.33.6');
      await addonIs(`${stack}-1-33-v1`);
      expect(await extras()).toBe('');
    });

    it('changes to the second release of the minor and back without a new machine', async () => {
      const machines = await reader.run("kubectl -n team-b get machines -o jsonpath='{.items[*].metadata.uid}'");
      const change = (release: string): Promise<string> =>
        reader.run(
          `kubectl -n team-b patch cluster pulled --type merge -p '{"spec":{"topology":{"classRef":{"name":"${stack}-1-33-${release}"}}}}'`,
        );
      await change('v2');
      await addonIs(`${stack}-1-33-v2`);
      expect(await extras()).toBe('v2');
      await change('v1');
      await addonIs(`${stack}-1-33-v1`);
      await eventually(async () => expect(await extras()).toBe(''), patienceMs);
      expect(await reader.run("kubectl -n team-b get machines -o jsonpath='{.items[*].metadata.uid}'")).toBe(machines);
    });

    it('is repaired where somebody changes it in the workload cluster', async () => {
      const find = (): Promise<string> =>
        reader.run(
          "kubectl --kubeconfig $CLUSTER_NAME-kubeconfig -n kube-system get ds cilium -o jsonpath='{.metadata.uid} {.spec.template.spec.containers[0].image}'",
        );
      const [uid, image] = (await find()).split(' ');
      await reader.run(
        'kubectl --kubeconfig $CLUSTER_NAME-kubeconfig -n kube-system set image ds/cilium cilium-agent=example.org/other:1',
      );
      await eventually(async () => expect(await find()).toBe(`${uid} ${image}`), patienceMs);
      await reader.run('kubectl --kubeconfig $CLUSTER_NAME-kubeconfig -n kube-system delete ds cilium');
      await eventually(async () => {
        const found = await find().catch(() => '');
        expect(found).toContain(` ${image}`);
        expect(found).not.toContain(uid);
      }, patienceMs);
    });

    it('is deleted to the last resource', async () => {
      await reader.follow('Delete cluster resource (will delete all associated resources)');
      expect(await bench.cloud.inventory()).toEqual(bench.before);
      await reader.run('kubectl -n team-b delete csk --all --timeout=60s');
      await eventually(async () => {
        expect(await reader.run('kubectl -n team-b get cskr,clusterclasses -o name')).toBe('');
      }, patienceMs);
    });
  },
);
