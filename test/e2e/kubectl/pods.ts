import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Sandbox } from '../../support/sandbox.ts';
import type { Expectation } from './expectation.ts';
import { pod } from './objects.ts';

/** Pods and the resources they use: service accounts, streams, volumes. */
export function podExpectations(expectation: Expectation): void {
  expectation('a pod runs as the default service account, with its token mounted', async (s) => {
    await s.with(pod('p')).ok`create -f -`;
    const { spec } = await s.json`pod p`;
    expect(spec).toMatchObject({ serviceAccount: 'default', serviceAccountName: 'default' });
    const [volume] = spec.volumes;
    expect(volume).toEqual({
      name: expect.stringMatching(/^kube-api-access-[a-z0-9]{5}$/) as string,
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
      },
    });
    expect(spec.containers[0].volumeMounts).toEqual([
      { name: volume.name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ]);
  });

  expectation('a pod that wants no token gets none, and one whose account is missing is refused', async (s) => {
    await s.with(pod('quiet', {}, { automountServiceAccountToken: false })).ok`create -f -`;
    expect((await s.json`pod quiet`).spec).not.toHaveProperty('volumes');
    expect(await s.with(pod('lost', {}, { serviceAccountName: 'nobody' })).fails`create -f -`).toContain(
      `pods "lost" is forbidden: error looking up service account ${s.namespace}/nobody: serviceaccount "nobody" not found`,
    );
  });

  expectation('an update of a pod cannot take away what the server gave it', async (s) => {
    await s.with(pod('p')).ok`create -f -`;
    const added = { key: 'x', operator: 'Exists', effect: 'NoSchedule' };
    const patch = JSON.stringify([
      { op: 'replace', path: '/spec/tolerations', value: [added] },
      { op: 'remove', path: '/spec/priority' },
      { op: 'remove', path: '/spec/preemptionPolicy' },
    ]);
    await s.ok`patch pod p --type=json -p ${patch}`;
    const lost = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
    expect((await s.json`pod p`).spec).toMatchObject({
      tolerations: [added, lost('node.kubernetes.io/not-ready'), lost('node.kubernetes.io/unreachable')],
      priority: 0,
      preemptionPolicy: 'PreemptLowerPriority',
    });
  });

  expectation('an evicted pod says that it was', async (s) => {
    await s.with(pod('p', { finalizers: ['example.com/hold'] })).ok`create -f -`;
    s.cleanUp(() => s.run`patch pod p -p ${'{"metadata":{"finalizers":null}}'}`);
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p', namespace: s.namespace } };
    await s.with(eviction).ok`create --raw ${`/api/v1/namespaces/${s.namespace}/pods/p/eviction`} -f -`;
    const { metadata, status } = await s.json`pod p`;
    expect(metadata.deletionTimestamp).toBeDefined();
    expect(status.conditions).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      }),
    );
  });

  expectation('a pod takes over the pull secrets of its account', async (s) => {
    await s.ok`create serviceaccount puller`;
    await s.ok`patch serviceaccount puller -p ${'{"imagePullSecrets":[{"name":"registry"}]}'}`;
    await eventually(async () => {
      await s.run`delete pod p --ignore-not-found --force --grace-period=0`;
      await s.with(pod('p', {}, { serviceAccountName: 'puller' })).ok`create -f -`;
      expect((await s.json`pod p`).spec.imagePullSecrets).toEqual([{ name: 'registry' }]);
    });
  });

  expectation('exec, attach and port-forward say that a pod has no host yet', async (s) => {
    await s.with(pod('p')).ok`create -f -`;
    const noHost = 'Error from server (BadRequest): pod p does not have a host assigned\n';
    expect(await s.fails`exec p -- ls`).toBe(noHost);
    expect(await s.fails`exec p -c other -- ls`).toBe(
      'Error from server (BadRequest): container other is not valid for pod p\n',
    );
    expect(await s.fails`attach p`).toContain(noHost);
    expect(await s.fails`port-forward p 8080:80`).toContain(
      'unable to forward port because pod is not running. Current status=Pending',
    );
    expect(await s.fails`exec nobody -- ls`).toBe('Error from server (NotFound): pods "nobody" not found\n');
  });

  const claim = (name: string): object => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage: '1Gi' } } },
  });
  const isGone = (s: Sandbox, what: string): Promise<void> =>
    eventually(async () => {
      expect(await s.ok`get ${what} --ignore-not-found -o name`).toBe('');
    });

  expectation('a claim stays while a pod on a node uses it', async (s) => {
    await s.with(claim('c')).ok`create -f -`;
    expect((await s.json`pvc c`).metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: `node-${s.id}` } };
    s.cleanUp(() => s.run`delete node node-${s.id} --ignore-not-found`);
    await s.with(node).ok`create -f -`;
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }];
    await s.with(pod('p', {}, { nodeName: `node-${s.id}`, volumes })).ok`create -f -`;
    await s.ok`delete pvc c --wait=false`;
    await s.ok`wait pvc c --for=jsonpath=${'{.metadata.deletionTimestamp}'}`;
    expect(await s.ok`describe pvc c`).toMatch(/^Status: +Terminating/m);
    await s.ok`delete pod p --force --grace-period=0`;
    await isGone(s, 'pvc/c');
  });

  expectation('a claim nobody uses goes at once', async (s) => {
    await s.with(claim('c')).ok`create -f -`;
    expect(await s.ok`delete pvc c`).toBe('persistentvolumeclaim "c" deleted\n');
    await isGone(s, 'pvc/c');
  });

  expectation('a volume carries its mark and goes when nothing is bound to it', async (s) => {
    const name = `volume-${s.id}`;
    const volume = {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/none' } },
    };
    s.cleanUp(() => s.run`delete pv ${name} --ignore-not-found --wait=false`);
    await s.with(volume).ok`create -f -`;
    expect((await s.json`pv ${name}`).metadata.finalizers).toEqual(['kubernetes.io/pv-protection']);
    await s.ok`delete pv ${name}`;
    await isGone(s, `pv/${name}`);
  });

  expectation('every use of Endpoints warns that their time is over', async (s) => {
    const warning = 'Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n';
    expect((await s.run`get endpoints`).stderr).toContain(warning);
    const endpoints = { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'e' } };
    expect((await s.with(endpoints).run`create -f -`).stderr).toContain(warning);
    expect((await s.run`delete endpoints e`).stderr).toContain(warning);
  });
}
