import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { Nodes } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { type ManualClock, seededRandom } from '../../../../machinery/index.ts';
import { nullLogger } from '../../../../runtime/index.ts';
import { clusterOfApi, EtcdKeys, readKubeconfig, runScript } from '../../../../simkube/index.ts';
import { createProgramLab, type LabPod, type ProgramLab } from '../../../../simkube/testing/index.ts';
import { machineShell } from '../../boot/shell/machine-shell.ts';
import { type LoneMachine, loneMachine } from '../../testing/lone-machine.ts';
import type { Software } from '../../types.ts';
import { createKubernetesSoftware } from '../index.ts';

const image = 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0';
const endpoint = '127.65.0.7';
const controllerCommand = ['k0s', 'controller', '--config=/etc/k0s/k0s.yaml'];
const download =
  'curl -sSfL --retry 5 https://get.k0s.sh | K0S_INSTALL_PATH=/usr/local/bin K0S_VERSION=v1.32.6+k0s.0 sh';
const install =
  '/usr/local/bin/k0s install worker --token-file /etc/k0s.token --labels=k0smotron.io/machine-name=worker-1 --enable-cloud-provider --debug=true --kubelet-extra-args="--hostname-override=worker-1 --cloud-provider=external"';
const start = '(command -v systemctl > /dev/null 2>&1 && systemctl start k0sworker) || false';

interface Place {
  readonly lab: ProgramLab;
  readonly pod: LabPod;
  readonly controller: ReturnType<LabPod['start']>;
  readonly machine: LoneMachine;
  readonly software: Software;
  readonly admin: Client;
  run(...commands: readonly string[]): Promise<number>;
}

let place: Place | undefined;
afterEach(async () => {
  place?.machine.switchOff('end');
  await place?.software.close();
  await place?.lab.close();
  place = undefined;
});

/** Creates a k0s control plane and a machine that reaches it. */
async function createPlace(spec: object = {}): Promise<Place> {
  const lone = loneMachine({ name: 'server-1' });
  const { clock, timings } = lone;
  const lab = createProgramLab({ clock });
  const machine: LoneMachine = Object.assign(lone, { network: { dial: lab.dial } });
  const software = createKubernetesSoftware({
    clock,
    random: seededRandom(2),
    timings,
    sockets: false,
    log: nullLogger,
  });
  const pod = lab.pod('kmc-0', {
    '/etc/k0s/k0s.yaml': stringify({
      apiVersion: 'k0s.k0sproject.io/v1beta1',
      kind: 'ClusterConfig',
      spec: { api: { port: 6443, externalAddress: endpoint, sans: [endpoint] }, ...spec },
    }),
  });
  lab.name(endpoint, pod);
  const controller = pod.start(image, controllerCommand);
  await lab.until(async () => (await pod.exec(image, 'k0s', 'status')).code === 0);
  const admin = await adminOf({ lab, pod });
  const run = async (...commands: readonly string[]): Promise<number> => {
    const state = machineShell(machine, software, 'runcmd');
    const write = (text: string): void => machine.screen.write(text);
    return await runScript(state, commands.join('\n'), { input: { text: '' }, out: write, error: write });
  };
  place = { lab, pod, controller, machine, software, admin, run };
  return place;
}

async function adminOf({ lab, pod }: Pick<Place, 'lab' | 'pod'>): Promise<Client> {
  const { lines } = await pod.exec(image, 'k0s', 'kubeconfig', 'admin');
  const facts = readKubeconfig(lines.join('\n'), { read: () => undefined })!;
  return lab.dial(endpoint, 6443).api!.connect({ ...facts, serverName: endpoint });
}

async function writeToken({ pod, machine }: Place, ...more: readonly string[]): Promise<void> {
  const { lines } = await pod.exec(image, 'k0s', 'token', 'create', '--role=worker', ...more);
  machine.disk.write('/etc/k0s.token', `${lines[0]}\n`);
}

describe('a k0s worker', () => {
  it('joins as its user data says and becomes Ready', async () => {
    const { lab, admin, machine, run } = await createPlace();
    await writeToken(place!);
    expect(await run('set -e', download, install, start)).toBe(0);
    const ready = async (): Promise<boolean> => {
      const { items } = await admin.list(Nodes);
      return items[0]?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    };
    await lab.until(ready);
    const node = await admin.get(Nodes, { name: 'worker-1' });
    expect(node.metadata.labels).toMatchObject({ 'k0smotron.io/machine-name': 'worker-1' });
    expect(node.status?.nodeInfo?.kubeletVersion).toBe('v1.32.6+k0s');
    expect(node.spec?.taints?.map(({ key }) => key)).toContain('node.cloudprovider.kubernetes.io/uninitialized');
    expect(machine.written()).toContain('k0s is now executable in /usr/local/bin');
  });

  it('stays a node of its cluster when the plane is restored from a backup', async () => {
    const { lab, pod, run } = await createPlace();
    await writeToken(place!);
    await run(download, install, start);
    const readyIn = async (): Promise<boolean> => {
      const { items } = await (await adminOf(place!)).list(Nodes);
      return items[0]?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
    };
    await lab.until(readyIn);
    const before = clusterOfApi(lab.dial(endpoint, 6443).api)!;
    const backup = await new EtcdKeys(lab.kubernetes.clusters, before.etcd).snapshot();
    await place!.controller.stop();
    const file = '/var/lib/k0s/etcd/member/snap/db';
    lab.kubernetes.filesRemoved([pod.files.get(file)!]);
    pod.files.delete(file);
    pod.files.set('/backup', backup);
    const restored = await pod.exec(
      'etcd:v3.6.4',
      'etcdutl',
      'snapshot',
      'restore',
      '/backup',
      '--data-dir=/var/lib/k0s/etcd',
    );
    expect(restored.code).toBe(0);
    pod.start(image, controllerCommand);
    await lab.until(async () => (await pod.exec(image, 'k0s', 'status')).code === 0);
    expect(clusterOfApi(lab.dial(endpoint, 6443).api)).not.toBe(before);
    // Without heartbeats a node becomes Unknown in less than a minute.
    await (lab.clock as ManualClock).advance(180_000);
    expect(await readyIn()).toBe(true);
  });

  it.each([
    ['no token', undefined, 'failed to read token file: open /etc/k0s.token: no such file or directory'],
    ['a token that is none', 'bm9wZQ==', 'failed to decode token'],
  ])('reports on the console that there is %s', async (_what, token, words) => {
    const { lab, machine, run } = await createPlace();
    if (token !== undefined) machine.disk.write('/etc/k0s.token', token);
    expect(await run(download, install, start)).toBe(0);
    await lab.until(() => machine.written().includes(words));
  });

  it('stays away with a revoked token', async () => {
    const { lab, pod, machine, admin, run } = await createPlace();
    await writeToken(place!);
    const list = await pod.exec(image, 'k0s', 'token', 'list');
    await pod.exec(image, 'k0s', 'token', 'invalidate', list.lines[1]!.split('\t')[0]!);
    await run(download, install, start);
    await lab.until(() => machine.written().includes('failed to load worker configuration: Unauthorized'));
    expect((await admin.list(Nodes)).items).toEqual([]);
  });

  it('cannot be installed before it is downloaded, nor with unknown flags', async () => {
    const { machine, run } = await createPlace();
    expect(await run(install)).toBe(127);
    expect(await run(download, '/usr/local/bin/k0s install worker --no-such-flag')).toBe(1);
    expect(machine.written()).toContain('Error: unknown flag: --no-such-flag');
  });
});
