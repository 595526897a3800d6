import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlApply, kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { startSimulatedNode } from '../../support/node-process.ts';
import type { RunningProcess } from '../../support/process.ts';
import { type Target, targets } from '../../support/targets.ts';

const missing = await missingKubectl();
const name = 'simulated-for-test';
const patienceMs = 60_000;

const manifest = `
apiVersion: v1
kind: Secret
metadata: {name: node-test-word}
stringData: {word: first}
---
apiVersion: v1
kind: Pod
metadata: {name: node-test, labels: {app: node-test}}
spec:
  nodeName: ${name}
  volumes: [{name: word, secret: {secretName: node-test-word}}]
  containers:
  - name: main
    image: registry.example.test/app:1
    ports: [{containerPort: 8080}]
    volumeMounts: [{name: word, mountPath: /word}]
---
apiVersion: v1
kind: Service
metadata: {name: node-test}
spec: {type: LoadBalancer, selector: {app: node-test}, ports: [{port: 8080}]}
`;

// A node with an external API: the embedded one without its own Pods, and a real one if CAPSTAN_REAL_KUBECONFIG is set.
// The tests bind Pods to the node themselves, so no scheduler is needed.
describe.skipIf(missing !== undefined).each(targets())(
  `capstan node --simulated on $name${missing ? ` (${missing})` : ''}`,
  ({ start }) => {
    let target: Target;
    let directory: string;
    let data: string;
    let node: RunningProcess;
    let kubectl: (...args: string[]) => Promise<string>;

    beforeAll(async () => {
      target = await start();
      directory = await mkdtemp(join(tmpdir(), 'capstan-node-'));
      data = join(directory, 'node');
      kubectl = kubectlOn(target.kubeconfig, directory);
      node = await startSimulatedNode({ kubeconfig: target.kubeconfig, directory: data, name });
    });
    afterAll(async () => {
      await kubectl?.('delete', 'pod,svc,secret', 'node-test', 'node-test-word', '--ignore-not-found', '--force').catch(
        () => '',
      );
      await node?.stop();
      await target?.stop();
      await rm(directory, { recursive: true, force: true });
    });
    const ready = (object: string): Promise<string> =>
      kubectl('get', object, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}');
    const again = (): Promise<RunningProcess> =>
      startSimulatedNode({ kubeconfig: target.kubeconfig, directory: data, name });

    it('registers a node with its properties', async () => {
      await eventually(async () => expect(await ready(`node/${name}`)).toBe('True'), patienceMs);
      expect(await kubectl('get', 'nodes', '-l', 'capstan.dev/simulated=true', '-o', 'name')).toContain(`node/${name}`);
      const lease = ['-n', 'kube-node-lease', 'get', 'lease', name, '-o', 'jsonpath={.spec.leaseDurationSeconds}'];
      await eventually(async () => expect(await kubectl(...lease)).toBe('40'), patienceMs);
      expect(await kubectl('get', 'storageclass', 'capstan-simulated', '-o', 'jsonpath={.provisioner}')).toBe(
        'capstan.dev/directory',
      );
    });

    it('runs a Pod and gives its Service an address', async () => {
      await kubectlApply(target.kubeconfig, directory, manifest);
      await eventually(async () => expect(await ready('pod/node-test')).toBe('True'), patienceMs);
      await eventually(async () => {
        const path = 'jsonpath={.status.loadBalancer.ingress[0].ip}';
        expect(await kubectl('get', 'svc', 'node-test', '-o', path)).toMatch(/^127\./);
      }, patienceMs);
    });

    it('refuses to be the same node twice or a node that is real', async () => {
      const at = ['node', '--simulated', '--kubeconfig', target.kubeconfig];
      const same = await capstan([...at, '--name', name, '--data-dir', data]);
      expect(same.code).toBe(1);
      expect(same.stderr).toContain(`is in use by process ${node.pid}`);
      const elsewhere = await capstan([...at, '--name', name, '--data-dir', join(directory, 'other')]);
      expect(elsewhere.stderr).toMatch(/node simulated-for-test is run by another program/);
      const real = 'real-for-test';
      await kubectlApply(target.kubeconfig, directory, `apiVersion: v1\nkind: Node\nmetadata: {name: ${real}}\n`);
      try {
        const taken = await capstan([...at, '--name', real, '--data-dir', join(directory, 'other')]);
        expect(taken.stderr).toMatch(/there is a node real-for-test .* not a simulated one/);
      } finally {
        await kubectl('delete', 'node', real);
      }
    });

    it('continues with the same Pod after it was killed', async () => {
      const uid = await kubectl('get', 'pod', 'node-test', '-o', 'jsonpath={.metadata.uid} {.status.podIP}');
      const address = await kubectl('get', 'svc', 'node-test', '-o', 'jsonpath={.status.loadBalancer.ingress[0].ip}');
      await node.stop('SIGKILL');
      node = await again();
      await eventually(async () => {
        expect(await kubectl('get', 'pod', 'node-test', '-o', 'jsonpath={.status.containerStatuses[0].ready}')).toBe(
          'true',
        );
      }, patienceMs);
      expect(await kubectl('get', 'pod', 'node-test', '-o', 'jsonpath={.metadata.uid} {.status.podIP}')).toBe(uid);
      expect(await kubectl('get', 'svc', 'node-test', '-o', 'jsonpath={.status.loadBalancer.ingress[0].ip}')).toBe(
        address,
      );
    });

    it('is NotReady when stopped with Pods, and comes back', async () => {
      expect((await node.stop('SIGTERM')).code).toBe(0);
      expect(await ready(`node/${name}`)).toBe('False');
      node = await again();
      await eventually(async () => expect(await ready(`node/${name}`)).toBe('True'), patienceMs);
    });

    it('reports when there is no scheduler', async () => {
      const waiting = `apiVersion: v1
kind: Pod
metadata: {name: node-test-waiting}
spec: {schedulerName: nobody, containers: [{name: c, image: i}]}
`;
      await kubectlApply(target.kubeconfig, directory, waiting);
      try {
        await eventually(async () => {
          expect(node.stderr()).toMatch(/Pods wait for a scheduler/);
        }, patienceMs);
      } finally {
        await kubectl('delete', 'pod', 'node-test-waiting', '--force');
      }
    });

    it('deletes the node when stopped without Pods', async () => {
      await kubectl('delete', 'pod', 'node-test', '--timeout=60s');
      expect((await node.stop('SIGTERM')).code).toBe(0);
      expect(await kubectl('get', 'nodes', '-o', 'name')).not.toContain(name);
      expect(node.stderr()).not.toMatch(/forbidden/i);
    });
  },
);

describe('capstan node', () => {
  it('explains without --simulated what it cannot do', async () => {
    const outcome = await capstan(['node']);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/runs simulated nodes only: real machines cannot be joined/);
  });

  it('prints what --install installs', async () => {
    const { stdout, code } = await capstan(['node', '--simulated', '--install', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout.match(/^kind: .*/gm)).toEqual(
      [
        'Namespace',
        'ServiceAccount',
        'ClusterRole',
        'ClusterRoleBinding',
        'RoleBinding',
        'CSIDriver',
        'StorageClass',
      ].map((kind) => `kind: ${kind}`),
    );
    expect(stdout).not.toMatch(/secrets/);
  });
});
