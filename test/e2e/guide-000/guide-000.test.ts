import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const missing = await missingKubectl();
const patienceMs = 90_000;
const namespace = 'hcp-system';

interface Chart {
  metadata: { resourceVersion: string };
  spec: { order: number };
  status: { releaseName: string; version: string };
}

// Guide 000 step by step, in its order and including its flaws: a k0smotron control plane in Pods, workers on servers.
describe.skipIf(missing !== undefined)(`guide 000${missing ? ` (${missing})` : ''}`, { timeout: 240_000 }, () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench?.stop());
  // Every step depends on the previous one, so after a failure the others are skipped.
  let failed = false;
  beforeEach((context) => context.skip(failed, 'an earlier step failed'));
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  const kubectl = (...args: string[]): Promise<string> => bench.kubectl('-n', namespace, ...args);
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

  it('finds a healthy management cluster with its providers and all permissions', async () => {
    expect(await bench.kubectl('get', '--raw', '/readyz')).toBe('ok');
    expect(await bench.kubectl('auth', 'can-i', '*', '*', '--all-namespaces')).toMatch(/^yes/);
    const k0smotron = 'k0sproject-k0smotron';
    const found = await bench.verb(
      ...['init', '--infrastructure', 'openstack', '--bootstrap', k0smotron, '--control-plane', k0smotron],
    );
    for (const line of lines(found)) expect(line).toMatch(/^OK /);
    expect(lines(await bench.kubectl('get', 'providers', '-A', '--no-headers'))).toContainEqual(
      expect.stringMatching(/control-plane-k0sproject-k0smotron +\S+ +ControlPlaneProvider +k0sproject-k0smotron +v/),
    );
  });

  it('creates namespace, credentials and storage', async () => {
    await bench.kubectl('create', 'namespace', namespace);
    await kubectl(
      ...['create', 'secret', 'generic', 'openstack-cloud-config'],
      `--from-file=clouds.yaml=${bench.cloudsYaml}`,
    );
    expect(await bench.kubectl('get', 'storageclass')).toMatch(/\(default\)/);
    // For registries with rate limits: the Pods' service account has the credentials.
    await kubectl(
      ...['create', 'secret', 'docker-registry', 'login', '--docker-server=ghcr.io'],
      ...['--docker-username=reader', '--docker-password=secret'],
    );
    await kubectl('patch', 'serviceaccount', 'default', '-p', '{"imagePullSecrets": [{"name": "login"}]}');
  });

  it('applies the manifest in the worst order and sees the Pods of the control plane appear', async () => {
    await bench.apply((documents) => documents.toReversed());
    await eventually(async () => {
      const pods = lines(await kubectl('get', 'pods', '--no-headers'));
      expect(pods).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^kmc-openstack-hcp-cluster-0 +1\/1 +Running/),
          expect.stringMatching(/^kmc-openstack-hcp-cluster-etcd-0 +1\/1 +Running/),
        ]),
      );
    }, patienceMs);
    const pulled = '{range .items[*]}{.spec.containers[0].image} {.spec.imagePullSecrets[*].name}{"\\n"}{end}';
    expect(lines(await kubectl('get', 'pods', '-o', `jsonpath=${pulled}`))).toEqual([
      'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0 login',
      'quay.io/k0sproject/etcd:v3.5.13 login',
    ]);
    expect(await kubectl('get', 'pvc', '--no-headers')).toMatch(
      /^etcd-data-kmc-openstack-hcp-cluster-etcd-0 +Bound .* 1Gi/,
    );
  });

  it('finds the Service under the name of the guide and under its own, at one address', async () => {
    const address = async (name: string): Promise<string> => {
      const path = 'jsonpath={.status.loadBalancer.ingress[0].ip}';
      return kubectl('get', 'svc', name, '-o', path);
    };
    await eventually(async () => {
      expect(await address('openstack-hcp-cluster-cp')).toMatch(/^127\./);
    }, patienceMs);
    expect(await address('kmc-openstack-hcp-cluster-lb')).toBe(await address('openstack-hcp-cluster-cp'));
    expect(await kubectl('get', 'svc', 'openstack-hcp-cluster-cp', '-o', 'wide')).toMatch(
      /openstack-hcp-cluster-cp +LoadBalancer +\S+ +127\.\S+ +6443/,
    );
  });

  it('adds a worker without a floating IP: the endpoint is that of the Service', async () => {
    await eventually(async () => {
      const [node, ...others] = lines(await bench.workload('get', 'nodes', '--no-headers'));
      expect(others).toEqual([]);
      expect(node).toMatch(/^openstack-hcp-cluster-md-\S+ +(Not)?Ready/);
    }, patienceMs);
    const { floatingIps, servers } = await bench.cloud.inventory();
    expect(floatingIps).toEqual([]);
    expect(servers).toEqual([expect.stringMatching(/^openstack-hcp-cluster-md-/)]);
    const host = await kubectl(
      'get',
      'openstackcluster',
      'openstack-hcp-cluster',
      '-o',
      'jsonpath={.spec.controlPlaneEndpoint.host}',
    );
    expect(host).toMatch(/^127\./);
  });

  it('gives the cluster its credentials, and all of it becomes ready', async () => {
    await bench.workload(
      ...['-n', 'kube-system', 'create', 'secret', 'generic', 'openstack-cloud-config'],
      `--from-file=clouds.yaml=${bench.cloudsYaml}`,
    );
    // The charts' programs need another format than users usually have.
    await eventually(async () => {
      const command = ['-n', 'kube-system', 'get', 'secret', 'openstack-cloud-config', '-o', 'json'];
      const { data } = JSON.parse(await bench.workload(...command)) as { data: Record<string, string> };
      expect(Buffer.from(data['cloud.conf'] ?? '', 'base64').toString()).toMatch(/^\[Global\]\nauth-url=http/);
    }, patienceMs);
    await eventually(async () => {
      const pods = lines(await bench.workload('-n', 'kube-system', 'get', 'pods', '--no-headers'));
      for (const name of ['openstack-cloud-controller-manager', 'cinder', 'calico']) {
        expect(pods.filter((line) => line.includes(name) && /Running/.test(line))).not.toEqual([]);
      }
      expect(await bench.workload('get', 'sc')).toMatch(/\(default\)/);
      for (const node of lines(await bench.workload('get', 'nodes', '--no-headers'))) expect(node).toMatch(/ Ready /);
    }, patienceMs);
  });

  it('installs the charts in their order with the values of the guide', async () => {
    const read = async <T>(kind: string): Promise<T[]> =>
      (JSON.parse(await bench.workload('-n', 'kube-system', 'get', kind, '-o', 'json')) as { items: T[] }).items;
    const charts = await read<Chart>('charts.helm.k0sproject.io');
    const inOrder = charts.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    expect(inOrder.map(({ spec, status }) => [spec.order, status.releaseName, status.version])).toEqual([
      [1, 'openstack-ccm', '2.31.1'],
      [2, 'openstack-csi', '2.31.2'],
    ]);
    const daemonSets = JSON.stringify(await read('daemonsets'));
    for (const text of [
      '"name":"OS_CCM_REGIONAL","value":"true"',
      '"path":"/usr/libexec/kubernetes/kubelet-plugins/volume/exec"',
      '"path":"/etc/kubernetes/pki"',
      '"key":"node-role.kubernetes.io/master"',
      '"path":"/var/lib/k0s/kubelet"',
    ])
      expect(daemonSets).toContain(text);
    const classes = await bench.workload('get', 'sc', '--no-headers');
    expect(classes).toMatch(/^csi-cinder-sc-delete \(default\) +cinder\.csi\.openstack\.org +Delete +\S+ +true/m);
    expect(classes).toMatch(/^csi-cinder-sc-retain +cinder\.csi\.openstack\.org +Retain +\S+ +false/m);
  });

  it('shows the ready cluster in the status of its objects', async () => {
    await eventually(async () => {
      const status = JSON.parse(
        await kubectl('get', 'k0smotroncontrolplane', 'openstack-hcp-cluster-cp', '-o', 'json'),
      ) as { status: object };
      expect(status.status).toMatchObject({
        externalManagedControlPlane: true,
        initialization: { controlPlaneInitialized: true },
        readyReplicas: 1,
        version: 'v1.32.6+k0s.0',
      });
      const deployment = await kubectl('get', 'machinedeployment', 'openstack-hcp-cluster-md', '-o', 'json');
      expect((JSON.parse(deployment) as { status: object }).status).toMatchObject({ readyReplicas: 1 });
    }, patienceMs);
  });

  it('deletes the cluster with one command and keeps the etcd volume and the network', async () => {
    await kubectl('delete', 'cluster', 'openstack-hcp-cluster', '--wait=true', '--timeout=180s');
    expect(await bench.cloud.inventory()).toEqual(bench.before);
    expect(lines(await kubectl('get', 'pods', '--no-headers'))).toEqual([]);
    expect(lines(await kubectl('get', 'pvc', '--no-headers'))).toHaveLength(1);
  });
});
