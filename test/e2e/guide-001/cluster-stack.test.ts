import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { isOnRealKubernetes, preparing } from '../../support/on-real-kubernetes.ts';
import { isInstalled } from '../../support/process.ts';
import { openReader, type Reader } from './reader.ts';

const missing = await missingKubectl();
const hasOpenstack = await isInstalled('openstack', '--version');
const patienceMs = 180_000;

// Guide 001: a cluster of the stack `hosted-control-plane`, without access to any external network.
describe.skipIf(missing !== undefined)(`guide 001${missing ? ` (${missing})` : ''}`, { timeout: 300_000 }, () => {
  let bench: HostedBench;
  let reader: Reader;
  beforeAll(async () => {
    bench = await openHostedBench();
    reader = await openReader(bench, {
      CLUSTER_NAMESPACE: 'cluster',
      CLUSTER_NAME: 'my-hosted-cluster',
      CLUSTERSTACK_NAMESPACE: 'cluster',
      CLUSTERSTACK_VERSION: 'v1',
    });
  });
  afterAll(() => bench?.stop());
  // Every step depends on the previous one, so after a failure the others are skipped.
  let failed = false;
  beforeEach((context) => context.skip(failed, 'an earlier step failed'));
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  const workload = (command: string): Promise<string> =>
    reader.run(`kubectl --kubeconfig $CLUSTER_NAME-kubeconfig ${command}`);
  const cluster = (path: string): Promise<string> =>
    reader.run(`kubectl get cluster -n $CLUSTER_NAMESPACE $CLUSTER_NAME -o jsonpath='{${path}}'`);

  it.skipIf(isOnRealKubernetes())(preparing('finds the management cluster prepared'), async () => {
    await reader.follow('Set required environment variables');
    await reader.follow('Initialize Cluster API with OpenStack provider');
    await reader.follow('Verify installation');
    await reader.follow('Wait for deployments to be ready');
    await reader.follow('Wait for CSO to be ready');
  });

  it('creates the namespace, the credentials, the ClusterResourceSet and the ClusterStack', async () => {
    await reader.follow('Create namespace');
    await reader.follow('Create OpenStack credentials secret');
    await reader.follow('Create clouds.yaml secret for workload cluster');
    await reader.follow('Create ClusterResourceSet');
    await reader.follow('Deploy ClusterStack Resource');
    await reader.run(
      'kubectl -n $CLUSTERSTACK_NAMESPACE wait --for=create clusterclass/openstack-hosted-control-plane-1-33-v1 --timeout=60s',
    );
    await eventually(async () => {
      const release = await reader.run('kubectl -n $CLUSTERSTACK_NAMESPACE get cskr --no-headers');
      expect(release).toMatch(/^openstack-hosted-control-plane-1-33-v1 +v1\.33\.6 +true /);
    }, patienceMs);
  });

  it('creates the cluster with Ready nodes and add-ons', async () => {
    await reader.follow('Create Cluster');
    await reader.watch('Watch cluster status', (text) => /^my-hosted-cluster +\S+-1-33-v1 +True /m.test(text));
    expect(lines(await reader.follow('Watch control plane (running in management cluster)'))).toHaveLength(2);
    expect(lines(await reader.follow('Watch worker machines'))).toHaveLength(3);
    await reader.follow('Get kubeconfig for workload cluster');
    await eventually(async () => {
      const nodes = lines(await reader.follow('Verify worker nodes are ready')).slice(1);
      expect(nodes).toHaveLength(2);
      for (const node of nodes) expect(node).toMatch(/ Ready .* v1\.33\.6$/);
    }, patienceMs);
    await reader.follow('Get kubeconfig');
    expect(await reader.follow('View worker nodes')).toMatch(/ Ready /);
    await eventually(async () => {
      for (const [comment, count] of [
        ['Verify CNI (Cilium)', 2],
        ['Verify CCM', 2],
        ['Verify CSI', 2],
      ] as const) {
        const pods = lines(await reader.follow(comment)).slice(1);
        expect(pods, comment).toHaveLength(count);
        for (const pod of pods) expect(pod, comment).toMatch(/ (\d)\/\1 +Running /);
      }
      // On a real Kubernetes, plane and workers are simulated by two processes, without a tunnel from the API server to
      // Pods of the other.
      if (!isOnRealKubernetes()) {
        expect(lines(await reader.follow('Verify metrics-server')).slice(1)).toHaveLength(2);
      }
    }, patienceMs);
    await reader.follow('Verify the credentials');
    const addon =
      'kubectl -n $CLUSTER_NAMESPACE wait clusteraddon/cluster-addon-$CLUSTER_NAME --for=condition=Ready --timeout=180s';
    await reader.run(addon);
  });

  it('has no machine for the control plane, and its Pods have logs', async () => {
    expect((await bench.cloud.inventory()).servers).toHaveLength(2);
    const pods = await reader.follow('Watch control plane pods');
    expect(pods).toMatch(/api-server/);
    await reader.follow('Check control plane logs');
    await reader.follow('View worker pods');
    expect(await reader.follow('Check HostedControlPlane events')).toContain('Events:');
    await reader.follow('Check ClusterResourceSet applied');
  });

  it('carries new credentials into the workload cluster', async () => {
    const read = (): Promise<string> =>
      workload("get secret -n kube-system clouds-yaml -o jsonpath='{.data.clouds\\.yaml}'");
    const before = await read();
    await reader.run(`
      (cat $OS_CLIENT_CONFIG_FILE; echo '# rotated') > rotated.yaml
      kubectl create secret -n kube-system generic clouds-yaml --from-file=clouds.yaml=rotated.yaml \\
        --dry-run=client -o yaml > clouds-yaml-secret
      kubectl create -n $CLUSTER_NAMESPACE secret generic clouds-yaml --from-file=clouds-yaml-secret \\
        --type=addons.cluster.x-k8s.io/resource-set --dry-run=client -o yaml | kubectl apply -f -`);
    await eventually(async () => expect(await read()).not.toBe(before), patienceMs);
  });

  it("refuses the guide's upgrade, which is a downgrade, and says what is allowed", async () => {
    const refused = await reader.attempt('Update cluster version');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/cannot be decreased from "1\.33\.6" to "1\.32\.8"; allowed: newer ones of v1\.33/);
    expect(await cluster('.spec.topology.version')).toBe('v1.33.6');
    await reader.watch('Monitor upgrade', (text) => / v1\.33\.6$/m.test(text));
  });

  it('refuses a patch that would drop variables and shows the intended command', async () => {
    const before = await cluster('.spec.topology.variables');
    const refused = await reader.attempt('Update control plane replicas');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/capstan set variable/);
    expect(await cluster('.spec.topology.variables')).toBe(before);
    await reader.run('capstan set variable $CLUSTER_NAME controlPlaneReplicas=5 -n $CLUSTER_NAMESPACE');
    await reader.watch('Monitor scaling of the control plane', (text) => / 5 +5 +5 /.test(text));
  });

  it("scales the workers by the guide's own command", async () => {
    await reader.follow('Update worker replicas');
    await reader.watch('Monitor scaling of workers', (text) => {
      const running = lines(text).filter((line) => / Running /.test(line));
      return new Set(running.map((line) => line.split(' ')[0])).size === 5;
    });
    await eventually(async () => {
      expect(lines(await workload('get nodes --no-headers')).filter((line) => / Ready /.test(line))).toHaveLength(5);
    }, patienceMs);
  });

  it('deletes everything', async () => {
    const watched = reader.watch('Monitor deletion', (text) => / Deleting /.test(text));
    await reader.follow('Delete cluster resource (will delete all associated resources)');
    await watched;
    expect(await bench.cloud.inventory()).toEqual(bench.before);
    if (hasOpenstack) await reader.follow('Verify OpenStack resources are cleaned up');
    // the garbage collector deletes owned objects a moment later
    await eventually(async () => {
      const left = await reader.run(
        'kubectl -n $CLUSTER_NAMESPACE get machines,hostedcontrolplanes,openstackclusters,openstackmachinetemplates,kubeadmconfigtemplates,clusteraddons,pvc -l cluster.x-k8s.io/cluster-name=$CLUSTER_NAME -o name',
      );
      expect(left).toBe('');
    });
  });

  it('works with other names, a class of another namespace, and a joint upgrade of class and version', async () => {
    const other = await openReader(bench, {
      CLUSTER_NAMESPACE: 'team-a',
      CLUSTER_NAME: 'edge-7',
      CLUSTERSTACK_NAMESPACE: 'platform',
      CLUSTERSTACK_VERSION: 'v1',
    });
    const older = (commands: string): string =>
      commands
        .replaceAll('"1.33"', '"1.32"')
        .replaceAll('-1-33-', '-1-32-')
        .replaceAll('v1.33.6', 'v1.32.8')
        .replace('name: openstack\n', 'name: older\n')
        .replace('replicas: 2', 'replicas: 1');
    const untilNode = (version: string): Promise<void> =>
      eventually(async () => {
        await other.follow('Get kubeconfig for workload cluster');
        const nodes = lines(await other.follow('Verify worker nodes are ready')).slice(1);
        expect(nodes).toHaveLength(1);
        expect(nodes[0]).toMatch(new RegExp(` Ready .* ${version.replaceAll('.', '\\.')}$`));
      }, patienceMs);
    await other.run('kubectl create namespace platform');
    await other.follow('Deploy ClusterStack Resource', older);
    await other.follow('Deploy ClusterStack Resource');
    for (const minor of ['1-32', '1-33']) {
      const release = `clusterstackrelease/openstack-hosted-control-plane-${minor}-v1`;
      await other.run(`kubectl -n platform wait --for=create ${release} --timeout=60s
        kubectl -n platform wait ${release} --for=jsonpath='{.status.ready}'=true --timeout=60s`);
    }
    // In another order than the guide's: the credentials come last.
    await other.follow('Create namespace');
    await other.follow('Create Cluster', older);
    await other.follow('Create ClusterResourceSet');
    await other.follow('Create OpenStack credentials secret');
    await other.follow('Create clouds.yaml secret for workload cluster');
    await untilNode('v1.32.8');
    await other.run(
      'capstan upgrade cluster $CLUSTER_NAME -n $CLUSTER_NAMESPACE --version v1.33.6 --class openstack-hosted-control-plane-1-33-v1',
    );
    await untilNode('v1.33.6');
    await eventually(async () => {
      const addon =
        "kubectl -n team-a get clusteraddon cluster-addon-edge-7 -o jsonpath='{.spec.clusterStack} {.status.ready}'";
      expect(await other.run(addon)).toBe('openstack-hosted-control-plane-1-33-v1 true');
    }, patienceMs);
    await other.follow('Delete cluster resource (will delete all associated resources)');
    expect(await bench.cloud.inventory()).toEqual(bench.before);
  });
});
