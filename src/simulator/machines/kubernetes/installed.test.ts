import { describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../../machinery/index.ts';
import { nullLogger } from '../../../runtime/index.ts';
import { runScript } from '../../../simkube/index.ts';
import type { ImageView } from '../../core/contracts.ts';
import { Timings } from '../../core/timings.ts';
import { runCloudInit } from '../boot/cloud-init/run.ts';
import { machineShell } from '../boot/shell/machine-shell.ts';
import { type LoneMachine, loneMachine } from '../testing/lone-machine.ts';
import { installedVersion } from './installed.ts';
import { createKubernetesSoftware } from './software.ts';

const newSoftware = () => {
  const random = seededRandom(1);
  return createKubernetesSoftware({
    clock: new ManualClock(),
    random,
    timings: new Timings(random),
    sockets: false,
    log: nullLogger,
  });
};

const machineOf = (image: string, userData?: string): LoneMachine =>
  loneMachine({
    image: { name: image, properties: {} } as Partial<ImageView> as ImageView,
    ...(userData !== undefined && { userData: Buffer.from(userData) }),
  });

/** Advances the clock until the work of a machine is done. */
async function finish(machine: LoneMachine, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  for (let i = 0; i < 200 && !isDone; i++) await machine.clock.advance(machine.clock.untilNext() ?? 0);
  await work;
}

/** Runs a script on a machine of an image and returns its output. */
async function on(image: string, script: string): Promise<{ said: string; version: string | undefined }> {
  const machine = machineOf(image);
  let said = '';
  const write = (text: string): void => {
    said += text;
  };
  const streams = { input: { text: '' }, out: write, error: write };
  await finish(machine, runScript(machineShell(machine, newSoftware(), 'script'), script, streams));
  return { said, version: installedVersion(machine)?.text };
}

/** Boots a machine of an image with a cloud-config and returns its console. */
async function boot(image: string, config: string): Promise<{ said: string; version: string | undefined }> {
  const machine = machineOf(image, `#cloud-config\n${config}`);
  await finish(machine, runCloudInit(machine, newSoftware()));
  return { said: machine.written(), version: installedVersion(machine)?.text };
}

const repository =
  'mkdir -p /etc/apt/sources.list.d; echo "deb https://pkgs.k8s.io/core:/stable:/v1.33/deb/ /" > /etc/apt/sources.list.d/kubernetes.list';

describe('kubeadm on a machine', () => {
  it.each(['ubuntu-2204-kube-v1.33.1', 'ubuntu-capi-image', 'Ubuntu_20.04_node'])(
    'is installed on %s',
    async (image) => {
      expect((await on(image, 'command -v kubeadm')).said).toBe('/usr/bin/kubeadm\n');
    },
  );

  it.each(['Ubuntu 22.04', 'ubuntu-22.04-x86_64', 'flatcar', 'cirros'])('is not installed on %s', async (image) => {
    expect((await on(image, 'kubeadm version')).said).toContain('kubeadm: command not found');
    expect((await on(image, 'apt-get install -y kubeadm')).said).toContain('E: Unable to locate package kubeadm');
  });

  it('is installed from packages in the requested version', async () => {
    const script = `${repository}; apt-get install -y kubelet=1.33.4-1.1 kubeadm=1.33.4-1.1; kubeadm version`;
    const { said, version } = await on('Ubuntu 22.04', script);
    expect(said).toContain('Setting up kubeadm=1.33.4-1.1');
    expect(version).toBe('v1.33.4');
  });

  it('is installed from packages whose key was downloaded', async () => {
    const key =
      'curl -fsSL -o /etc/apt/k.asc https://pkgs.k8s.io/core:/stable:/v1.33/deb/Release.key && cat /etc/apt/k.asc';
    expect((await on('Ubuntu 22.04', key)).said).toContain('BEGIN PGP PUBLIC KEY BLOCK');
  });

  it('is installed by a download', async () => {
    const url = 'https://dl.k8s.io/release/v1.32.7/bin/linux/amd64/kubeadm';
    const script = `curl -Lo /usr/local/bin/kubeadm ${url}; chmod +x /usr/local/bin/kubeadm; kubeadm version`;
    expect((await on('flatcar', script)).version).toBe('v1.32.7');
  });

  const aptSources = `apt:
  sources:
    kubernetes.list:
      source: "deb [signed-by=$KEY_FILE] https://pkgs.k8s.io/core:/stable:/v1.33/deb/ /"
      key: "-----BEGIN PGP PUBLIC KEY BLOCK-----"
`;
  const filed = `write_files:
  - path: /etc/apt/sources.list.d/kubernetes.list
    content: "deb https://pkgs.k8s.io/core:/stable:/v1.33/deb/ /"
`;
  const yumRepos = `yum_repos:
  Kubernetes:
    baseurl: https://pkgs.k8s.io/core:/stable:/v1.33/rpm/
    enabled: true
`;
  const check = 'runcmd: [kubeadm version]\n';
  it.each([
    ['apt.sources', 'Ubuntu 22.04', `${aptSources}packages: [containerd, kubelet, kubeadm]\n`, 'v1.33.0'],
    [
      'apt.sources and versions',
      'Ubuntu 22.04',
      `${aptSources}packages: [[kubelet, 1.33.4-1.1], kubeadm=1.33.4-1.1]\n`,
      'v1.33.4',
    ],
    [
      'a file of sources',
      'debian-12',
      `${filed}package_update: true\npackages: [{apt: [kubelet, kubeadm]}]\n`,
      'v1.33.0',
    ],
    ['yum_repos', 'Rocky Linux 9', `${yumRepos}packages: [[kubelet, 1.33.2], kubeadm]\n`, 'v1.33.2'],
  ])('is installed from packages of cloud-init by %s', async (_, image, config, wanted) => {
    const { said, version } = await boot(image, config + check);
    expect(said).toContain('Setting up kubeadm');
    expect(said).not.toContain('WARNING');
    expect(said).not.toContain('command not found');
    expect(version).toBe(wanted);
  });

  it('is missing, like its whole list of cloud-init packages, when no repository has it', async () => {
    const { said, version } = await boot('Ubuntu 22.04', `packages: [containerd, kubeadm]\n${check}`);
    expect(said).toContain('E: Unable to locate package kubeadm');
    expect(said).toContain("Failure when attempting to install packages: ['containerd', 'kubeadm']");
    expect(said).not.toContain('Setting up containerd');
    expect(said).toContain('kubeadm: command not found');
    expect(version).toBeUndefined();
  });
});
