import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigMaps } from '../../api/index.ts';
import type { EtcdCluster } from '../etcd/etcd-cluster.ts';
import { dataFile } from './etcd/data-directory.ts';
import { etcdBehind } from './etcd/way.ts';
import { createProgramLab, type LabContainer, type LabPod, type ProgramLab } from './testing/lab.ts';
import {
  adminOf,
  apiArgs,
  apiServerImage,
  createPlanePki,
  etcdArgs,
  etcdImage,
  initialCluster,
  isServing,
  type PlanePki,
} from './testing/plane.ts';

let lab: ProgramLab;
let pki: PlanePki;
beforeEach(async () => {
  lab = createProgramLab();
  pki = await createPlanePki(lab.clock);
});
afterEach(() => lab.close());

async function memberPod(name: string): Promise<LabPod> {
  return lab.pod(name, await pki.etcdFiles(name));
}

function startMember(
  pod: LabPod,
  names: readonly string[],
  state: 'new' | 'existing',
  image = etcdImage,
): LabContainer {
  return pod.start(image, etcdArgs(pod.name), {
    ETCD_INITIAL_CLUSTER: initialCluster(...names),
    ETCD_INITIAL_CLUSTER_STATE: state,
  });
}

function clusterAt(name: string): EtcdCluster | undefined {
  try {
    return etcdBehind(lab.dial(name, 2379))?.endpoint.cluster;
  } catch {
    return undefined;
  }
}

const peerUrl = (name: string): string => `https://${name}:2380`;
const health = async (name: string): Promise<number> => (await lab.dial(name, 2381).get!('/health')).status;

/** Adds one member after another, like the control plane controllers. */
async function grow(...names: readonly string[]): Promise<{ pods: LabPod[]; runs: LabContainer[] }> {
  const pods: LabPod[] = [];
  const runs: LabContainer[] = [];
  for (const [index, name] of names.entries()) {
    const pod = await memberPod(name);
    const added = index === 0 ? undefined : clusterAt(names[0]!)!.add([peerUrl(name)], { isLearner: true });
    runs.push(startMember(pod, names.slice(0, index + 1), index === 0 ? 'new' : 'existing'));
    await lab.until(() => clusterAt(name) !== undefined);
    if (added) clusterAt(names[0]!)!.promote(added.id);
    pods.push(pod);
  }
  return { pods, runs };
}

