import { expect } from 'vitest';
import type { Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { configMap, pod } from './objects.ts';
import { lines } from './output.ts';

/** `delete`: what is deleted, in which order, and what remains. */
export function deletingExpectations(expectation: Expectation): void {
  expectation('delete by name, by several names, by file, by label and all', async (s) => {
    const labelled = (name: string): object => configMap(name, undefined, { labels: { group: 'a' } });
    await s.with([...'abcdefg'].map((name) => labelled(name))).ok`create -f -`;
    expect(await s.ok`delete configmap a`).toBe(`configmap "a" deleted\n`);
    expect(await s.ok`delete configmap/b configmap/c`).toBe('configmap "b" deleted\nconfigmap "c" deleted\n');
    expect(await s.with(labelled('d')).ok`delete -f -`).toBe('configmap "d" deleted\n');
    expect(await s.ok`delete configmap -l group=none`).toBe('No resources found\n');
    expect(lines(await s.ok`delete configmap -l group=a --field-selector metadata.name!=g`)).toEqual([
      'configmap "e" deleted',
      'configmap "f" deleted',
    ]);
    expect(await s.ok`delete configmap --all`).toContain('configmap "g" deleted\n');
    expect(await s.ok`get configmap -l group -o name`).toBe('');
  });

  expectation('delete of a missing object is NotFound, unless that is ignored', async (s) => {
    expect(await s.fails`delete configmap nothing`).toBe(
      'Error from server (NotFound): configmaps "nothing" not found\n',
    );
    expect(await s.ok`delete configmap nothing --ignore-not-found`).toBe('');
  });

  expectation('delete --dry-run=server keeps the object', async (s) => {
    await s.ok`create configmap one`;
    expect(await s.ok`delete configmap one --dry-run=server`).toBe('configmap "one" deleted (server dry run)\n');
    await s.ok`get configmap one`;
  });

  expectation('a finalizer holds the object until it is removed', async (s) => {
    await s.with(configMap('held', { a: '1' }, { finalizers: ['example.com/hold'] })).ok`create -f -`;
    await s.ok`delete configmap held --wait=false`;
    const held = await s.json`configmap held`;
    expect(held.metadata).toMatchObject({
      finalizers: ['example.com/hold'],
      deletionTimestamp: expect.any(String) as string,
      deletionGracePeriodSeconds: 0,
    });
    await s.ok`patch configmap held -p ${'{"data":{"a":"2"}}'}`;
    expect(
      await s.fails`patch configmap held --type=merge -p ${'{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}'}`,
    ).toContain(
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/more"}',
    );
    await s.ok`patch configmap held --type=json -p ${'[{"op":"remove","path":"/metadata/finalizers"}]'}`;
    expect(await s.fails`get configmap held`).toContain('(NotFound)');
  });

  expectation('a delete that waits ends when the finalizer goes', async (s) => {
    await s.with(configMap('held', undefined, { finalizers: ['example.com/hold'] })).ok`create -f -`;
    const wait = s.start`delete configmap held --timeout=30s`;
    await wait.until((out) => out.includes('deleted'), 'the request to be accepted');
    await s.ok`patch configmap held --type=merge -p ${'{"metadata":{"finalizers":[]}}'}`;
    expect(await wait.ended).toMatchObject({ code: 0 });
  });

  const family = async (s: Sandbox, block = false): Promise<void> => {
    await s.ok`create configmap parent`;
    const { uid } = (await s.json`configmap parent`).metadata;
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'parent', uid, ...(block && { blockOwnerDeletion: true }) },
    ];
    await s.with([
      configMap('child', undefined, { ownerReferences }),
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'child', ownerReferences } },
    ]).ok`create -f -`;
  };

  expectation('--cascade=background takes dependants along afterwards', async (s) => {
    await family(s);
    await s.ok`delete configmap parent`;
    await s.ok`wait --for=delete configmap/child secret/child --timeout=60s`;
  });

  expectation('--cascade=foreground keeps the owner until its dependants are gone', async (s) => {
    await family(s, true);
    await s.ok`patch secret child --type=merge -p ${'{"metadata":{"finalizers":["example.com/hold"]}}'}`;
    await s.ok`delete configmap parent --cascade=foreground --wait=false`;
    await s.ok`wait --for=delete configmap/child --timeout=60s`;
    const parent = await s.json`configmap parent`;
    expect(parent.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(parent.metadata.deletionTimestamp).toBeDefined();
    await s.ok`patch secret child --type=merge -p ${'{"metadata":{"finalizers":null}}'}`;
    await s.ok`wait --for=delete configmap/parent secret/child --timeout=60s`;
  });

  expectation('--cascade=orphan keeps dependants and takes the reference out of them', async (s) => {
    await family(s);
    await s.ok`delete configmap parent --cascade=orphan --timeout=60s`;
    expect((await s.json`configmap child`).metadata.ownerReferences).toBeUndefined();
    expect((await s.json`secret child`).metadata.ownerReferences).toBeUndefined();
  });

  expectation('a dependant whose owner never existed is collected', async (s) => {
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: '11111111-2222-3333-4444-555555555555' },
    ];
    await s.with(configMap('orphan', undefined, { ownerReferences })).ok`create -f -`;
    await s.ok`wait --for=delete configmap/orphan --timeout=60s`;
  });

  expectation('a dependant with a second, living owner stays', async (s) => {
    await family(s);
    await s.ok`create configmap guardian`;
    const { uid } = (await s.json`configmap guardian`).metadata;
    const guardian = { apiVersion: 'v1', kind: 'ConfigMap', name: 'guardian', uid };
    await s.ok`patch configmap child --type=json -p ${JSON.stringify([{ op: 'add', path: '/metadata/ownerReferences/-', value: guardian }])}`;
    await s.ok`delete configmap parent`;
    await s.ok`wait --for=delete secret/child --timeout=60s`;
    await s.ok`wait configmap/child --for=${'jsonpath={.metadata.ownerReferences[*].name}=guardian'} --timeout=60s`;
  });

  expectation('a pod without a node goes at once, whatever its grace period', async (s) => {
    await s.ok`create serviceaccount runner`;
    const spec = { serviceAccountName: 'runner', terminationGracePeriodSeconds: 600 };
    await s.with([pod('one', undefined, spec), pod('two', undefined, spec)]).ok`create -f -`;
    expect(await s.ok`delete pod one --timeout=20s`).toBe('pod "one" deleted\n');
    expect(await s.ok`delete pod two --grace-period=0 --force --timeout=20s`).toBe('pod "two" force deleted\n');
  });

  expectation('a pod on a node gets its grace period until it is forced', async (s) => {
    await s.ok`create serviceaccount runner`;
    const spec = { serviceAccountName: 'runner', nodeName: 'nowhere' };
    await s.with(pod('one', undefined, spec)).ok`create -f -`;
    await s.ok`delete pod one --grace-period=300 --wait=false`;
    expect((await s.json`pod one`).metadata).toMatchObject({ deletionGracePeriodSeconds: 300 });
    await s.ok`delete pod one --grace-period=0 --force --timeout=20s`;
    expect(await s.ok`get pod one --ignore-not-found`).toBe('');
  });

  expectation('delete --raw with a precondition that does not hold is a conflict', async (s) => {
    await s.ok`create configmap one`;
    const options = await s.file(
      'options.json',
      JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'other' } }),
    );
    expect(await s.fails`delete --raw /api/v1/namespaces/${s.namespace}/configmaps/one -f ${options}`).toMatch(
      /\(Conflict\): Operation cannot be fulfilled on ConfigMap "one": the UID in the precondition \(other\) does not match the UID in record \(.*\)\. The object might have been deleted and then recreated/,
    );
  });

  expectation('delete namespace removes everything in it', async (s) => {
    const name = `full-${s.id}`;
    await s.ok`create namespace ${name}`;
    await s.with([configMap('a', undefined, { namespace: name }), configMap('b', undefined, { namespace: name })])
      .ok`create -f - -n ${name}`;
    await s.ok`create secret generic c -n ${name}`;
    await s.ok`create deployment d --image=registry.example/app:1 --replicas=0 -n ${name}`;
    await s.ok`create role r --verb=get --resource=pods -n ${name}`;
    expect(await s.ok`delete namespace ${name} --timeout=60s`).toBe(`namespace "${name}" deleted\n`);
    expect(await s.fails`get namespace ${name}`).toContain('(NotFound)');
    await s.ok`create namespace ${name}`;
    s.cleanUp(() => s.run`delete namespace ${name} --wait=false`);
    expect(await s.ok`get secrets,deployments,roles -n ${name} -o name`).toBe('');
  });

  expectation('a terminating namespace refuses new objects and waits for finalizers', async (s) => {
    const name = `slow-${s.id}`;
    await s.ok`create namespace ${name}`;
    await s.with(configMap('held', undefined, { finalizers: ['example.com/hold'], namespace: name }))
      .ok`create -f - -n ${name}`;
    await s.ok`delete namespace ${name} --wait=false`;
    await s.ok`wait namespace/${name} --for=${'jsonpath={.status.phase}=Terminating'} --timeout=30s`;
    expect(await s.fails`create configmap late -n ${name}`).toContain(
      `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
    );
    await s.ok`wait namespace/${name} --for=condition=NamespaceFinalizersRemaining --timeout=60s`;
    expect(
      await s.ok`get namespace ${name} -o ${'jsonpath={.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].message}'}`,
    ).toBe('Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances');
    await s.ok`patch configmap held -n ${name} --type=merge -p ${'{"metadata":{"finalizers":null}}'}`;
    await s.ok`wait namespace/${name} --for=delete --timeout=60s`;
  });

  expectation('the namespaces the system needs cannot be deleted', async (s) => {
    for (const name of ['default', 'kube-system', 'kube-public']) {
      expect(await s.fails`delete namespace ${name}`).toContain(
        `Error from server (Forbidden): namespaces "${name}" is forbidden: this namespace may not be deleted`,
      );
    }
  });
}
