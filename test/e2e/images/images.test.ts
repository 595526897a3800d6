import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { kubectlApply, kubectlOn, missingKubectl } from '../../support/kubectl.ts';

const missing = await missingKubectl();
const content = Buffer.from('what a node boots from\n'.repeat(500));
const sha256 = createHash('sha256').update(content).digest('hex');

// Images of the OpenStack Resource Controller without that controller, as stacks contain them.
describe.skipIf(missing !== undefined)(`Images${missing ? ` (${missing})` : ''}`, () => {
  let capstan: CapstanProcess;
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer((_, response) => response.end(content));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ubuntu.qcow2`;
    capstan = await startCapstan({ args: ['--simulated-cloud', '--allow-peers', '127.0.0.1'], controllers: 'images' });
  });
  afterAll(async () => {
    server?.close();
    await capstan?.stop();
  });

  const kubectl = (...args: string[]): Promise<string> => kubectlOn(capstan.kubeconfig, capstan.directory)(...args);
  const apply = (name: string, hash: string): Promise<string> =>
    kubectlApply(
      capstan.kubeconfig,
      capstan.directory,
      `apiVersion: openstack.k-orc.cloud/v1alpha1
kind: Image
metadata:
  name: ${name}
spec:
  cloudCredentialsRef: {secretName: simulated-cloud, cloudName: openstack}
  managementPolicy: managed
  resource:
    visibility: private
    content:
      diskFormat: qcow2
      download:
        url: ${url}
        hash: {algorithm: sha256, value: ${hash}}
    properties:
      architecture: x86_64
      minDiskGB: 20
      minMemoryMB: 2048
      operatingSystem: {distro: ubuntu, version: '24.04'}
      hardware: {diskBus: scsi, scsiModel: virtio-scsi, vifModel: virtio, rngModel: virtio, qemuGuestAgent: true}
`,
    );

  it('are downloaded with their hash checked, shown, and deleted', async () => {
    // There is no warning that nothing handles the object.
    expect(await apply('ubuntu', sha256)).toBe('image.openstack.k-orc.cloud/ubuntu created\n');
    await kubectl('wait', 'image.openstack.k-orc.cloud/ubuntu', '--for=condition=Available', '--timeout=60s');
    expect(await kubectl('get', 'images.openstack.k-orc.cloud', '--no-headers')).toMatch(
      /^ubuntu +[0-9a-f-]{36} +True +OpenStack resource is up to date/,
    );
    const size = ['get', 'images.openstack.k-orc.cloud', 'ubuntu', '-o', 'jsonpath={.status.resource.sizeB}'];
    expect(await kubectl(...size)).toBe(String(content.length));
    await kubectl('delete', 'images.openstack.k-orc.cloud', 'ubuntu', '--timeout=60s');
  });

  it('report a mismatch of the hash', async () => {
    await apply('other', sha256.replace(/^./, sha256.startsWith('0') ? '1' : '0'));
    await kubectl(
      ...['wait', 'image.openstack.k-orc.cloud/other', '--timeout=60s'],
      '--for=jsonpath={.status.conditions[?(@.type=="Downloading")].reason}=TransientError',
    );
    const path = '{.status.conditions[?(@.type=="Available")].message}';
    expect(await kubectl('get', 'images.openstack.k-orc.cloud', 'other', '-o', `jsonpath=${path}`)).toMatch(
      `the sha256 of what was downloaded is ${sha256}`,
    );
    await kubectl('delete', 'images.openstack.k-orc.cloud', 'other', '--timeout=60s');
  });
});
