import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, connect as tcpConnect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../../pki/index.ts';
import { etcdConnector } from '../machine-plane/etcd/connector.ts';
import { isBoltFile, keysOfSnapshot } from '../plane-driver/backup/bolt.ts';
import { managementWith } from './testing/management.ts';
import type { EtcdAdministrator, EtcdTarget } from './types.ts';

const binary = process.env['CAPSTAN_REAL_ETCD'] ?? 'etcd';
const found = spawnSync(binary, ['--version'], { encoding: 'utf8' });
const missing = found.status !== 0;

const cluster = { namespace: 'ns', name: 'c1' };
const names = ['a', 'b', 'c'] as const;
const signal = AbortSignal.timeout(60_000);

describe.skipIf(missing)(
  `a real etcd (${missing ? 'no etcd: set CAPSTAN_REAL_ETCD' : found.stdout.split('\n')[0]})`,
  () => {
    let directory = '';
    const processes: ChildProcess[] = [];
    const ports = new Map<string, number>();
    let open: (target: EtcdTarget, signal: AbortSignal) => Promise<EtcdAdministrator>;
    const clients: EtcdAdministrator[] = [];
    const client = async (node: string): Promise<EtcdAdministrator> => {
      const opened = await open({ cluster, node }, signal);
      clients.push(opened);
      return opened;
    };

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-etcd-'));
      const authority = await createAuthority({ commonName: 'etcd-ca', clock: systemClock });
      const server = await issueCertificate({
        authority,
        commonName: 'etcd',
        hosts: ['localhost', '127.0.0.1'],
        usages: ['server', 'client'],
        clock: systemClock,
      });
      await writeFile(join(directory, 'ca.crt'), authority.certificate);
      await writeFile(join(directory, 'tls.crt'), server.certificate);
      await writeFile(join(directory, 'tls.key'), server.privateKey);
      const peers = new Map<string, number>();
      for (const name of names) {
        ports.set(name, await freePort());
        peers.set(name, await freePort());
      }
      const initial = names.map((name) => `${name}=http://127.0.0.1:${peers.get(name)}`).join(',');
      for (const name of names) {
        const own = `https://127.0.0.1:${ports.get(name)}`;
        const peer = `http://127.0.0.1:${peers.get(name)}`;
        const options = {
          name,
          'data-dir': join(directory, name),
          'listen-client-urls': own,
          'advertise-client-urls': own,
          'listen-peer-urls': peer,
          'initial-advertise-peer-urls': peer,
          'initial-cluster': initial,
          'client-cert-auth': 'true',
          'trusted-ca-file': join(directory, 'ca.crt'),
          'cert-file': join(directory, 'tls.crt'),
          'key-file': join(directory, 'tls.key'),
          'unsafe-no-fsync': 'true',
          'strict-reconfig-check': 'false',
        };
        const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
        processes.push(spawn(binary, args, { stdio: 'ignore' }));
      }
      const management = await managementWith(authority, { namespace: 'ns', name: 'c1-etcd' });
      open = etcdConnector({
        client: management,
        clock: systemClock,
        workloads: {
          portForward: async (_, pod) => {
            const socket = tcpConnect(ports.get(pod.name.slice('etcd-'.length)) ?? 0, '127.0.0.1');
            await once(socket, 'connect');
            return socket;
          },
        },
      });
      await eventually(async () => {
        for (const name of names) {
          const member = await client(name);
          if ((await member.status(signal)).leaderId === '0') throw new Error('no leader yet');
        }
      });
    }, 60_000);

    afterAll(async () => {
      for (const opened of clients) opened.close();
      await Promise.all(
        processes.map(async (child) => {
          if (child.exitCode !== null) return;
          child.kill('SIGKILL');
          await once(child, 'exit');
        }),
      );
      if (directory !== '') await rm(directory, { recursive: true, force: true });
    });

    it('an etcd cluster lists its members and has one leader', async () => {
      const any = await client('a');
      const members = await any.members(signal);
      expect(members.map(({ name }) => name).sort()).toEqual([...names]);
      for (const member of members) {
        expect(member).toMatchObject({ isLearner: false, id: expect.stringMatching(/^[0-9a-f]{1,16}$/) });
        expect(member.clientUrls).toEqual([`https://127.0.0.1:${ports.get(member.name)}`]);
      }
      const statuses = await Promise.all(names.map(async (name) => (await client(name)).status(signal)));
      expect(new Set(statuses.map(({ leaderId }) => leaderId)).size).toBe(1);
      expect(statuses.map(({ memberId }) => memberId).sort()).toEqual(members.map(({ id }) => id).sort());
      for (const status of statuses) {
        expect(status.version).toMatch(/^3\.\d+\.\d+/);
        expect(status.raftTerm).toBeGreaterThan(0);
        expect(status.dbSizeBytes).toBeGreaterThan(0);
        expect(status.errors).toEqual([]);
      }
      expect(await any.alarms(signal)).toEqual([]);
    });

    it('an etcd cluster refuses a client of an unknown authority', async () => {
      const stranger = await createAuthority({ commonName: 'etcd-ca', clock: systemClock });
      const unknownMembers = etcdConnector({
        client: await managementWith(stranger, { namespace: 'ns', name: 'c1-etcd' }),
        clock: systemClock,
        workloads: {
          portForward: async () => {
            const socket = tcpConnect(ports.get('a') ?? 0, '127.0.0.1');
            await once(socket, 'connect');
            return socket;
          },
        },
      });
      await expect(unknownMembers({ cluster, node: 'a' }, signal)).rejects.toThrow(/no secure connection/);
    });

    it('an etcd cluster stores keys and returns them in a snapshot', async () => {
      const any = await client('a');
      const put = (key: string, value: string) =>
        any.keys.put({ key: Buffer.from(key), value: Buffer.from(value) }, signal);
      const content = async (): Promise<Map<string, string>> => {
        const parts: Buffer[] = [];
        await any.snapshot((part) => {
          parts.push(Buffer.from(part));
        }, signal);
        const file = Buffer.concat(parts);
        expect(isBoltFile(file)).toBe(true);
        return new Map((await keysOfSnapshot(file)).map(({ key, value }) => [key.toString(), value.toString()]));
      };
      const wanted = new Map<string, string>();
      // enough for several pages and a tree of several levels
      for (let index = 0; index < 3_000; index++) wanted.set(`/registry/things/${index}`, `value ${index} `.repeat(8));
      await Promise.all([...wanted].map(([key, value]) => put(key, value)));
      await put('/registry/things/7', 'changed');
      wanted.set('/registry/things/7', 'changed');
      const seen = await content();
      expect(seen.size).toBe(wanted.size);
      expect(seen).toEqual(wanted);
      expect(await any.keys.deleteAll(signal)).toBe(3_000);
      expect((await content()).size).toBe(0);
      await put('/registry/last', 'x');
      expect(await content()).toEqual(new Map([['/registry/last', 'x']]));
      await any.defragment(signal);
    });

    it('an etcd cluster adds a learner and removes it', async () => {
      const any = await client('a');
      const id = await any.addLearner(['http://127.0.0.1:1'], signal);
      const learner = (await any.members(signal)).find((member) => member.id === id);
      expect(learner).toMatchObject({ name: '', isLearner: true, peerUrls: ['http://127.0.0.1:1'] });
      await expect(any.promoteMember(id, signal)).rejects.toThrow(/can only promote a learner member which is in sync/);
      expect((await any.removeMember(id, signal)).map((member) => member.id)).not.toContain(id);
    });

    it('an etcd tenant can be created and dropped repeatedly', async () => {
      const any = await client('a');
      const tenant = { user: 'tenant', role: 'tenant', prefix: '/tenant/' };
      await any.tenants.ensure(tenant, signal);
      await any.tenants.ensure(tenant, signal);
      await any.keys.put({ key: Buffer.from('/tenant/a'), value: Buffer.from('1') }, signal);
      await any.tenants.drop(tenant, { keys: true }, signal);
      await any.tenants.drop(tenant, { keys: true }, signal);
      expect(await any.keys.deleteAll(signal)).toBe(1);
    });

    it('an etcd leader moves its leadership, and a member can be removed', async () => {
      const any = await client('a');
      const members = await any.members(signal);
      const idOf = (name: string): string => members.find((member) => member.name === name)?.id ?? '';
      const { leaderId } = await any.status(signal);
      const leaderName = members.find(({ id }) => id === leaderId)?.name ?? '';
      const target = names.find((name) => name !== leaderName) ?? '';
      const third = names.find((name) => name !== leaderName && name !== target) ?? '';
      await expect((await client(third)).moveLeader(idOf(target), signal)).rejects.toMatchObject({
        message: expect.stringContaining('not leader'),
      });
      await (await client(leaderName)).moveLeader(idOf(target), signal);
      await eventually(async () => {
        expect((await (await client(target)).status(signal)).leaderId).toBe(idOf(target));
      });
      const left = await (await client(target)).removeMember(idOf(leaderName), signal);
      expect(left.map(({ name }) => name).sort()).toEqual([target, third].sort());
      await expect((await client(target)).removeMember('1234', signal)).rejects.toMatchObject({
        status: 5,
        message: expect.stringContaining('member not found'),
      });
    });
  },
);

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function eventually(check: () => Promise<void>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await check();
    } catch (error) {
      if (attempt > 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
