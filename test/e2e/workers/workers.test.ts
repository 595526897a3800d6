import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { runProcess } from '../../support/process.ts';
import { type House, openHouse, readyNodes } from '../vm-cluster/house.ts';

const missing = await missingKubectl();
const clusters = ['one', 'two', 'three', 'four'];

interface MemberLease {
  metadata: { annotations: Record<string, string> };
  spec: { holderIdentity: string; renewTime: string };
}

describe.skipIf(missing !== undefined)(`controllers in other processes${missing ? ` (${missing})` : ''}`, () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(['--workers', '2']);
  });
  afterAll(() => house?.stop());

  /** Returns the newest process with this name. */
  const pidOf = (worker: string): number => {
    const lines = house.capstan
      .logs()
      .matchAll(/^\{.*"worker":"(worker-\d)","pid":(\d+),"message":"A worker is ready"/gm);
    const pid = [...lines].findLast(([, name]) => name === worker)?.[2];
    if (pid === undefined) throw new Error(`${worker} was never ready`);
    return Number(pid);
  };
  const leases = async (): Promise<MemberLease[]> => {
    const selector = 'shares.capstan.dev/of=capstan-share';
    return JSON.parse(await house.kubectl('get', 'leases', '-n', 'capstan-system', '-l', selector, '-o', 'json')).items;
  };
  /** Returns the members a worker sees, by the prefixes of their names. */
  const membersSeenBy = async (worker: string): Promise<string[]> => {
    const own = (await leases()).filter(({ spec }) => spec.holderIdentity.startsWith(worker));
    // The lease of a killed process remains for a while.
    const newest = own.toSorted((a, b) => a.spec.renewTime.localeCompare(b.spec.renewTime)).at(-1);
    const view = newest?.metadata.annotations['shares.capstan.dev/members'] ?? '';
    return view.split(',').map((id) => id.replace(/-[^-]*$/, ''));
  };
  const isAlive = (pid: number): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };

  it('share the clusters', async () => {
    await eventually(async () => expect(await membersSeenBy('worker-1')).toEqual(['worker-1', 'worker-2']));
    const example = await readFile('examples/vm-cluster/cluster.yaml', 'utf8');
    for (const name of clusters) {
      const applied = await runProcess('kubectl', ['--kubeconfig', house.capstan.kubeconfig, 'apply', '-f', '-'], {
        input: example.replaceAll('vm-cluster', name),
      });
      expect(applied, applied.stderr).toMatchObject({ code: 0 });
    }
  });

  it('continue after one of them was killed and create nothing twice', async () => {
    await eventually(async () => expect((await house.cloud.inventory()).servers.length).toBeGreaterThan(1), 60_000);
    const killed = pidOf('worker-1');
    process.kill(killed, 'SIGKILL');
    await eventually(async () => expect(pidOf('worker-1')).not.toBe(killed), 60_000);
  });

  it('continue after one of them was stopped for longer than its lease and create nothing twice', async () => {
    const stopped = pidOf('worker-2');
    process.kill(stopped, 'SIGSTOP');
    try {
      await eventually(async () => expect(await membersSeenBy('worker-1')).toEqual(['worker-1']), 60_000);
    } finally {
      process.kill(stopped, 'SIGCONT');
    }
    await eventually(async () => {
      const view = ['worker-1', 'worker-2'];
      expect([...(await membersSeenBy('worker-1')), ...(await membersSeenBy('worker-2'))]).toEqual([...view, ...view]);
    }, 60_000);
    expect(pidOf('worker-2')).toBe(stopped);
    expect(house.capstan.logs()).toContain('Beginning again after the lease was lost');
    for (const name of clusters) {
      await eventually(async () => {
        await house.workload(name);
      }, 90_000);
      await readyNodes(house, name, 3);
    }
    const { servers, networks, routers, securityGroups, floatingIps } = await house.cloud.inventory();
    expect(servers).toHaveLength(3 * clusters.length);
    for (const names of [servers, networks, routers, securityGroups]) expect(names).toEqual([...new Set(names)]);
    expect(networks).toHaveLength(house.before.networks.length + clusters.length);
    expect(routers).toHaveLength(house.before.routers.length + clusters.length);
    expect(floatingIps).toHaveLength(house.before.floatingIps.length + clusters.length);
  }, 300_000);

  it('delete everything', async () => {
    const on = ['--kubeconfig', house.capstan.kubeconfig];
    for (const name of clusters) await capstanOk(['delete', 'cluster', name, '--yes', '--timeout', '120s', ...on]);
    await eventually(async () => expect(await house.cloud.inventory()).toEqual(house.before), 60_000);
  }, 300_000);

  it('end with the main process, even if it is killed', async () => {
    const workers = [pidOf('worker-1'), pidOf('worker-2')];
    expect(workers.map(isAlive)).toEqual([true, true]);
    await house.capstan.end('SIGKILL');
    await eventually(async () => expect(workers.map(isAlive)).toEqual([false, false]));
  });
});
