import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { capstan, capstanOk } from '../../support/command.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';

describe('a management API open to other computers', () => {
  let server: CapstanProcess;
  let issuer: OidcIssuer;
  let here = '';
  let authority = '';
  let dispatcher: Agent;
  const url = (path: string): string => `https://127.0.0.1:${server.port}${path}`;
  const get = async (path: string, token?: string): Promise<number> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await fetch(url(path), { dispatcher, headers })).status;
  };
  beforeAll(async () => {
    here = await mkdtemp(join(tmpdir(), 'capstan-listen-'));
    issuer = await startOidcIssuer();
    const caFile = join(here, 'issuer.crt');
    await writeFile(caFile, issuer.authority);
    server = await startCapstan({
      args: [
        ...['--listen', '0.0.0.0:0', '--tls-san', 'api.example.test', '--tls-san', '192.0.2.9,other.example.test'],
        ...['--anonymous-paths', '/readyz,/livez,/metrics'],
        ...['--oidc-issuer-url', issuer.url, '--oidc-client-id', 'capstan', '--oidc-ca-file', caFile],
        ...['--oidc-username-prefix', 'oidc:', '--oidc-groups-claim', 'groups', '--oidc-groups-prefix', 'oidc:'],
      ],
    });
    authority = await readFile(join(server.directory, 'data', 'pki', 'ca.crt'), 'utf8');
    dispatcher = new Agent({ connect: { ca: authority } });
  });
  afterAll(async () => {
    await dispatcher?.close();
    await server?.stop();
    await issuer?.close();
    await rm(here, { recursive: true, force: true });
  });

  it('has a certificate for its names and addresses and prints a reachable one', async () => {
    const certificate = await new Promise<PeerCertificate>((resolve, reject) => {
      const socket = connect(
        { host: '127.0.0.1', port: server.port, ca: authority, servername: 'api.example.test' },
        () => {
          resolve(socket.getPeerCertificate());
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });
    const names = certificate.subjectaltname ?? '';
    for (const name of ['DNS:api.example.test', 'DNS:other.example.test', 'IP Address:192.0.2.9', 'DNS:localhost']) {
      expect(names).toContain(name);
    }
    for (const { address, internal, family } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
      if (!internal && family === 'IPv4' && !address.startsWith('169.254.'))
        expect(names).toContain(`IP Address:${address}`);
    }
    expect(await readFile(server.kubeconfig, 'utf8')).toContain(`server: https://api.example.test:${server.port}`);
  });

  it('opens only the paths named by the operator to clients without credentials', async () => {
    expect(await get('/readyz')).toBe(200);
    expect(await get('/readyz/ping')).toBe(200);
    expect(await get('/livez?verbose')).toBe(200);
    expect(await get('/metrics')).toBe(200);
    for (const path of [
      '/version',
      '/healthz',
      '/api',
      '/api/v1/secrets',
      '/metrics/x',
      '/readyzz',
      '/capstan/backup',
    ]) {
      expect(await get(path), path).toBe(401);
    }
    expect((await fetch(url('/readyz'), { dispatcher, method: 'POST' })).status).not.toBe(200);
    // An invalid credential is not treated as anonymous.
    expect(await get('/readyz', 'nonsense')).toBe(401);
  });

  it('admits people by their issuer, as far as they are allowed', async () => {
    const local = join(here, 'local.kubeconfig');
    const text = await readFile(server.kubeconfig, 'utf8');
    await writeFile(local, text.replace('https://api.example.test', 'https://127.0.0.1'));
    const token = await issuer.token({ groups: ['readers'] });
    expect(await get('/api/v1/namespaces', token)).toBe(403);
    const binding =
      '{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: readers}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "oidc:readers"}]}';
    await capstanOk(['apply', '-f', '-', '--kubeconfig', local], { input: binding });
    expect(await get('/api/v1/namespaces', token)).toBe(200);
    expect(await get('/api/v1/secrets', token)).toBe(403);
    expect(await get('/api/v1/namespaces', await issuer.token({ groups: ['readers'], aud: 'other' }))).toBe(401);
    expect(await get('/api/v1/secrets', await issuer.token({ groups: ['system:masters'] }))).toBe(403);
  });

  it.each([
    [['--tls-san', 'not a name'], '--tls-san: "not a name"'],
    [['--anonymous-paths', '/api'], '--anonymous-paths: "/api" is not one of'],
    [['--oidc-client-id', 'x'], '--oidc-issuer-url and --oidc-client-id must be given together'],
    [['--oidc-issuer-url', 'http://x', '--oidc-client-id', 'x'], 'is not an https:// address'],
  ])('refuses to start with %j', async (args, message) => {
    const outcome = await capstan(['up', '--data-dir', join(here, 'refused'), '--listen', '127.0.0.1:0', ...args]);
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain(message);
  });
});
