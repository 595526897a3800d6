import { expect } from 'vitest';
import type { Expectation } from './expectation.ts';
import { configMap, deployment, pod } from './objects.ts';
import { age, lines, table } from './output.ts';

/** Commands that follow changes: `get -w`, `wait`, `rollout status`. */
export function waitingExpectations(expectation: Expectation): void {
  expectation('get -w prints the list, then each change', async (s) => {
    await s.with(configMap('one', { a: '1' }, { labels: { watched: '' } })).ok`create -f -`;
    const watch = s.start`get configmap -l watched -w`;
    await watch.until((out) => /^one /m.test(out), 'the first row');
    await s.ok`patch configmap one -p ${'{"data":{"b":"2"}}'}`;
    await watch.until((out) => /^one +2 /m.test(out), 'the change');
    await s.with(configMap('two', {}, { labels: { watched: '' } })).ok`create -f -`;
    await watch.until((out) => /^two +0 /m.test(out), 'the new object');
    await s.ok`label configmap one watched-`;
    await s.ok`delete configmap two`;
    await watch.until((out) => lines(out).length >= 6, 'two rows for what went away');
    expect(table(watch.stdout())).toEqual([
      ['NAME', 'DATA', 'AGE'],
      ['one', '1', age],
      ['one', '2', age],
      ['two', '0', age],
      ['one', '2', age],
      ['two', '0', age],
    ]);
  });

  expectation('get -w --output-watch-events names the kind of change', async (s) => {
    const watch = s.start`get secret -w --output-watch-events`;
    await s.ok`create secret generic one`;
    await watch.until((out) => out.includes('ADDED'), 'the create');
    await s.ok`label secret one a=b`;
    await watch.until((out) => out.includes('MODIFIED'), 'the change');
    await s.ok`delete secret one`;
    await watch.until((out) => out.includes('DELETED'), 'the delete');
    expect(table(watch.stdout())).toEqual([
      ['EVENT', 'NAME', 'TYPE', 'DATA', 'AGE'],
      ...['ADDED', 'MODIFIED', 'DELETED'].map((event) => [event, 'one', 'Opaque', '0', age]),
    ]);
  });

  expectation('get --watch-only of one object as JSON streams whole objects', async (s) => {
    await s.ok`create configmap one`;
    const watch = s.start`get configmap one --watch-only -o json`;
    // Repeats the change until the watch shows it, because kubectl does not report when the watch is open.
    for (let round = 0; !watch.stdout().includes('"kind": "ConfigMap"'); round++) {
      await s.ok`annotate configmap one round=${round} --overwrite`;
    }
    expect(watch.stdout()).toContain('"apiVersion": "v1"');
  });

  expectation('wait --for=create returns when the object appears', async (s) => {
    const wait = s.start`wait --for=create configmap/late --timeout=30s`;
    await s.ok`create configmap late`;
    expect(await wait.ended).toMatchObject({ code: 0, stdout: 'configmap/late condition met\n' });
  });

  expectation('wait --for=jsonpath follows a field', async (s) => {
    await s.ok`create configmap one --from-literal=phase=new`;
    const wait = s.start`wait configmap/one --for=${'jsonpath={.data.phase}=done'} --timeout=30s`;
    await s.ok`patch configmap one -p ${'{"data":{"phase":"half"}}'}`;
    await s.ok`patch configmap one -p ${'{"data":{"phase":"done"}}'}`;
    expect(await wait.ended).toMatchObject({ code: 0, stdout: 'configmap/one condition met\n' });
    expect(await s.ok`wait configmap/one --for=${'jsonpath={.data.phase}'}`).toBe('configmap/one condition met\n');
  });

  expectation('wait --for=condition follows a status condition', async (s) => {
    await s.ok`create serviceaccount runner`;
    await s.with(pod('p', {}, { serviceAccountName: 'runner' })).ok`create -f -`;
    const wait = s.start`wait pod/p --for=condition=Ready --timeout=30s`;
    const status = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
    await s.ok`patch pod p --subresource=status -p ${JSON.stringify(status)}`;
    expect(await wait.ended).toMatchObject({ code: 0, stdout: 'pod/p condition met\n' });
    expect(await s.ok`wait pod/p --for=condition=Ready=True`).toBe('pod/p condition met\n');
  });

  expectation('wait --for=delete returns when the object is gone', async (s) => {
    await s.with(configMap('one', {}, { finalizers: ['example.com/hold'] })).ok`create -f -`;
    const wait = s.start`wait configmap/one --for=delete --timeout=30s`;
    await s.ok`delete configmap one --wait=false`;
    await s.ok`patch configmap one --type=merge -p ${'{"metadata":{"finalizers":null}}'}`;
    expect(await wait.ended).toMatchObject({ code: 0, stdout: 'configmap/one condition met\n' });
  });

  expectation('wait gives up at its timeout and names what it waited for', async (s) => {
    await s.ok`create configmap one`;
    expect(await s.fails`wait configmap/one --for=${'jsonpath={.data.x}=1'} --timeout=1s`).toBe(
      'error: timed out waiting for the condition on configmaps/one\n',
    );
    expect(await s.fails`wait configmap/none --for=condition=Ready --timeout=1s`).toBe(
      'Error from server (NotFound): configmaps "none" not found\n',
    );
  });

  expectation('rollout status reads the status; history without revisions is refused', async (s) => {
    await s.with(deployment('web')).ok`create -f -`;
    const wait = s.start`rollout status deployment/web --timeout=30s`;
    await s.ok`patch deployment web --subresource=status --type=merge -p ${'{"status":{"observedGeneration":1}}'}`;
    expect(await wait.ended).toMatchObject({ code: 0 });
    expect(wait.stdout()).toContain('deployment "web" successfully rolled out\n');
    expect(await s.fails`rollout status deployment/none`).toContain('deployments.apps "none" not found');
    await s.ok`create configmap one`;
    expect(await s.fails`rollout status configmap/one`).toContain(
      'no status viewer has been implemented for ConfigMap',
    );
    expect(await s.fails`rollout history configmap/one`).toContain('no visitor method exists for { ConfigMap}');
    expect(await s.ok`rollout history deployment/web`).toMatch(/^deployment.apps\/web/);
  });
}
