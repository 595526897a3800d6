import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nullLogger } from '../../../src/runtime/index.ts';
import { claimLoopbackRange, loopbackRangeOf } from '../../../src/simkube/index.ts';
import { type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { eventually } from '../../support/eventually.ts';
import { type CloudProcess, runCapstan, startCloud } from './cloud-process.ts';

const apiPort = 6443;

const controlPlane = `#cloud-config
write_files:
- path: /run/kubeadm/kubeadm.yaml
  content: |
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: InitConfiguration
    ---
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: ClusterConfiguration
    kubernetesVersion: v1.34.2
runcmd:
- kubeadm init --config /run/kubeadm/kubeadm.yaml
`;

/** Creates a server that becomes a control plane, with a floating IP. Returns the address. */
async function makeControlPlane({ openstack }: CloudView): Promise<string> {
  const { compute, network, image } = openstack;
  const one = async <T>(list: AsyncIterable<T>): Promise<T> => {
    for await (const item of list) return item;
    throw new Error('the cloud has none');
  };
  const external = await one(network.networks.list({ name: 'public' }));
  const inner = await one(network.networks.list({ name: 'k8s-clusterapi-cluster-default-capo-test' }));
  const group = await network.securityGroups.create({ name: 'api' });
  await network.securityGroupRules.create({ securityGroupId: group.id, direction: 'ingress', protocol: 'tcp' });
  const port = await network.ports.create({ networkId: inner.id, name: 'plane', securityGroupIds: [group.id] });
  await compute.servers.create({
    name: 'plane',
    flavorId: (await compute.flavors.find('m1.medium'))!.id,
    imageId: (await one(image.images.list({ name: 'ubuntu-capi-image-v1.34.2' }))).id,
    networks: [{ portId: port.id }],
    userData: controlPlane,
  });
  return (await network.floatingIps.create({ networkId: external.id, portId: port.id })).address;
}

/** Returns the certificate of a TLS server. */
function certificateAt(address: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: apiPort, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

async function untilAnswers(address: string): Promise<string> {
  let certificate = '';
  await eventually(async () => {
    certificate = await certificateAt(address);
  }, 60_000);
  return certificate;
}

async function view(cloud: CloudProcess): Promise<CloudView> {
  return viewCloud({ cloudsYaml: cloud.cloudsYaml, url: cloud.url, adminToken: await cloud.adminToken() });
}

describe('two simulated clouds on one computer', () => {
  const quickly = { args: ['--time-scale', '0'] };
  let first: CloudProcess;
  let second: CloudProcess;
  const addresses: string[] = [];
  beforeAll(async () => {
    const both = await Promise.all([startCloud(quickly), startCloud(quickly)]);
    const isSecond = ({ child }: CloudProcess): boolean => child.stderr().includes('Another program has the usual');
    [first, second] = isSecond(both[0]) ? [both[1], both[0]] : both;
  });
  afterAll(async () => {
    await first?.stop();
    await second?.stop();
  });

  it('have their own addresses, at which their own servers answer', async () => {
    for (const cloud of [first, second]) {
      const seen = await view(cloud);
      addresses.push(await makeControlPlane(seen));
      await seen.close();
    }
    const ranges = addresses.map((address) => loopbackRangeOf(address)?.cidr);
    expect(new Set(ranges).size).toBe(2);
    expect(second.child.stderr()).toContain(ranges[1]);
    const certificates = await Promise.all(addresses.map(untilAnswers));
    expect(certificates[0]).not.toBe(certificates[1]);
  });

  it('keep their addresses over a crash, even if others are free', async () => {
    await first.end();
    second = await second.restart('SIGKILL');
    await untilAnswers(addresses[1]!);
  });

  it('refuse to start while another program has their addresses, and name it', async () => {
    await second.end();
    const usual = loopbackRangeOf(addresses[1]!)!;
    const taken = await claimLoopbackRange({ purpose: 'test', usual, isKept: true, log: nullLogger });
    try {
      const { code, stderr } = await runCapstan('cloud', '--data-dir', second.directory, '--listen', '127.0.0.1:0');
      expect(code).toBe(1);
      expect(stderr).toContain(`${usual.cidr} is in use by the capstan process ${process.pid}`);
      expect(stderr).toContain(`hint: stop process ${process.pid} first, or use another data directory`);
    } finally {
      await taken.release();
    }
  });
});
