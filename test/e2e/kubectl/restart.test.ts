import { afterEach, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { openSandbox, type Sandbox } from '../../support/sandbox.ts';
import { lines } from './output.ts';

const missing = await missingKubectl();
const suite = missing === undefined ? 'kubectl across a restart of ours' : `kubectl across a restart (${missing})`;

/** Clients during a restart of the server on the same data. */
describe.skipIf(missing !== undefined)(suite, () => {
  let capstan: CapstanProcess | undefined;
  let sandbox: Sandbox | undefined;
  afterEach(async () => {
    await sandbox?.close();
    await capstan?.stop();
    sandbox = undefined;
    capstan = undefined;
  });
  const begin = async (): Promise<Sandbox> => {
    capstan = await startCapstan();
    const { kubeconfig } = capstan;
    sandbox = await openSandbox({ name: 'capstan', kubeconfig, stop: async () => {} });
    return sandbox;
  };

  it('get -w ends cleanly with the server, and a new server continues with the data', async () => {
    const s = await begin();
    await s.ok`create configmap before --from-literal=a=1`;
    const watch = s.start`get configmap before -w`;
    await watch.until((out) => /^before /m.test(out), 'the first row');
    // The first row comes from the list. A second one shows that the watch is open.
    await s.ok`label configmap before seen=yes`;
    await watch.until((out) => out.match(/^before /gm)?.length === 2, 'the row of a change');
    capstan = await capstan!.restart();
    // kubectl does not reconnect: the end of a watch ends the command without an error.
    expect(await watch.ended).toMatchObject({ code: 0 });
    const again = s.start`get configmap before -w`;
    await again.until((out) => /^before /m.test(out), 'the object from before');
    await s.ok`patch configmap before -p ${'{"data":{"b":"2"}}'}`;
    await again.until((out) => /^before +2 /m.test(out), 'a change after the restart');
  });

  it('a killed server loses nothing it acknowledged', async () => {
    const s = await begin();
    const created = lines(
      await s.with(
        Array.from({ length: 20 }, (_, index) => ({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: `kept-${index}`, labels: { kept: '' } },
          stringData: { index: String(index) },
        })),
      ).ok`create -f - -o name`,
    );
    const before = await s.json`secret kept-7`;
    capstan = await capstan!.restart('SIGKILL');
    expect(lines(await s.ok`get secret -l kept -o name`).sort()).toEqual(created.sort());
    const after = await s.json`secret kept-7`;
    expect(after).toEqual(before);
    await s.ok`label secret kept-7 later=yes`;
    expect(Number((await s.json`secret kept-7`).metadata.resourceVersion)).toBeGreaterThan(
      Number(before.metadata.resourceVersion),
    );
  });

  it('credentials and objects in deletion survive a restart', async () => {
    const s = await begin();
    await s.ok`create serviceaccount robot`;
    const robot = await s.withToken((await s.ok`create token robot`).trim());
    await s.with({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'held', finalizers: ['example.com/hold'] },
    }).ok`create -f -`;
    await s.ok`delete configmap held --wait=false`;
    capstan = await capstan!.restart();
    expect(await robot.ok`auth whoami -o ${'jsonpath={.status.userInfo.username}'}`).toBe(
      `system:serviceaccount:${s.namespace}:robot`,
    );
    expect((await s.json`configmap held`).metadata.deletionTimestamp).toBeDefined();
    await s.ok`patch configmap held --type=merge -p ${'{"metadata":{"finalizers":null}}'}`;
    expect(await s.ok`get configmap held --ignore-not-found`).toBe('');
  });
});
