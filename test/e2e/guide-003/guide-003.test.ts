import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { networkPlugin } from '../../support/network-plugin.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const missing = await missingKubectl();
const clusterName = 'k8s-clusterapi-cluster-default-basic-1';
const patienceMs = 180_000;

// Guide 003 step by step, in its order: a control plane on machines without a load balancer, in the oldest API version.
describe.skipIf(missing !== undefined)(`guide 003${missing ? ` (${missing})` : ''}`, { timeout: 240_000 }, () => {
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

  const nodes = async (): Promise<{ name: string; status: string; roles: string; isControlPlane: boolean }[]> =>
    (await bench.workload('get', 'nodes', '--no-headers'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [name = '', status = '', roles = ''] = line.split(/\s+/);
        return { name, status, roles, isControlPlane: /master|control-plane/.test(roles) };
      });
  const untilNodes = (controlPlanes: number, workers: number): Promise<void> =>
    eventually(async () => {
      const found = await nodes();
      const ready = found.filter(({ status }) => status === 'Ready');
      expect(ready).toHaveLength(found.length);
      expect(found.filter(({ isControlPlane }) => isControlPlane)).toHaveLength(controlPlanes);
      expect(found.filter(({ isControlPlane }) => !isControlPlane)).toHaveLength(workers);
    }, patienceMs);
  /** checks the columns of `kubectl get kcp` against the actual state */
  const untilCounted = (replicas: number): Promise<void> =>
    eventually(async () => {
      const kcp = JSON.parse(await bench.kubectl('get', 'kcp', 'basic-1-control-plane', '-o', 'json')) as {
        status: Record<string, unknown>;
      };
      expect(kcp.status).toMatchObject({
        replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
        upToDateReplicas: replicas,
      });
    }, patienceMs);
  const floatingIp = async (): Promise<{ address: string; portId: string | undefined }> => {
    const { floatingIps } = await bench.cloud.inventory();
    expect(floatingIps).toHaveLength(1);
    const { address, portId } = floatingIps[0]!;
    return { address, portId };
  };
  /** returns the server whose port has the floating IP */
  const holder = async (): Promise<string> => {
    const { portId } = await floatingIp();
    const port = await bench.cloud.openstack.network.ports.get(portId ?? '');
    return port?.deviceId ?? '';
  };
  const scale = (replicas: number): Promise<string> =>
    bench.kubectl('scale', 'kcp/basic-1-control-plane', `--replicas=${replicas}`);

  it('creates the cluster with groups, network, subnet, router and a reserved floating IP', async () => {
    await bench.apply('1-secret.yaml');
    await bench.apply('2-openstackcluster.yaml');
    await bench.apply('3-cluster.yaml');
    await eventually(async () => {
      const { securityGroups, networks, subnets, routers } = await bench.cloud.inventory();
      expect(securityGroups).toEqual(
        expect.arrayContaining([
          'k8s-cluster-default-basic-1-secgroup-controlplane',
          'k8s-cluster-default-basic-1-secgroup-worker',
        ]),
      );
      for (const names of [networks, subnets, routers]) expect(names).toContain(clusterName);
      await floatingIp();
    }, patienceMs);
    expect((await floatingIp()).portId).toBeUndefined();
  });

  it('brings up the control plane at the reserved address', async () => {
    const { address } = await floatingIp();
    await bench.apply('4-control-plane-template.yaml');
    await bench.apply('5-control-plane.yaml');
    // As in the guide: without a network plugin the node stays NotReady.
    await eventually(async () => {
      expect(await nodes()).toEqual([expect.objectContaining({ status: 'NotReady', roles: 'master' })]);
      const ready = '{.items[0].status.conditions[?(@.type=="Ready")].message}';
      expect(await bench.kubectl('get', 'machines', '-o', `jsonpath=${ready}`)).toMatch(
        /Node\.Ready: container runtime network not ready: .* cni plugin not initialized/,
      );
    }, patienceMs);
    const plugin = join(bench.capstan.directory, 'network-plugin.yaml');
    await writeFile(plugin, networkPlugin);
    await bench.workload('apply', '-f', plugin);
    await untilNodes(1, 0);
    expect((await floatingIp()).address).toBe(address);
    expect(await bench.kubectl('get', 'cluster', 'basic-1', '-o', 'jsonpath={.spec.controlPlaneEndpoint.host}')).toBe(
      address,
    );
    await untilCounted(1);
  });

  it('gives the machine the cloud.conf of the guide, which matches its clouds.yaml', async () => {
    const [name] = (await bench.kubectl('get', 'machines', '-o', 'jsonpath={.items[*].metadata.name}')).split(' ');
    const userData = await bench.kubectl('get', 'secret', name!, '-o', 'jsonpath={.data.value}');
    const { write_files: files } = parse(Buffer.from(userData, 'base64').toString()) as {
      write_files: { path: string; permissions: string; content: string; encoding?: string }[];
    };
    const file = files.find(({ path }) => path === '/etc/kubernetes/cloud.conf');
    expect(file?.permissions).toBe('0600');
    const written = Buffer.from(file?.content ?? '', file?.encoding === 'base64' ? 'base64' : 'utf8').toString();
    expect(written).toBe(bench.cloudConf);
    const settings = Object.fromEntries(
      [...written.matchAll(/^([a-z-]+)=(.*)$/gm)].map(([, key, value]) => [key, value?.replaceAll('"', '')]),
    );
    const { auth, region_name } = parse(bench.cloudsYaml, { uniqueKeys: false }).clouds.mycloud_default;
    expect(settings).toEqual({
      'auth-url': auth.auth_url,
      username: auth.username,
      password: auth.password,
      'tenant-name': auth.tenant_name,
      'domain-name': auth.user_domain_name,
      'ca-file': '/etc/certs/cacert',
      region: region_name,
    });
    const pods = await bench.workload('-n', 'kube-system', 'get', 'pods', '-o', 'json');
    for (const program of ['kube-apiserver', 'kube-controller-manager']) {
      const { items } = JSON.parse(pods) as { items: { spec: { containers: { command: string[] }[] } }[] };
      const command = items.flatMap(({ spec }) => spec.containers).find((one) => one.command?.[0] === program)?.command;
      expect(command).toEqual(
        expect.arrayContaining(['--cloud-config=/etc/kubernetes/cloud.conf', '--cloud-provider=openstack']),
      );
    }
  });

  it('adds a worker', async () => {
    await bench.apply('6-worker-template.yaml');
    await bench.apply('7-worker-config.yaml');
    await bench.apply('8-machine-deployment.yaml');
    await untilNodes(1, 1);
  });

  it('reports the version the image of a node really has', async () => {
    const { images } = bench.cloud.openstack.image;
    const bare = await images.create({
      name: 'bare',
      diskFormat: 'raw',
      containerFormat: 'bare',
      properties: { kubernetes_version: 'v1.19.3' },
    });
    await images.upload(bare.id, Buffer.from('bare'));
    const onBare = (manifest: string): string =>
      manifest.replaceAll('basic-1-md-0', 'basic-1-bare').replace('Ubuntu_20.04_node', 'bare');
    await bench.apply('6-worker-template.yaml', onBare);
    await bench.apply('7-worker-config.yaml', onBare);
    await bench.apply('8-machine-deployment.yaml', onBare);
    const ofBare = 'cluster.x-k8s.io/deployment-name=basic-1-bare';
    await eventually(async () => {
      const found = (await bench.workload('get', 'nodes', '--no-headers')).split('\n');
      expect(found).toContainEqual(expect.stringMatching(/^basic-1-bare-\S+ +Ready .* v1\.19\.3$/));
      const read = await bench.kubectl('get', 'machines', '-l', ofBare, '-o', 'json');
      const [machine] = (JSON.parse(read) as { items: { spec: object; status: object }[] }).items;
      expect(machine).toMatchObject({
        spec: { version: 'v1.19.1' },
        status: { nodeInfo: { kubeletVersion: 'v1.19.3' } },
      });
    }, patienceMs);
    await bench.kubectl('delete', 'machinedeployment', 'basic-1-bare', '--wait=true');
    await untilNodes(1, 1);
  });

  it('scales the control plane up without moving the floating IP', async () => {
    const before = await holder();
    await scale(3);
    await untilNodes(3, 1);
    await untilCounted(3);
    expect(await holder()).toBe(before);
  });

  it('scales the control plane down and up again', async () => {
    await scale(1);
    await untilNodes(1, 1);
    await untilCounted(1);
    await scale(3);
    await untilNodes(3, 1);
    await untilCounted(3);
  });

  it('moves the floating IP when its machine stops, and the API keeps answering', async () => {
    const stopped = await holder();
    await bench.cloud.operate('POST', `/servers/${stopped}/stop`);
    await eventually(async () => {
      expect(await holder()).not.toBe(stopped);
      await nodes();
    }, patienceMs);
    await bench.cloud.operate('POST', `/servers/${stopped}/start`);
    await untilNodes(3, 1);
  });

  it('replaces a control plane machine that was deleted', async () => {
    const names = (await bench.kubectl('get', 'machines', '-l', 'cluster.x-k8s.io/control-plane', '-o', 'name'))
      .trim()
      .split('\n');
    await bench.kubectl('delete', names[0]!, '--wait=true');
    await untilNodes(3, 1);
    await untilCounted(3);
    const after = await bench.kubectl('get', 'machines', '-l', 'cluster.x-k8s.io/control-plane', '-o', 'name');
    expect(after).not.toContain(`${names[0]}\n`);
  });

  it('deletes the cluster with one command, to the last resource', async () => {
    await bench.kubectl('delete', 'cluster', 'basic-1', '--wait=true', '--timeout=180s');
    expect(await bench.cloud.inventory()).toEqual(bench.before);
  });
});
