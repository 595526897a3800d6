import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseYamlDocuments } from '../../../src/machinery/index.ts';
import { capstan } from '../../support/command.ts';
import { fillIn } from '../../support/placeholders.ts';
import { type CloudProcess, startCloud } from '../openstack-command/cloud-process.ts';

interface Document {
  kind: string;
  metadata: { name: string; namespace: string };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
}

const documents = (text: string): Document[] => parseYamlDocuments(text).map(({ value }) => value as never);
const kinds = (text: string): string[] => documents(text).map(({ kind }) => kind);

describe('capstan generate cluster', () => {
  let cloud: CloudProcess;
  let directory: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    cloud = await startCloud({ args: ['--https'] });
    directory = await mkdtemp(join(tmpdir(), 'capstan-generate-'));
    // Isolated from clusterctl's files on this machine.
    env = {
      OS_CLIENT_CONFIG_FILE: cloud.cloudsYaml,
      OPENSTACK_SSH_KEY_NAME: 'demo',
      XDG_CONFIG_HOME: directory,
      HOME: directory,
    };
  });
  afterAll(async () => {
    await cloud.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it('asks the cloud for missing values: network, newest image, smallest flavors', async () => {
    const outcome = await capstan(['generate', 'cluster', 'red', '--cloud', 'openstack', '-n', 'team'], { env });
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    expect(kinds(outcome.stdout)).toEqual([
      'Secret',
      'Cluster',
      'OpenStackCluster',
      'KubeadmControlPlane',
      'OpenStackMachineTemplate',
      'MachineDeployment',
      'OpenStackMachineTemplate',
      'KubeadmConfigTemplate',
    ]);
    const all = documents(outcome.stdout);
    expect(new Set(all.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['team']));
    expect(outcome.stdout).toMatch(/externalNetwork: \{ id: [0-9a-f-]{36} \}/);
    expect(outcome.stdout).toMatch(/name: ubuntu-capi-image-v1\.34\.\d+\n/);
    expect(outcome.stdout).toMatch(/version: v1\.34\.\d+\n/);
    expect(outcome.stdout).toContain('name: SCS-2V-4-20s');
    expect(outcome.stdout).toContain('enabled: true');
    const [secret] = all;
    expect(secret?.metadata.name).toBe('red-cloud-config');
    expect(Buffer.from(secret?.data?.['cacert'] ?? '', 'base64').toString()).toContain('BEGIN CERTIFICATE');
    const cloudsYaml = Buffer.from(secret?.data?.['clouds.yaml'] ?? '', 'base64').toString();
    expect(cloudsYaml).toContain('cacert: /etc/kubernetes/cloud/cacert');
    expect(cloudsYaml).not.toContain('admin');
  });

  it('takes flags before the environment, and the environment before a file', async () => {
    const config = join(directory, 'clusterctl.yaml');
    await writeFile(
      config,
      'WORKER_MACHINE_COUNT: 7\nCONTROL_PLANE_MACHINE_COUNT: 7\nOPENSTACK_NODE_CIDR: 10.77.0.0/24\n',
    );
    const args = [
      'generate',
      'cluster',
      'red',
      '--cloud',
      'openstack',
      '--config',
      config,
      '--worker-machine-count',
      '3',
    ];
    const { stdout, stderr } = await capstan(args, {
      env: { ...env, CONTROL_PLANE_MACHINE_COUNT: '5', WORKER_MACHINE_COUNT: '4' },
    });
    expect(stdout, stderr).toContain('replicas: 3');
    expect(stdout).toContain('replicas: 5');
    expect(stdout).toContain('10.77.0.0/24');
    expect(stdout).not.toContain('7\n  version');
  });

  it('writes the objects of guide 003 for v1.19.1 without a load balancer, with the in-tree cloud.conf', async () => {
    const outcome = await capstan(
      ['config', 'cluster', 'basic-1', '--kubernetes-version', 'v1.19.1', '--cloud', 'openstack'],
      {
        env: {
          ...env,
          OPENSTACK_DNS_NAMESERVERS: '8.8.8.8',
          OPENSTACK_IMAGE_NAME: 'Ubuntu_20.04_node',
          OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR: '2C-4GB-100GB',
          OPENSTACK_NODE_MACHINE_FLAVOR: '2C-4GB-100GB',
          OPENSTACK_FAILURE_DOMAIN: 'nova',
          OPENSTACK_EXTERNAL_NETWORK_ID: '375af7fe-a2c1-4c26-a57d-6d33175a6650',
        },
      },
    );
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    const [secret, ...rest] = documents(outcome.stdout);
    const [config] = outcome.stdout.match(/content: (\S+)/)?.slice(1) ?? [];
    const cloudConf = Buffer.from(config ?? '', 'base64').toString();
    expect(cloudConf).toMatch(/^\[Global\]\nauth-url=https:/);
    expect(cloudConf).toContain('ca-file="/etc/certs/cacert"');
    const files = [
      '2-openstackcluster',
      '3-cluster',
      '4-control-plane-template',
      '5-control-plane',
      '6-worker-template',
      '7-worker-config',
      '8-machine-deployment',
    ];
    const printed = await Promise.all(
      files.map((file) => readFile(new URL(`../guide-003/testdata/${file}.yaml`, import.meta.url), 'utf8')),
    );
    const guide = fillIn(printed.join('---\n').replaceAll('mycloud_default', 'openstack'), {
      EXTERNAL_NETWORK_ID: '375af7fe-a2c1-4c26-a57d-6d33175a6650',
      SSH_KEY_NAME: 'demo',
      CLOUD_CONF_B64: config ?? '',
      CACERT_B64: secret?.data?.['cacert'] ?? '',
    });
    expect(rest).toEqual(documents(guide));
  });

  it('looks up the id of a network named in a template of an old version', async () => {
    const args = ['generate', 'cluster', 'red', '--kubernetes-version', 'v1.19.1', '--cloud', 'openstack'];
    const named = (network: string): Record<string, string> => ({
      ...env,
      OPENSTACK_IMAGE_NAME: 'Ubuntu_20.04_node',
      OPENSTACK_EXTERNAL_NETWORK_ID: network,
    });
    const found = await capstan(args, { env: named('public') });
    expect(found.stdout, found.stderr).toMatch(/externalNetworkId: [0-9a-f]{8}-[0-9a-f-]{27}\n/);
    const absent = await capstan(args, { env: named('elsewhere') });
    expect(absent).toMatchObject({ code: 1, stdout: '' });
    expect(absent.stderr).toMatch(/OPENSTACK_EXTERNAL_NETWORK_ID \(the cloud has [0-9a-f-]{36} \(public\)\)/);
    const lattice = await capstan(['generate', 'cluster', 'red', '-f', 'lattice', '--cloud', 'openstack'], {
      env: { ...env, OPENSTACK_EXTERNAL_NETWORK_ID: 'public' },
    });
    expect(lattice.stdout, lattice.stderr).toContain('externalNetworkId: public\n');
  });

  it('takes for a LatticeCluster only an Ubuntu that packages exist for', async () => {
    const disk = join(directory, 'disk.qcow2');
    await writeFile(disk, Buffer.concat([Buffer.from('QFI\xfb', 'latin1'), Buffer.alloc(2_000, 'x')]));
    const newer = await capstan(
      [
        'create',
        'image',
        'Ubuntu 26.04',
        '--file',
        disk,
        '--property',
        'os_distro=ubuntu',
        '--property',
        'os_version=26.04',
        '--cloud',
        'openstack',
      ],
      { env },
    );
    expect(newer, newer.stderr).toMatchObject({ code: 0 });
    const lattice = await capstan(['generate', 'cluster', 'red', '-f', 'lattice', '--cloud', 'openstack'], { env });
    expect(lattice.stdout, lattice.stderr).toContain('imageName: Ubuntu 24.04\n');
    const rke2 = await capstan(['generate', 'cluster', 'red', '-f', 'rke2', '--cloud', 'openstack'], { env });
    expect(rke2.stdout, rke2.stderr).toContain('Ubuntu 26.04');
  });

  it.each([
    [['red', '--control-plane-machine-count', '2'], /KubeadmControlPlane.*spec\.replicas.*even number/],
    [['red', '--control-plane-machine-count', '0', '-f', 'rke2'], /RKE2ControlPlane.*spec\.replicas/],
    [['red.blue', '-f', 'lattice'], /LatticeCluster.*metadata\.name.*DNS-1035/],
    [['a'.repeat(64)], /Cluster.*metadata\.name.*63/],
  ])('refuses what the API would refuse: %j', async (args, reason) => {
    const outcome = await capstan(['generate', 'cluster', ...args, '--cloud', 'openstack'], { env });
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(reason) });
  });

  it.each([
    ['flavors', /^m1\.small +1 +2 GiB +20 GiB /m],
    ['images', /^ubuntu-capi-image-v1\.33\.6 +v1\.33\.6 +active /m],
    ['networks', /^NAME .*\npublic +true +ACTIVE /],
    ['keypairs', /^lattice-key +ssh /m],
  ])('finds its values with capstan get %s', async (what, row) => {
    const outcome = await capstan(['get', what, '--cloud', 'openstack'], { env });
    expect(outcome.stdout, outcome.stderr).toMatch(row);
  });

  it('lists missing values and the choices of the cloud', async () => {
    const { OPENSTACK_SSH_KEY_NAME: _, ...without } = env;
    const outcome = await capstan(['generate', 'cluster', 'red', '--cloud', 'openstack'], { env: without });
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('OPENSTACK_SSH_KEY_NAME (the cloud has capi, demo, lattice-key)');
    const offline = await capstan(['generate', 'cluster', 'red', '--cloud', 'openstack', '--no-ask-cloud'], { env });
    expect(offline.stderr).toContain(
      'variables are not set: KUBERNETES_VERSION; OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR',
    );
    expect(await capstan(['generate', 'cluster', 'red', '--flavor', 'none'], { env })).toMatchObject({ code: 2 });
  });

  it.each([
    [['Red_1'], 'cluster name "Red_1": '],
    [['red', '-n', 'Team'], '--target-namespace "Team": '],
    [['red', '-n', 'my.team'], '--target-namespace "my.team": '],
    [['red', '--kubernetes-version', '1.34'], '--kubernetes-version: "1.34" is no version of Kubernetes'],
    [['red', '--kubernetes-version', 'newest'], '--kubernetes-version: "newest" is no version of Kubernetes'],
  ])('refuses %j before anybody is asked', async (args, reason) => {
    const outcome = await capstan(['generate', 'cluster', ...args, '--cloud', 'openstack'], { env });
    expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(reason) });
  });

  it('does not call a variable missing that was given', async () => {
    const args = ['generate', 'cluster', 'red', '--cloud', 'openstack', '--kubernetes-version', 'v1.99.0'];
    const outcome = await capstan(args, { env });
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain(
      'CLOUD_CONTROLLER_MANAGER_VERSION (nothing is known for KUBERNETES_VERSION v1.99.0)',
    );
  });

  it('lists external networks alone', async () => {
    const args = ['get', 'networks', '--cloud', 'openstack', '-o', 'name'];
    expect((await capstan([...args, '--external'], { env })).stdout).toBe('public\n');
    expect((await capstan(args, { env })).stdout.split('\n').length).toBeGreaterThan(2);
  });

  it.each(['k0smotron', 'kamaji', 'hosted', 'stack', 'lattice', 'without-lb'])(
    'lists the variables of %s',
    async (flavor) => {
      const { stdout } = await capstan(['generate', 'cluster', 'red', '-f', flavor, '--list-variables'], { env });
      expect(stdout).toMatch(/^Required Variables:\n {2}- CLUSTER_NAME\n {2}- KUBERNETES_VERSION\n/);
      expect(stdout).toMatch(/- WORKER_MACHINE_COUNT +\(defaults to 2\)/);
    },
  );

  it('fills in a template of the user from a file, standard input or an address', async () => {
    const template = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "\${CLUSTER_NAME}"}\ndata: {a: "\${A:=b}", dollar: $$x}\n`;
    const filled = { data: { a: 'c', dollar: '$x' }, metadata: { name: 'red' } };
    const file = join(directory, 'own.yaml');
    await writeFile(file, template);
    const server = await serving(template);
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/own.yaml`;
    for (const from of [file, '-', address]) {
      const outcome = await capstan(['generate', 'cluster', 'red', '--from', from], {
        env: { ...env, A: 'c' },
        input: template,
      });
      expect(documents(outcome.stdout)[0], outcome.stderr).toMatchObject(filled);
    }
    server.close();
    const broken = await capstan(['generate', 'cluster', 'red', '--from', '-'], { env, input: `a: \${B` });
    expect(broken).toMatchObject({ code: 1, stdout: '' });
    expect(broken.stderr).toContain('the template cannot be read');
  });
});

function serving(text: string): Promise<Server> {
  const server = createServer((_, response) => response.end(text));
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}