describe('etcd in Pods', () => {
  it('grows by learners and shrinks by removal', async () => {
    const { runs } = await grow('etcd-0', 'etcd-1', 'etcd-2');
    const cluster = clusterAt('etcd-0')!;
    expect(clusterAt('etcd-2')).toBe(cluster);
    expect(cluster.members.map(({ name, isLearner }) => [name, isLearner])).toEqual([
      ['etcd-0', false],
      ['etcd-1', false],
      ['etcd-2', false],
    ]);
    for (const name of ['etcd-2', 'etcd-1']) {
      cluster.remove(cluster.members.find((member) => member.name === name)!.id);
    }
    await lab.until(() => runs[1]!.exitCode() === 0 && runs[2]!.exitCode() === 0);
    expect(await health('etcd-0')).toBe(200);
  });

  it('starts with several members at once and answers when a majority is there', async () => {
    const names = ['etcd-0', 'etcd-1', 'etcd-2'];
    const pods = await Promise.all(names.map(memberPod));
    startMember(pods[0]!, names, 'new');
    await lab.until(() => pods[0]!.lines.length > 0);
    expect(clusterAt('etcd-0')).toBeUndefined();
    startMember(pods[1]!, names, 'new');
    startMember(pods[2]!, names, 'new');
    await lab.until(() => names.every((name) => clusterAt(name) !== undefined));
    expect(new Set(names.map(clusterAt)).size).toBe(1);
  });

  it.each(['new', 'existing'] as const)(
    'does not take back a member that lost its volume (state %s)',
    async (state) => {
      const { pods, runs } = await grow('etcd-0', 'etcd-1', 'etcd-2');
      const cluster = clusterAt('etcd-0')!;
      await runs[2]!.stop();
      pods[2]!.files.delete(dataFile('/data'));
      const names = ['etcd-0', 'etcd-1', 'etcd-2'];
      expect(await startAndEnd(pods[2]!, names, state)).not.toBe(0);
      expect(pods[2]!.lines.join('\n')).toMatch(/has already been bootstrapped|has lost its data/);
      cluster.remove(cluster.members.find(({ name }) => name === 'etcd-2')!.id);
      const anew = cluster.add([peerUrl('etcd-2')], { isLearner: true });
      startMember(pods[2]!, names, 'existing');
      await lab.until(() => clusterAt('etcd-2') === cluster);
      cluster.promote(anew.id);
      expect(cluster.members).toHaveLength(3);
    },
  );

  async function startAndEnd(
    pod: LabPod,
    names: readonly string[],
    state: 'new' | 'existing',
    image = etcdImage,
  ): Promise<number> {
    const run = startMember(pod, names, state, image);
    await lab.until(() => run.exitCode() !== undefined);
    return run.exitCode()!;
  }

  it('starts over when its only member lost its volume', async () => {
    const { pods, runs } = await grow('etcd-0');
    const before = clusterAt('etcd-0')!.id;
    await runs[0]!.stop();
    pods[0]!.files.delete(dataFile('/data'));
    startMember(pods[0]!, ['etcd-0'], 'new');
    await lab.until(() => clusterAt('etcd-0') !== undefined);
    expect(clusterAt('etcd-0')!.id).not.toBe(before);
  });

  it('cannot join a cluster it does not find or that does not know it', async () => {
    const pod = await memberPod('etcd-1');
    expect(await startAndEnd(pod, ['etcd-0', 'etcd-1'], 'existing')).toBe(1);
    expect(pod.lines.at(-1)).toContain('could not retrieve cluster information from the given URLs');
    await grow('etcd-0');
    expect(await startAndEnd(pod, ['etcd-0', 'etcd-1'], 'existing')).toBe(1);
    expect(pod.lines.at(-1)).toContain('member count is unequal');
  });

  it('moves one minor version at a time and never back', async () => {
    const { pods, runs } = await grow('etcd-0');
    const [pod] = pods as [LabPod];
    await runs[0]!.stop();
    expect(await startAndEnd(pod, ['etcd-0'], 'new', 'registry.k8s.io/etcd:3.7.1-0')).toBe(1);
    expect(pod.lines.at(-1)).toContain('minor versions must be taken one by one');
    const run = startMember(pod, ['etcd-0'], 'new', 'registry.k8s.io/etcd:3.6.4-0');
    await lab.until(() => clusterAt('etcd-0')?.version === '3.6');
    await run.stop();
    expect(await startAndEnd(pod, ['etcd-0'], 'new')).toBe(1);
    expect(pod.lines.at(-1)).toContain('invalid downgrade');
  });

  it('ignores the initial cluster once it has data', async () => {
    const { pods, runs } = await grow('etcd-0');
    await runs[0]!.stop();
    const args = etcdArgs('etcd-0', ['--initial-cluster=other=https://other:2380']);
    pods[0]!.start(etcdImage, args, { ETCD_INITIAL_CLUSTER_STATE: 'new' });
    await lab.until(() => clusterAt('etcd-0') !== undefined);
  });

  it('takes members that are listed under another name of the same address', async () => {
    const { pods } = await grow('etcd-0');
    lab.name('etcd-0.etcd', pods[0]!);
    const pod = await memberPod('etcd-1');
    clusterAt('etcd-0')!.add([peerUrl('etcd-1')], { isLearner: true });
    pod.start(etcdImage, etcdArgs('etcd-1'), {
      ETCD_INITIAL_CLUSTER: `etcd-0=https://etcd-0.etcd:2380,${initialCluster('etcd-1')}`,
      ETCD_INITIAL_CLUSTER_STATE: 'existing',
    });
    await lab.until(() => clusterAt('etcd-1') !== undefined);
  });

  it('is found by name in scripts', async () => {
    const { pods } = await grow('etcd-0');
    const lookUp = (name: string) => pods[0]!.exec(etcdImage, '/bin/sh', '-c', `getent ahostsv4 ${name}`);
    expect(await lookUp('etcd-0')).toMatchObject({
      code: 0,
      lines: [expect.stringContaining('STREAM etcd-0'), expect.anything(), expect.anything()],
    });
    expect(await lookUp('nobody')).toEqual({ code: 2, lines: [] });
  });

  it.each([
    ['flags it does not know', ['--no-such-flag'], 2, 'flag provided but not defined: -no-such-flag'],
    ['a name that is not in the list', ['--name=other'], 1, "couldn't find local name"],
    ['files that are not there', ['--cert-file=/pki/none.crt'], 1, 'open /pki/none.crt: no such file or directory'],
    ['a state that is none', ['--initial-cluster-state=maybe'], 1, 'must be one of: new, existing'],
  ])('refuses %s', async (_what, args, code, words) => {
    const pod = await memberPod('etcd-0');
    const run = pod.start(etcdImage, etcdArgs('etcd-0', [`--initial-cluster=${initialCluster('etcd-0')}`, ...args]));
    await lab.until(() => run.exitCode() !== undefined);
    expect(run.exitCode()).toBe(code);
    expect(pod.lines.join('\n')).toContain(words);
  });

  it('reports its health to probes and etcdctl', async () => {
    const { pods, runs } = await grow('etcd-0', 'etcd-1', 'etcd-2');
    const ask = (): Promise<{ code: number }> =>
      pods[0]!.exec(
        etcdImage,
        'etcdctl',
        'endpoint',
        'health',
        '--endpoints=https://127.0.0.1:2379',
        '--cacert=/pki/ca.crt',
        '--cert=/pki/server.crt',
        '--key=/pki/server.key',
      );
    expect(await ask()).toMatchObject({ code: 0 });
    await runs[1]!.stop();
    await runs[2]!.stop();
    expect(await health('etcd-0')).toBe(503);
    expect((await lab.dial('etcd-0', 2381).get!('/livez')).status).toBe(200);
    expect(await ask()).toMatchObject({ code: 1 });
  });

  it('gives a snapshot from which another cluster starts with the same objects', async () => {
    const { pods } = await grow('etcd-0');
    const files = await pki.apiFiles('api-0', 'api-1');
    lab.pod('api-0', files).start(apiServerImage, apiArgs('https://etcd-0:2379', ['--etcd-prefix=/tenant']));
    await lab.until(() => isServing(lab, 'api-0'));
    const key = { namespace: 'default', name: 'kept' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { a: 'b' } };
    await (await adminOf(lab, pki, 'api-0')).create(ConfigMaps, object, { fieldManager: 'test' });
    const saved = await pods[0]!.exec(
      etcdImage,
      ...['etcdctl', 'snapshot', 'save', '/backup/snap.db', '--endpoints=https://127.0.0.1:2379'],
      ...['--cacert=/pki/ca.crt', '--cert=/pki/server.crt', '--key=/pki/server.key'],
    );
    expect(saved.code).toBe(0);
    const snapshot = pods[0]!.files.get('/backup/snap.db')!;

    const other = await memberPod('other-0');
    other.files.set('/backup/snap.db', snapshot.replace('kept', 'lost'));
    const restore = ['etcdutl', 'snapshot', 'restore', '/backup/snap.db', '--data-dir=/data', '--name=other-0'];
    expect(await other.exec(etcdImage, ...restore)).toMatchObject({ code: 1 });
    other.files.set('/backup/snap.db', snapshot);
    const restored = await other.exec(etcdImage, ...restore, '--initial-advertise-peer-urls=https://other-0:2380');
    expect(restored.code).toBe(0);
    startMember(other, ['other-0'], 'new');
    lab.pod('api-1', files).start(apiServerImage, apiArgs('https://other-0:2379', ['--etcd-prefix=/tenant']));
    await lab.until(() => isServing(lab, 'api-1'));
    const kept = await (await adminOf(lab, pki, 'api-1')).get(ConfigMaps, key);
    expect(kept.data).toEqual({ a: 'b' });
    expect(clusterAt('other-0')!.id).not.toBe(clusterAt('etcd-0')!.id);
  });
});
