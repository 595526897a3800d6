import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cacheDirectory, exists } from '../../conformance/go-build.ts';
import { eventually } from '../../support/eventually.ts';
import type { ClusterName } from '../../support/hosted-bench.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { isOnRealKubernetes, preparing } from '../../support/on-real-kubernetes.ts';
import { describeOutcome, runProcess } from '../../support/process.ts';
import { startDownloadServer } from './download-server.ts';
import { openReader, type Reader } from './reader.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

/** Path where `npm run conformance` builds it. */
const helm = `${cacheDirectory(process.env)}/helm-v3.19.5/bin/helm`;
const testdata = (path: string): URL => new URL(`testdata/${path}`, import.meta.url);

const missing = await missingKubectl();
const patienceMs = 90_000;
const mine: ClusterName = { namespace: 'cluster', name: 'my-hosted-cluster' };

// Guide 001 step by step: preparing a management cluster, and credentials that reach the workload cluster.
describe.skipIf(missing !== undefined)(`guide 001${missing ? ` (${missing})` : ''}`, { timeout: 240_000 }, () => {
  let bench: Workbench;
  let reader: Reader;
  let downloads: Awaited<ReturnType<typeof startDownloadServer>>;
  beforeAll(async () => {
    const releases = '/teutonet/cluster-api-provider-hosted-control-plane/releases';
    const manifest = testdata('control-plane-components.yaml');
    downloads = await startDownloadServer({
      [`${releases}/latest/download/control-plane-components.yaml`]: manifest,
      [`${releases}/download/v0.1.0/control-plane-components.yaml`]: manifest,
    });
    bench = await openWorkbench();
    reader = await openReader(bench, {
      CLUSTER_NAMESPACE: mine.namespace,
      CLUSTER_NAME: mine.name,
      CLUSTERSTACK_NAMESPACE: mine.namespace,
      CLUSTERSTACK_VERSION: 'v1',
    });
  });
  afterAll(async () => {
    await bench?.stop();
    await downloads?.stop();
  });
  // Every step depends on the previous one, so after a failure the others are skipped.
  let failed = false;
  beforeEach((context) => context.skip(failed, 'an earlier step failed'));
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  const cloudsInWorkload = async (): Promise<string> => {
    const { kubectl } = await bench.workload(mine);
    const path = '{.data.clouds\\.yaml}';
    const data = await kubectl('-n', 'kube-system', 'get', 'secret', 'clouds-yaml', '-o', `jsonpath=${path}`);
    return Buffer.from(data, 'base64').toString('utf8');
  };

  it.skipIf(isOnRealKubernetes())(
    preparing('has the controllers of Cluster API and of the OpenStack provider'),
    async () => {
      const rolledOut = await bench.shell(`export CLUSTER_TOPOLOGY=true
export EXP_CLUSTER_RESOURCE_SET=true
export EXP_RUNTIME_SDK=true
kubectl -n capi-system rollout status deployment --timeout=5m
kubectl -n capo-system rollout status deployment --timeout=5m`);
      expect(rolledOut).toMatch(/"capi-controller-manager" successfully rolled out/);
      expect(rolledOut).toMatch(/"capo-controller-manager" successfully rolled out/);
      expect(await bench.shell('kubectl get pods -n capi-system | grep hosted-control-plane')).toMatch(/1\/1 +Running/);
      await bench.shell(`kubectl get crd hostedcontrolplanes.controlplane.cluster.x-k8s.io
kubectl get crd hostedcontrolplanetemplates.controlplane.cluster.x-k8s.io`);
      const path = '{.metadata.annotations.capstan\\.dev/built-in}';
      const object = ['-n', 'capo-system', 'get', 'deployment', 'capo-controller-manager'];
      expect(await bench.kubectl(...object, '-o', `jsonpath=${path}`)).toBe('infrastructure');
    },
  );

  it.skipIf(isOnRealKubernetes())(
    preparing('takes the manifest of the hosted control plane provider, whose work is done here'),
    async () => {
      const fromHere = (commands: string): string => commands.replace('https://github.com', downloads.url);
      await reader.follow('Install the latest version', fromHere);
      const place = ['-n', 'capi-hosted-control-plane-system'];
      await bench.kubectl(...place, 'rollout', 'status', 'deployment', '--timeout=90s');
      const again = await reader.follow('Or install a specific version (recommended for production)', fromHere);
      for (const line of again.trimEnd().split('\n')) {
        expect(line).toMatch(/ (unchanged|configured)$/);
      }
      await eventually(async () => {
        const path = '{.items[*].metadata.annotations.capstan\\.dev/built-in}';
        expect(await bench.kubectl(...place, 'get', 'pods', '-o', `jsonpath=${path}`)).toBe('control-plane');
      }, patienceMs);
      expect(await bench.kubectl(...place, 'logs', 'deployment/capi-hosted-control-plane-controller-manager')).toMatch(
        /is built in: this Pod stands for its controllers/,
      );
    },
  );

  it.skipIf(isOnRealKubernetes())(
    preparing('takes the chart of the stack operator from a registry, which says how its controllers are'),
    async (context) => {
      context.skip(!(await exists(helm)), 'needs helm, which the conformance tests build');
      const { directory, kubeconfig } = bench.capstan;
      const run = async (...args: string[]): Promise<string> => {
        const env = { PATH: process.env['PATH'] ?? '', HOME: directory, KUBECONFIG: kubeconfig };
        const outcome = await runProcess(helm, args, { cwd: directory, env });
        if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
        return outcome.stdout;
      };
      await run('package', fileURLToPath(testdata('cso')), '--destination', directory);
      const archive = await readFile(join(directory, 'cso-0.4.1.tgz'));
      downloads.publish({ repository: 'cluster-stacks/cso', version: '0.4.1', archive });
      const fromHere = (commands: string): string =>
        commands
          .replace('helm upgrade', `'${helm}' upgrade --plain-http`)
          .replace('registry.scs.community', downloads.registry);
      expect(await reader.follow('Install CSO', fromHere)).toMatch(/STATUS: deployed/);
      expect(await reader.follow('Install CSO', fromHere)).toMatch(/REVISION: 2/);
      await reader.follow('Wait for CSO to be ready');
      // The program itself serves the hooks.
      await bench.kubectl('wait', 'extensionconfig/cso-extensionconfig', '--for=condition=Discovered', '--timeout=90s');
    },
  );

  it('stores the credentials for itself and for workload clusters', async () => {
    await bench.shell(await bench.section('secrets'));
    await bench.shell(await bench.section('resource-set'));
    await eventually(async () => {
      expect(await bench.shell('kubectl get clusterresourceset -n $CLUSTER_NAMESPACE')).toMatch(/clouds-yaml +True +/);
    }, patienceMs);
  });

  it('copies the credentials into a cluster with the label', async () => {
    await bench.apply(await planeOnly());
    await bench.kubectl(
      ...['-n', mine.namespace, 'wait', `hostedcontrolplane/${mine.name}`],
      ...['--for=condition=Available', `--timeout=${patienceMs}ms`],
    );
    const file = await readFile(bench.cloudsYaml, 'utf8');
    await eventually(async () => expect(await cloudsInWorkload()).toBe(file), patienceMs);
    await eventually(async () => {
      const path =
        '{.spec.clusterName} {.spec.bindings[0].clusterResourceSetName} {.spec.bindings[0].resources[0].applied}';
      const binding = ['-n', mine.namespace, 'get', 'clusterresourcesetbinding', mine.name];
      expect(await bench.kubectl(...binding, '-o', `jsonpath=${path}`)).toBe(`${mine.name} clouds-yaml true`);
    }, patienceMs);
  });

  it('restores deleted credentials and carries rotated ones into the cluster', async () => {
    const { kubectl } = await bench.workload(mine);
    const file = await readFile(bench.cloudsYaml, 'utf8');
    await kubectl('-n', 'kube-system', 'delete', 'secret', 'clouds-yaml');
    await eventually(async () => expect(await cloudsInWorkload()).toBe(file), patienceMs);
    await writeFile(bench.cloudsYaml, `${file}# rotated\n`);
    await bench.shell(`kubectl create secret -n kube-system generic clouds-yaml \\
      --from-file=clouds.yaml=$OS_CLIENT_CONFIG_FILE --dry-run=client -o yaml > clouds-yaml-secret
    kubectl create -n $CLUSTER_NAMESPACE secret generic clouds-yaml --from-file=clouds-yaml-secret \\
      --type=addons.cluster.x-k8s.io/resource-set --dry-run=client -o yaml | kubectl apply -f -`);
    await eventually(async () => expect(await cloudsInWorkload()).toMatch(/# rotated\n$/), patienceMs);
  });

  it('runs the backup CronJob of the documentation', async () => {
    const page = await readFile(new URL('../../../docs/hosted-operations.md', import.meta.url), 'utf8');
    const manifest = /^```yaml\n([\s\S]*?)^```$/m.exec(page)?.[1]?.replaceAll('PLANE', mine.name) ?? '';
    const inNamespace = ['-n', mine.namespace];
    const file = join(bench.capstan.directory, 'backup.yaml');
    await writeFile(file, manifest);
    await bench.kubectl(...inNamespace, 'apply', '-f', file);
    await bench.kubectl(...inNamespace, 'create', 'job', `--from=cronjob/${mine.name}-etcd-backup`, 'now');
    await bench.kubectl(...inNamespace, 'wait', 'job/now', '--for=condition=Complete', '--timeout=90s');
    expect(await bench.kubectl(...inNamespace, 'logs', 'job/now')).toMatch(/Snapshot saved at \/backup\/snapshot\.db/);
    // A wrong certificate must not produce a backup that looks valid.
    const wrong = manifest
      .replaceAll(`${mine.name}-etcd-backup`, 'wrong')
      .replace(`${mine.name}-etcd-controller-client`, `${mine.name}-apiserver`)
      .replace('backoffLimit: 3', 'backoffLimit: 0');
    await writeFile(file, wrong);
    await bench.kubectl(...inNamespace, 'apply', '-f', file);
    await bench.kubectl(...inNamespace, 'create', 'job', '--from=cronjob/wrong', 'wrong');
    await bench.kubectl(...inNamespace, 'wait', 'job/wrong', '--for=condition=Failed', '--timeout=90s');
  });

  it('shows metrics of its etcd and its API in the management cluster', async () => {
    const url = `http://e-${mine.name}-etcd-client:2381/metrics`;
    const run = ['run', 'scrape', '--image=curlimages/curl', '--restart=Never', '--', 'curl', '-s', url];
    await bench.kubectl('-n', mine.namespace, ...run);
    await eventually(async () => {
      expect(await bench.kubectl('-n', mine.namespace, 'logs', 'scrape')).toMatch(/^etcd_server_has_leader 1$/m);
    }, patienceMs);
    const { kubectl } = await bench.workload(mine);
    expect(await kubectl('get', '--raw', '/metrics')).toMatch(/^apiserver_request_total\{.*\} \d+$/m);
  });

  it('explains a Secret of another type and keeps what was applied', async () => {
    await bench.shell(`kubectl -n $CLUSTER_NAMESPACE delete secret clouds-yaml
      kubectl -n $CLUSTER_NAMESPACE create secret generic clouds-yaml --from-file=clouds-yaml-secret`);
    const condition = '.status.conditions[?(@.type=="ResourcesApplied")]';
    await eventually(async () => {
      const path = `{${condition}.status} {${condition}.reason} {${condition}.message}`;
      const set = ['-n', mine.namespace, 'get', 'clusterresourcesets.v1beta2.addons.cluster.x-k8s.io', 'clouds-yaml'];
      expect(await bench.kubectl(...set, '-o', `jsonpath=${path}`)).toMatch(
        /^False WrongSecretType Secret cluster\/clouds-yaml is not of type addons/,
      );
    }, patienceMs);
    expect(await cloudsInWorkload()).toMatch(/# rotated\n$/);
  });

  it('keeps the objects in the workload cluster when the set is deleted', async () => {
    await bench.shell('kubectl -n $CLUSTER_NAMESPACE delete clusterresourceset clouds-yaml');
    await eventually(async () => {
      expect(await bench.kubectl('-n', mine.namespace, 'get', 'clusterresourcesetbindings', '-o', 'name')).toBe('');
    }, patienceMs);
    expect(await cloudsInWorkload()).toMatch(/# rotated\n$/);
  });
});

/** Builds a control plane without workers, in the namespace and with the label of the guide. */
async function planeOnly(): Promise<string> {
  const file = new URL('../../../examples/hosted-control-plane/cluster.yaml', import.meta.url);
  return (await readFile(file, 'utf8'))
    .split('\n---\n')
    .filter((document) => /^kind: (Cluster|Gateway|OpenStackCluster|HostedControlPlane)$/m.test(document))
    .join('\n---\n')
    .replaceAll('name: hosted\n', `name: ${mine.name}\n`)
    .replaceAll('namespace: default', `namespace: ${mine.namespace}`)
    .replace('kind: Cluster\nmetadata:\n', 'kind: Cluster\nmetadata:\n  labels:\n    managed-secret: clouds-yaml\n')
    .replace('name: simulated-cloud', 'name: openstack')
    .replace('replicas: 3', 'replicas: 1');
}
