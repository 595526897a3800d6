import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { type AddressInfo, createServer, connect as dialTcp, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadKubeconfig, portForward } from '../../../client/index.ts';
import { systemClock } from '../../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../../pki/index.ts';
import { numberOf, readFields, textsOf, writeFields } from '../../../simkube/index.ts';
import {
  authorityHash,
  configPath,
  endpointAddress,
  finished,
  initDocuments,
  initialized,
  joinDocument,
  shareAuthorities,
} from './testing/documents.ts';
import { createLab, type Lab, type LabMachine } from './testing/lab.ts';

interface KeyPair {
  certificate: string;
  privateKey: string;
}

const kubectl = await new Promise<boolean>((resolve) => {
  execFile('kubectl', ['version', '--client'], (error) => resolve(error === null));
});
const bindable = await new Promise<boolean>((resolve) => {
  const server = createServer();
  server.once('error', () => resolve(false));
  server.listen(0, endpointAddress, () => server.close(() => resolve(true)));
});

describe.skipIf(!bindable)(
  `a workload API on ${endpointAddress}${bindable ? '' : ' (which cannot be bound here)'}`,
  () => {
    let lab: Lab;
    let listener: Server;
    let machine: LabMachine;
    let directory: string;
    let kubeconfig: string;
    const instant = { 'node.etcd': 1, 'node.apiserver': 1, 'node.join': 1, 'node.pod': 1, 'node.podstop': 1 };

    beforeAll(async () => {
      lab = createLab({ clock: systemClock, timings: instant });
      directory = mkdtempSync(join(tmpdir(), 'capstan-workload-'));
      kubeconfig = join(directory, 'kubeconfig');
      listener = createServer((socket) => {
        try {
          lab.dial(endpointAddress, port).accept(socket);
        } catch {
          socket.destroy();
        }
      });
      await new Promise<void>((resolve) => listener.listen(0, endpointAddress, resolve));
      const { port } = listener.address() as AddressInfo;
      machine = await initialized(lab, initDocuments({ port }));
      writeFileSync(kubeconfig, machine.disk.read('/etc/kubernetes/admin.conf')!);
      const worker = lab.machine('worker-0');
      worker.disk.write(configPath, joinDocument(authorityHash(machine)).replace(':6443', `:${port}`));
      expect(await finished(lab, worker.run('kubeadm', 'join', '--config', configPath)), worker.console()).toBe(0);
    }, 30_000);

    afterAll(async () => {
      await lab.close();
      listener.close();
      rmSync(directory, { recursive: true, force: true });
    });

    const run = (...args: string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        execFile(
          'kubectl',
          ['--kubeconfig', kubeconfig, '--cache-dir', join(directory, 'cache'), ...args],
          (error, stdout, stderr) => (error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout)),
        );
      });

    it.skipIf(!kubectl)(
      'can be used by kubectl like any other cluster',
      async () => {
        await run('wait', 'node', '--all', '--for=condition=Ready', '--timeout=20s');
        expect(await run('get', 'nodes')).toMatch(/cp-0\s+Ready\s+control-plane\s+\S+\s+v1.33.1/);
        await run('create', 'deployment', 'web', '--image=nginx', '--replicas=3');
        await run('rollout', 'status', 'deployment/web', '--timeout=20s');
        expect(await run('get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}')).toBe('worker-0 worker-0 worker-0');
        expect(await run('logs', 'deployment/web')).toContain('simulated container');
        expect(await run('version')).toContain('Server Version: v1.33.1');
      },
      60_000,
    );

    it.skipIf(!kubectl)(
      'runs the commands of containers and lets kubectl exec into them',
      async () => {
        const script = 'echo "$GREETING from $(hostname)"; cat /etc/settings/color; echo; exec sleep 3600';
        const settings = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'settings' },
          data: { color: 'blue' },
        };
        const pod = {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'shell' },
          spec: {
            containers: [
              {
                name: 'main',
                image: 'busybox:1.36',
                command: ['sh', '-c', script],
                env: [{ name: 'GREETING', value: 'hello' }],
                volumeMounts: [{ name: 'settings', mountPath: '/etc/settings' }],
              },
              { name: 'web', image: 'nginx:1', ports: [{ containerPort: 80 }] },
            ],
            volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
          },
        };
        const file = join(directory, 'pod.json');
        writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [settings, pod] }));
        await run('apply', '-f', file);
        await run('wait', 'pod/shell', '--for=condition=Ready', '--timeout=20s');
        expect(await run('logs', 'shell', '-c', 'main')).toBe('hello from shell\nblue\n');
        expect(
          await run('exec', 'shell', '-c', 'main', '--', 'sh', '-c', 'cat /etc/settings/color | tr a-z A-Z'),
        ).toContain('BLUE');
        const config = await loadKubeconfig({ path: kubeconfig, env: {} });
        const stream = await portForward(config, { namespace: 'default', name: 'shell' }, 80);
        stream.write('GET / HTTP/1.1\r\nHost: shell\r\nConnection: close\r\n\r\n');
        let answer = '';
        stream.on('data', (text: Buffer) => {
          answer += text.toString();
        });
        await vi.waitFor(() => expect(answer).toContain('shell: simulated container of image nginx:1'), 10_000);
        stream.destroy();
        expect(await run('describe', 'pod', 'shell')).toMatch(
          /Scheduled[\s\S]*assigned default\/shell to worker-0[\s\S]*Started/,
        );
        await run('delete', 'pod', 'shell', '--timeout=20s');
      },
      60_000,
    );

    it.skipIf(!kubectl)(
      'routes Pods to the Services of the cluster by name and by address',
      async () => {
        await run('create', 'deployment', 'shop', '--image=nginx', '--port=8080', '--replicas=2');
        await run('expose', 'deployment', 'shop', '--port=80', '--target-port=8080');
        await run('create', 'service', 'clusterip', 'nobody', '--tcp=80:80');
        await run('rollout', 'status', 'deployment/shop', '--timeout=20s');
        await run('-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=20s');
        const names = async (): Promise<string[]> =>
          (await run('get', 'pods', '-l', 'app=shop', '-o', 'name')).trim().replaceAll('pod/', '').split('\n');
        const get = (url: string): Promise<string> =>
          run('exec', 'deployment/shop', '--', 'sh', '-c', `wget -qO- -T 5 ${url} 2>&1 || true`);
        const pods = await names();
        const answers = pods.map((pod) => expect.stringContaining(`${pod}: simulated container`));
        await vi.waitFor(
          async () => expect([await get('http://shop'), await get('http://shop')].sort()).toEqual(answers.toSorted()),
          20_000,
        );
        const address = await run('get', 'service', 'shop', '-o', 'jsonpath={.spec.clusterIP}');
        for (const host of ['shop.default', 'shop.default.svc.cluster.local', address]) {
          expect(await get(`http://${host}`)).toContain('simulated container of image nginx');
        }
        expect(await get('http://nobody')).toContain('connection refused');
        expect(await get(`http://${address}:81`)).toContain('connection refused');
        expect(await get('http://stranger')).not.toContain('simulated container');
        // Checks the same through the API.
        expect(await run('get', 'endpoints', 'shop')).toMatch(/:8080,/);
      },
      60_000,
    );

    it('reaches etcd through pods/portforward with a certificate of its authority', async () => {
      const { authority, pair } = await etcdIdentity();
      const members = await callEtcd('/etcdserverpb.Cluster/MemberList', { 1: true }, authority.certificate, pair);
      const [member] = members.get(2) ?? [];
      expect(textsOf(readFields(member as Buffer), 2)).toEqual(['cp-0']);
      const status = await callEtcd('/etcdserverpb.Maintenance/Status', {}, authority.certificate, pair);
      expect(numberOf(status, 4)).toBe(numberOf(readFields(member as Buffer), 1));
      const range = await callEtcd('/etcdserverpb.KV/Range', { 1: 'health' }, authority.certificate, pair);
      expect(numberOf(range, 4)).toBe(0n);
      const refused = callEtcd('/etcdserverpb.Cluster/MemberRemove', { 1: 7 }, authority.certificate, pair);
      await expect(refused).rejects.toThrow('etcdserver: member not found');
      const stranger = await createAuthority({ commonName: 'other', clock: systemClock });
      const other = await issueCertificate({
        authority: stranger,
        commonName: 'x',
        usages: ['client'],
        clock: systemClock,
      });
      await expect(callEtcd('/etcdserverpb.KV/Range', {}, authority.certificate, other)).rejects.toThrow();
    });

    async function etcdIdentity(): Promise<{ authority: KeyPair; pair: KeyPair }> {
      const authority = {
        certificate: machine.disk.read('/etc/kubernetes/pki/etcd/ca.crt')!,
        privateKey: machine.disk.read('/etc/kubernetes/pki/etcd/ca.key')!,
      };
      const pair = await issueCertificate({ authority, commonName: 'test', usages: ['client'], clock: systemClock });
      return { authority, pair };
    }

    /** Sends one gRPC call to the etcd member on cp-0, through the API server. */
    async function callEtcd(
      path: string,
      fields: Parameters<typeof writeFields>[0],
      authority: string,
      pair: KeyPair,
      open: () => Promise<Duplex> = async () =>
        await portForward(
          await loadKubeconfig({ path: kubeconfig, env: {} }),
          { namespace: 'kube-system', name: 'etcd-cp-0' },
          2379,
        ),
    ): Promise<ReturnType<typeof readFields>> {
      const stream = await open();
      const session = connect('https://localhost', {
        createConnection: () =>
          tlsConnect({
            socket: stream,
            servername: 'localhost',
            ca: authority,
            cert: pair.certificate,
            key: pair.privateKey,
            ALPNProtocols: ['h2'],
          }),
      });
      try {
        return await new Promise((resolve, reject) => {
          session.on('error', reject);
          session.on('close', () => reject(new Error('the connection was closed')));
          const request = session.request({
            ':method': 'POST',
            ':path': path,
            'content-type': 'application/grpc',
            te: 'trailers',
          });
          const chunks: Buffer[] = [];
          const finish = (headers: { [name: string]: unknown }): void => {
            if (headers['grpc-status'] === undefined) return;
            if (headers['grpc-status'] === '0') resolve(readFields(Buffer.concat(chunks).subarray(5)));
            else reject(new Error(decodeURIComponent(String(headers['grpc-message']))));
          };
          request.on('response', finish);
          request.on('trailers', finish);
          request.on('data', (chunk: Buffer) => chunks.push(chunk));
          request.on('error', reject);
          const message = writeFields(fields);
          const frame = Buffer.alloc(5 + message.length);
          frame.writeUInt32BE(message.length, 1);
          message.copy(frame, 5);
          request.end(frame);
        });
      } finally {
        session.destroy();
        stream.destroy();
      }
    }

    it.skipIf(!kubectl).each([
      ['WebSocket', 'true'],
      ['SPDY', 'false'],
    ])(
      'forwards ports for kubectl over %s',
      async (_way, webSockets) => {
        const { authority, pair } = await etcdIdentity();
        const forwarder = spawn(
          'kubectl',
          ['--kubeconfig', kubeconfig, '--namespace', 'kube-system', 'port-forward', 'etcd-cp-0', ':2379', ':1'],
          { env: { ...process.env, HOME: directory, KUBECTL_PORT_FORWARD_WEBSOCKETS: webSockets } },
        );
        try {
          let said = '';
          const listen = (chunk: Buffer): void => {
            said += chunk.toString();
          };
          forwarder.stdout.on('data', listen);
          forwarder.stderr.on('data', listen);
          const portTo = (target: number): number =>
            Number(new RegExp(`127.0.0.1:(\\d+) -> ${target}\\n`).exec(said)?.[1]);
          await vi.waitFor(() => expect(portTo(1), said).toBeGreaterThan(0), 15_000);
          const dial = async (port: number): Promise<Duplex> => dialTcp(port, '127.0.0.1');
          // Sequential and concurrent connections share one connection to the API server.
          for (let round = 0; round < 3; round++) {
            const calls = Array.from({ length: 4 }, () =>
              callEtcd('/etcdserverpb.Cluster/MemberList', { 1: true }, authority.certificate, pair, () =>
                dial(portTo(2379)),
              ),
            );
            for (const members of await Promise.all(calls)) expect(members.get(2)).toHaveLength(1);
          }
          (await dial(portTo(1))).on('error', () => {});
          await vi.waitFor(
            () => expect(said).toMatch(/an error occurred forwarding \d+ -> 1: .*connection refused/),
            5_000,
          );
        } finally {
          forwarder.kill();
        }
      },
      30_000,
    );

    it.each<[string, Record<string, string>, string]>([
      ['no upgrade', {}, 'Upgrade request required'],
      ['an upgrade to something else', { upgrade: 'h2c' }, 'this server speaks SPDY/3.1, and WebSocket'],
      [
        'SPDY with an unknown protocol',
        { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v5.example.com' },
        'unable to negotiate protocol: client supports [v5.example.com], server accepts [portforward.k8s.io]',
      ],
      [
        'channels without ports',
        { upgrade: 'websocket', 'sec-websocket-protocol': 'v4.channel.k8s.io' },
        'query parameter "ports" is required',
      ],
    ])('refuses to forward with %s', async (_what, headers, words) => {
      const config = await loadKubeconfig({ path: kubeconfig, env: {} });
      const { clientCertificate } = await config.credentials.get();
      const answer = await new Promise<{ code: number; message: string }>((resolve, reject) => {
        const request = httpsRequest(
          new URL('/api/v1/namespaces/kube-system/pods/etcd-cp-0/portforward', config.server),
          {
            method: 'GET',
            ca: config.certificateAuthority,
            cert: clientCertificate!.certificate,
            key: clientCertificate!.key,
            headers: { ...headers, ...(headers['upgrade'] && { connection: 'Upgrade' }) },
          },
          async (response) => {
            const body = JSON.parse((await response.toArray()).join('')) as { message: string };
            resolve({ code: response.statusCode ?? 0, message: body.message });
          },
        );
        request.on('error', reject);
        request.end();
      });
      expect(answer).toEqual({ code: 400, message: expect.stringContaining(words) as string });
    });

    it('answers the call that removes the member of the machine it passes through', async () => {
      const { port } = listener.address() as AddressInfo;
      const second = lab.machine('cp-1');
      shareAuthorities(machine, second);
      second.disk.write(
        configPath,
        joinDocument(authorityHash(machine), { controlPlane: true })
          .replace(':6443', `:${port}`)
          .replace('localAPIEndpoint: {}', `localAPIEndpoint: {bindPort: ${port}}`),
      );
      expect(await finished(lab, second.run('kubeadm', 'join', '--config', configPath)), second.console()).toBe(0);
      lab.endpoint(endpointAddress, second, machine);
      const { authority, pair } = await etcdIdentity();
      const list = async (): Promise<ReturnType<typeof readFields>[]> => {
        const answer = await callEtcd('/etcdserverpb.Cluster/MemberList', { 1: true }, authority.certificate, pair);
        return (answer.get(2) ?? []).map((member) => readFields(member as Buffer));
      };
      const joined = (await list()).find((member) => textsOf(member, 2)[0] === 'cp-1')!;
      await callEtcd('/etcdserverpb.Cluster/MemberRemove', { 1: numberOf(joined, 1) }, authority.certificate, pair);
      expect((await list()).flatMap((member) => textsOf(member, 2))).toEqual(['cp-0']);
      expect(second.console()).toContain('has been permanently removed from the cluster');
    }, 30_000);

    it('refuses ports nobody listens on, in the words of a kubelet', async () => {
      const config = await loadKubeconfig({ path: kubeconfig, env: {} });
      const stream = await portForward(config, { namespace: 'kube-system', name: 'etcd-cp-0' }, 1);
      const problem = await new Promise((resolve) => stream.on('error', resolve));
      expect(String(problem)).toContain('connection refused');
    });
  },
);
