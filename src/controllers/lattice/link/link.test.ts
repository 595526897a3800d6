import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secrets } from '../../../api/index.ts';
import { systemClock } from '../../../machinery/index.ts';
import { createAuthority, createCsr, issueCertificate } from '../../../pki/index.ts';
import { clockOff, createLinkWorld, type LinkWorld } from '../testing/link-world.ts';
import { agentCredentialsKey, agentOrganization, agentProtocol, enrolmentKey, linkTimes } from './names.ts';
import type { Session } from './session.ts';

const signal = new AbortController().signal;
const hour = 3_600_000;

describe('the link endpoints of a parent', () => {
  let world: LinkWorld;
  beforeEach(async () => {
    world = await createLinkWorld();
  });
  afterEach(() => world.stop());

  interface Asked {
    readonly path: string;
    readonly method?: string;
    readonly token?: string;
    readonly body?: string;
  }
  const ask = ({ path, method = 'GET', token, body }: Asked): Promise<{ code: number; text: string }> =>
    new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port: world.bootstrap.port,
          path,
          method,
          ca: world.authority,
          headers: { connection: 'close', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          response.on('end', () => resolve({ code: response.statusCode ?? 0, text }));
        },
      );
      asked.on('error', reject);
      asked.end(body);
    });
  const manifests = (cluster: string, token?: string) =>
    ask({ path: `/api/clusters/${cluster}/manifests`, ...(token !== undefined && { token }) });
  const certificateFor = async (
    cluster: string,
    token: string,
    { name = cluster, hosts = [] as string[], privateKey = undefined as string | undefined } = {},
  ) => {
    const { csr } = await createCsr({
      commonName: name,
      organizations: [agentOrganization],
      hosts,
      ...(privateKey !== undefined && { privateKey }),
    });
    return await ask({ path: `/api/clusters/${cluster}/csr`, method: 'POST', token, body: csr });
  };
  const connected = async (cluster: string): Promise<Session> =>
    await expect
      .poll(() => (world.agents.session(cluster)?.isOpen ? world.agents.session(cluster) : undefined))
      .toBeDefined()
      .then(() => world.agents.session(cluster) as Session);
  const through = async (session: Session, text: string): Promise<string> => {
    const way = await session.dial();
    const answer = new Promise<string>((resolve, reject) => {
      way.once('data', (data: Buffer) => resolve(data.toString('utf8'))).once('error', reject);
    });
    way.write(text);
    const said = await answer;
    way.destroy();
    return said;
  };

  describe('the enrolment token', () => {
    it('is valid only for its own cluster', async () => {
      const { token } = await world.invite('one');
      await world.invite('two');
      expect(await manifests('one', token)).toMatchObject({ code: 200, text: expect.stringContaining('name: one') });
      for (const answer of [
        await manifests('two', token),
        await manifests('none', token),
        await manifests('one'),
        await manifests('one', `${token}x`),
        await certificateFor('two', token),
      ]) {
        expect(answer.code).toBe(401);
        expect(answer.text).not.toContain(token);
      }
    });

    it('is stored only as a hash', async () => {
      const { token } = await world.invite('one');
      const secret = await world.parent.get(Secrets, enrolmentKey('one'));
      const kept = Object.values(secret.data ?? {}).map((value) => Buffer.from(value, 'base64').toString());
      expect(Buffer.from(token, 'base64url')).toHaveLength(32);
      expect(kept.join(' ')).not.toContain(token);
    });

    it('is refused with 409 when used again, but a lost response is repeated', async () => {
      const { token } = await world.invite('one');
      const { privateKey } = await createCsr({ commonName: 'x' });
      expect((await certificateFor('one', token, { privateKey })).code).toBe(200);
      expect((await certificateFor('one', token, { privateKey })).code).toBe(200);
      const again = await certificateFor('one', token);
      expect(again).toMatchObject({ code: 409, text: expect.stringContaining('was used already') });
    });

    it('gives one certificate when it is used several times at once', async () => {
      const { token } = await world.invite('one');
      const answers = await Promise.all([1, 2, 3, 4].map(() => certificateFor('one', token)));
      expect(answers.map(({ code }) => code).sort()).toEqual([200, 409, 409, 409]);
    });

    it('is refused with a message when it has expired', async () => {
      const { token } = await world.invite('one', clockOff(-linkTimes.tokenMs - 1_000));
      for (const answer of [await manifests('one', token), await certificateFor('one', token)]) {
        expect(answer).toMatchObject({ code: 401, text: expect.stringContaining('has expired') });
      }
    });

    it('gives a certificate only for the name of the cluster', async () => {
      const { token } = await world.invite('one');
      expect((await certificateFor('one', token, { name: 'two' })).code).toBe(403);
      expect((await certificateFor('one', token, { hosts: ['lattice-cell'] })).code).toBe(403);
      const body = 'x'.repeat(100_000);
      expect((await ask({ path: '/api/clusters/one/csr', method: 'POST', token, body })).code).toBe(413);
      expect((await ask({ path: '/api/clusters/one/csr', method: 'POST', token, body: 'x' })).code).toBe(400);
      expect((await certificateFor('one', token)).code).toBe(200);
    });

    it('gives access to no other paths', async () => {
      expect((await ask({ path: '/' })).code).toBe(404);
      expect((await ask({ path: '/api/clusters/../manifests' })).code).toBe(404);
      expect((await ask({ path: '/api/clusters/one/manifests', method: 'DELETE' })).code).toBe(405);
    });
  });

  describe('the connection of a cluster', () => {
    it('carries requests to the API of the cluster', async () => {
      const { agent } = world.agent();
      expect(await agent.keep(await world.invite('one'), signal)).toBeUndefined();
      const session = await connected('one');
      expect(await Promise.all(['a', 'bc', 'def'].map((text) => through(session, text)))).toEqual(['a', 'bc', 'def']);
      expect(agent.verdict).toMatchObject({ status: 'True', reason: 'Connected' });
    });

    it('is opened again with the same certificate when it is lost', async () => {
      const { agent, child } = world.agent();
      const config = await world.invite('one');
      await agent.keep(config, signal);
      (await connected('one')).close();
      await expect.poll(() => agent.verdict?.reason).toBe('Disconnected');
      const rest = await agent.keep(config, signal);
      expect(rest?.againMs).toBeLessThan(3_000);
      const other = world.agent({ child });
      await other.agent.keep(config, signal);
      await connected('one');
    });

    it('is refused for an older certificate when a newer one was issued', async () => {
      const first = world.agent();
      const config = await world.invite('one');
      await first.agent.keep(config, signal);
      await connected('one');
      const second = world.agent();
      await second.agent.keep(await world.invite('one'), signal);
      await expect.poll(() => second.agent.verdict?.status).toBe('True');
      first.agent.stop();
      const late = world.agent({ child: first.child });
      await late.agent.keep(config, signal);
      await expect.poll(() => late.agent.verdict?.reason).toBe('Refused');
      expect(late.agent.verdict?.message).toContain('another certificate has taken the place of this one');
      expect(world.agents.session('one')?.isOpen).toBe(true);
    });

    it('is opened with a new certificate after a new token', async () => {
      const { agent, child } = world.agent();
      await agent.keep(await world.invite('one'), signal);
      await connected('one');
      const before = (await child.get(Secrets, agentCredentialsKey)).data?.['tls.crt'];
      await agent.keep(await world.invite('one'), signal);
      await expect.poll(() => agent.verdict?.status).toBe('True');
      expect((await child.get(Secrets, agentCredentialsKey)).data?.['tls.crt']).not.toBe(before);
    });

    it('is refused for a cluster that this parent does not have', async () => {
      const { agent } = world.agent();
      const config = await world.invite('one');
      await agent.keep(config, signal);
      await connected('one');
      await world.parent.delete(Secrets, enrolmentKey('one'));
      world.agents.session('one')?.close();
      const late = world.agent({ child: world.agent().child });
      expect(await late.agent.keep(config, signal)).toMatchObject({ againMs: 60_000 });
      expect(late.agent.verdict).toMatchObject({ reason: 'Refused', message: expect.stringContaining('code 4') });
    });

    it('is refused for a cluster of another parent, and the message names that parent', async () => {
      const { agent } = world.agent({ ownParent: 'uid-of-another' });
      await agent.keep(await world.invite('one'), signal);
      await expect.poll(() => agent.verdict?.reason).toBe('Refused');
      expect(agent.verdict?.message).toContain(
        'belongs to another parent, whose kube-system has the uid uid-of-another',
      );
      expect(world.agents.session('one')?.isOpen ?? false).toBe(false);
    });

    it('is refused with a certificate of another authority or of the endpoints themselves', async () => {
      const foreign = await createAuthority({ commonName: 'foreign', clock: systemClock });
      const shown = await issueCertificate({
        authority: foreign,
        commonName: 'one',
        organizations: [agentOrganization],
        usages: ['client'],
        clock: systemClock,
      });
      await world.invite('one');
      const closed = new Promise<string>((resolve) => {
        const socket = connectTls({
          host: '127.0.0.1',
          port: world.agents.port,
          ca: world.authority,
          cert: shown.certificate,
          key: shown.privateKey,
          ALPNProtocols: [agentProtocol],
        });
        socket.on('data', () => resolve('was answered'));
        socket.once('error', (error) => resolve(error.message)).once('close', () => resolve('closed'));
      });
      expect(await closed).not.toBe('was answered');
      expect(world.agents.session('one')).toBeUndefined();
    });

    it('is closed when the cluster sends unexpected frames', async () => {
      const { child, agent } = world.agent();
      const config = await world.invite('one');
      await agent.keep(config, signal);
      await connected('one');
      agent.stop();
      const { data = {} } = await child.get(Secrets, agentCredentialsKey);
      const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString();
      const socket = connectTls({
        host: '127.0.0.1',
        port: world.agents.port,
        ca: world.authority,
        cert: text('tls.crt'),
        key: text('tls.key'),
        ALPNProtocols: [agentProtocol],
      });
      const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
      socket.on('error', () => {}).resume();
      socket.once('secureConnect', () => socket.write(Buffer.alloc(1_000_000, 0x41)));
      await closed;
      const again = world.agent({ child });
      await again.agent.keep(config, signal);
      await connected('one');
    });
  });

  describe('clock skew between parent and cluster', () => {
    it('of hours is accepted, and both sides report it', async () => {
      const { agent } = world.agent({ clock: clockOff(-2 * hour) });
      await agent.keep(await world.invite('one'), signal);
      const session = await connected('one');
      expect(session.skew).toBe(-7_200);
      expect(agent.verdict?.message).toContain('the clock here is 7200 s behind');
    });

    it('beyond the validity of the certificate is reported', async () => {
      const { agent } = world.agent({ clock: clockOff(200 * 24 * hour) });
      const config = await world.invite('one');
      expect(await agent.keep(config, signal)).toBeDefined();
      expect(agent.verdict).toMatchObject({ status: 'False', reason: 'ClockOff' });
      expect(agent.verdict?.message).toContain('the clock here says');
    });
  });
});
