import { describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../../machinery/index.ts';
import { nullLogger } from '../../../runtime/index.ts';
import { runScript } from '../../../simkube/index.ts';
import type { ImageView } from '../../core/contracts.ts';
import { Timings } from '../../core/timings.ts';
import { machineShell } from '../boot/shell/machine-shell.ts';
import { loneMachine } from '../testing/lone-machine.ts';
import { installedVersion } from './installed.ts';
import { createKubernetesSoftware } from './software.ts';

/** Runs a script on a machine of an image, and tells what it wrote. */
async function on(image: string, script: string): Promise<{ said: string; version: string | undefined }> {
  const machine = loneMachine({ image: { name: image, properties: {} } as unknown as ImageView });
  const random = seededRandom(1);
  const software = createKubernetesSoftware({
    clock: new ManualClock(),
    random,
    timings: new Timings(random),
    sockets: false,
    log: nullLogger,
  });
  let said = '';
  const write = (text: string): void => {
    said += text;
  };
  const work = runScript(machineShell(machine, software, 'script'), script, {
    input: { text: '' },
    out: write,
    error: write,
  });
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  for (let i = 0; i < 200 && !isDone; i++) await machine.clock.advance(machine.clock.untilNext() ?? 0);
  await work;
  return { said, version: installedVersion(machine)?.text };
}

const repository =
  'mkdir -p /etc/apt/sources.list.d; echo "deb https://pkgs.k8s.io/core:/stable:/v1.33/deb/ /" > /etc/apt/sources.list.d/kubernetes.list';

describe('kubeadm on a machine', () => {
  it.each(['ubuntu-2204-kube-v1.33.1', 'ubuntu-capi-image', 'Ubuntu_20.04_node'])('is there on %s', async (image) => {
    expect((await on(image, 'command -v kubeadm')).said).toBe('/usr/bin/kubeadm\n');
  });

  it.each(['Ubuntu 22.04', 'ubuntu-22.04-x86_64', 'flatcar', 'cirros'])('is not there on %s', async (image) => {
    expect((await on(image, 'kubeadm version')).said).toContain('kubeadm: command not found');
    expect((await on(image, 'apt-get install -y kubeadm')).said).toContain('E: Unable to locate package kubeadm');
  });

  it('comes with packages, in the version that was asked for', async () => {
    const script = `${repository}; apt-get install -y kubelet=1.33.4-1.1 kubeadm=1.33.4-1.1; kubeadm version`;
    const { said, version } = await on('Ubuntu 22.04', script);
    expect(said).toContain('Setting up kubeadm=1.33.4-1.1');
    expect(version).toBe('v1.33.4');
  });

  it('comes with a download', async () => {
    const url = 'https://dl.k8s.io/release/v1.32.7/bin/linux/amd64/kubeadm';
    const script = `curl -Lo /usr/local/bin/kubeadm ${url}; chmod +x /usr/local/bin/kubeadm; kubeadm version`;
    expect((await on('flatcar', script)).version).toBe('v1.32.7');
  });
});
