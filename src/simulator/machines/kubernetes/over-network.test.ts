import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ClusterRoleBindings, DaemonSets, Nodes, Pods, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { systemClock, systemRandom } from '../../../machinery/index.ts';
import { overNetwork, uninitializedTaint } from '../../../simkube/index.ts';
import { type TestTenant, testTenant } from '../../testing/test-tenant.ts';
import {
  admin,
  authorityHash,
  configPath,
  endpointAddress,
  findNode,
  finished,
  initDocuments,
  initialized,
  joinDocument,
  nodeReady,
} from './testing/documents.ts';
import { createLab, type Lab, type LabMachine } from './testing/lab.ts';

const bindable = await new Promise<boolean>((resolve) => {
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen(0, endpointAddress, () => server.close(() => resolve(true)));
});
const instant = { 'node.etcd': 1, 'node.apiserver': 1, 'node.join': 1, 'node.pod': 1, 'node.podstop': 1 };
const writes = { fieldManager: 'test' };

/** Control plane and worker are in different simulated worlds, connected only by a socket. */
describe.skipIf(!bindable)(
  `a worker of a cluster elsewhere${bindable ? '' : ` (${endpointAddress} cannot be bound)`}`,
  () => {
    let there: Lab;
    let here: Lab;
    let listener: Server;
    let port: number;
    let first: LabMachine;
    let client: Client;

    const cloudConf = `[Global]
auth-url=http://cloud.test/identity/v3
username=p-user
password=secret
user-domain-id=default
tenant-name=p
tenant-domain-id=default
region=RegionOne
`;
    let tenant: TestTenant;

    beforeAll(async () => {
      tenant = await testTenant();
      await tenant.makeServer({ name: 'away-0' });
      await tenant.clock.advance(60_000);
      there = createLab({ clock: systemClock, timings: instant });
      here = createLab({
        clock: systemClock,
        timings: instant,
        outside: overNetwork({ clock: systemClock, random: systemRandom }),
        cloudTransport: () => tenant.cloud.transport,
      });
      listener = createServer((socket) => {
        socket.on('error', () => socket.destroy());
        try {
          there.dial(endpointAddress, port).accept(socket);
        } catch {
          socket.destroy();
        }
      });
      await new Promise<void>((resolve) => listener.listen(0, endpointAddress, resolve));
      port = (listener.address() as AddressInfo).port;
      first = await initialized(there, initDocuments({ port }));
      client = admin(there, first);
    });

    afterAll(async () => {
      await here.close();
      await there.close();
      listener.close();
      await tenant.cloud.close();
    });

    const worker = async (name: string, options: Parameters<typeof joinDocument>[1] = {}) => {
      const machine = here.machine(name);
      machine.disk.write(configPath, joinDocument(authorityHash(first), options).replace(':6443', `:${port}`));
      const code = await finished(here, machine.run('kubeadm', 'join', '--config', configPath));
      return { machine, code };
    };
    const external = `pool=a
  - name: cloud-provider
    value: external`;

    it('joins with its token, becomes Ready and runs its Pods', async () => {
      const { machine, code } = await worker('away-0', { labels: external });
      expect(code, machine.console()).toBe(0);
      await expect.poll(() => nodeReady(client, 'away-0')).toBe('True');
      const daemon = {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'openstack-cloud-controller-manager', namespace: 'kube-system' },
        spec: {
          selector: { matchLabels: { app: 'ccm' } },
          template: {
            metadata: { labels: { app: 'ccm' } },
            spec: {
              tolerations: [{ operator: 'Exists' }],
              containers: [
                {
                  name: 'ccm',
                  image: 'registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.33.1',
                  args: ['--cloud-config=/etc/config/cloud.conf', '--leader-elect=true'],
                  volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
                },
              ],
              volumes: [{ name: 'config', secret: { secretName: 'cloud-config' } }],
            },
          },
        },
      };
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'cloud-config', namespace: 'kube-system' },
        stringData: { 'cloud.conf': cloudConf },
      };
      await client.create(Secrets, secret, writes);
      await client.create(DaemonSets, daemon as never, writes);
      const phases = async (): Promise<string[]> => {
        const { items } = await client.list(Pods, { labelSelector: 'app=ccm', fieldSelector: 'spec.nodeName=away-0' });
        return items.map(({ status }) => status?.phase ?? '');
      };
      await expect.poll(phases).toEqual(['Running']);
    });

    it('runs its cloud controller manager where the Pod runs, once its account is allowed to', async () => {
      const taints = async (): Promise<string[]> => {
        const node = await findNode(client, 'away-0');
        return (node?.spec?.taints ?? []).map(({ key }) => key);
      };
      expect(await taints()).toContain(uninitializedTaint);
      const binding = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'ccm' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'kube-system' }],
      };
      await client.create(ClusterRoleBindings, binding as never, writes);
      await expect.poll(taints, { timeout: 45_000 }).not.toContain(uninitializedTaint);
      const node = await client.get(Nodes, { name: 'away-0' });
      expect(node.metadata.labels?.['topology.kubernetes.io/zone']).toBe('nova');
    });

    it('reports that it is alive after it was marked as lost', async () => {
      const dead = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: null };
      await client.patch(
        Nodes,
        { name: 'away-0' },
        'strategic',
        { status: { conditions: [dead] } },
        { ...writes, subresource: 'status' },
      );
      await expect.poll(() => nodeReady(client, 'away-0')).toBe('True');
    });

    it('does not become a control plane over the network and says why', async () => {
      const machine = here.machine('away-cp');
      const document = joinDocument(authorityHash(first), { controlPlane: true }).replace(':6443', `:${port}`);
      for (const path of first.disk.list('/etc/kubernetes/pki/')) machine.disk.write(path, first.disk.read(path)!);
      machine.disk.remove('/etc/kubernetes/pki/apiserver.crt');
      machine.disk.write(configPath, document);
      expect(await finished(here, machine.run('kubeadm', 'join', '--config', configPath))).toBe(1);
      expect(machine.console()).toContain(
        `the etcd of https://${endpointAddress}:${port} is not on machines of this cloud`,
      );
    });

    it('does not trust an API with another authority', async () => {
      const machine = here.machine('deceived');
      const hash = `sha256:${'0'.repeat(64)}`;
      const document = joinDocument(hash, { more: 'timeouts:\n  discovery: 1s\n' }).replace(':6443', `:${port}`);
      machine.disk.write(configPath, document);
      expect(await finished(here, machine.run('kubeadm', 'join', '--config', configPath))).not.toBe(0);
      expect(machine.console()).toMatch(/none of the public keys .* are pinned/);
    });
  },
);
