// A tenant with all rights in one namespace does what he can to keep others from being served, from a seed and for a limited
// time. An administrator who works beside him must not notice.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/machinery/index.ts';
import { issueCertificate } from '../../src/pki/index.ts';
import { eventually } from '../support/eventually.ts';
import { dice, seedAt } from '../support/rough/dice.ts';
import { bundleProgram, type Program, type RunningServer } from '../support/rough/program.ts';
import { openTls } from '../support/rough/raw.ts';
import { type Endpoint, http1Client, http2Client, sendJson, type WireClient } from '../support/rough/wire.ts';
import { attacks } from './attacks.ts';

/** CAPSTAN_HOSTILE_SEED and CAPSTAN_HOSTILE_SECONDS replay a run or make a longer one. */
const seed = Number(process.env['CAPSTAN_HOSTILE_SEED'] ?? 1);
const seconds = Number(process.env['CAPSTAN_HOSTILE_SECONDS'] ?? 30);

const namespace = 'hostile';
const attackers = 8;
const unfinishedBodies = 200;
/** How long an administrator may wait for an answer. */
const answeredWithinMs = 1_000;
const probeEveryMs = 100;

let program: Program;
let directory: string;
let attacked: RunningServer;
/** Nobody attacks this one: where its answers are late too, the machine is at fault and not the program. */
let control: RunningServer;
let tenant: Endpoint;
let endless: Server;
let endlessUrl: string;

beforeAll(async () => {
  program = await bundleProgram();
  directory = await mkdtemp(join(tmpdir(), 'capstan-hostile-'));
  attacked = await program.up(
    join(directory, 'attacked'),
    '--controllers',
    'all',
    '--simulated-cloud',
    '--cloud-listen',
    '127.0.0.1:0',
  );
  control = await program.up(join(directory, 'control'), '--pods', 'none');
  tenant = await tenantOf(attacked);
  endless = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"version": "');
    const pour = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', pour);
    pour();
  });
  await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
  endlessUrl = `http://127.0.0.1:${(endless.address() as AddressInfo).port}/v3`;
});

afterAll(async () => {
  endless?.closeAllConnections();
  endless?.close();
  await attacked?.process.stop();
  await control?.process.stop();
  await program?.remove();
  await rm(directory, { recursive: true, force: true });
});

/** A user who may do everything in one namespace, and nothing elsewhere. */
async function tenantOf(server: RunningServer): Promise<Endpoint> {
  const pki = join(server.dataDirectory, 'pki');
  const authority = {
    certificate: await readFile(join(pki, 'ca.crt'), 'utf8'),
    privateKey: await readFile(join(pki, 'ca.key'), 'utf8'),
  };
  const admin = http1Client(server.admin);
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'everything' };
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'mallory' }];
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  for (const [path, object] of [
    ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }],
    [`${rbac}/roles`, { apiVersion, kind: 'Role', metadata: { name: 'everything' }, rules }],
    [`${rbac}/rolebindings`, { apiVersion, kind: 'RoleBinding', metadata: { name: 'everything' }, roleRef, subjects }],
  ] as const) {
    expect((await sendJson(admin, 'POST', path, object)).status).toBe(201);
  }
  admin.close();
  const issued = await issueCertificate({ authority, commonName: 'mallory', usages: ['client'], clock: systemClock });
  const { host, port, ca } = server.admin;
  return { host, port, ca, cert: issued.certificate, key: issued.privateKey };
}

interface Probe {
  readonly what: string;
  readonly ms: number;
  readonly controlMs: number;
  readonly attack: string;
}

describe(`a tenant who attacks for ${seconds} s, from seed ${seed}`, () => {
  it('never keeps an administrator waiting for a second', { timeout: (seconds + 180) * 1_000 }, async () => {
    const end = performance.now() + seconds * 1_000;
    const current = new Map<number, string>();
    const probes: Probe[] = [];
    const sent = new Map<string, number>();
    const sockets = await Promise.all(Array.from({ length: unfinishedBodies }, () => unfinishedBody()));
    await Promise.all([
      ...Array.from({ length: attackers }, (_, index) => attack(index, end, current, sent)),
      probe(end, current, probes),
    ]);
    for (const socket of sockets) socket?.destroy();
    console.log(`attacks: ${[...sent].map(([name, count]) => `${name} ${count}`).join(', ')}; ${summary(probes)}`);
    // Where the one nobody attacks is late as well, both wait for the machine.
    const late = probes.filter(({ ms, controlMs }) => ms - 2 * controlMs > answeredWithinMs);
    expect(late, `${late.length} of ${probes.length} answers came late`).toEqual([]);
    expect(probes.length, 'requests of the administrator').toBeGreaterThan(seconds);
    expect([...sent.keys()].sort(), 'every attack was tried').toEqual(Object.keys(attacks).sort());
  });

  it('leaves a namespace behind that can be deleted', async () => {
    const admin = http1Client(attacked.admin);
    expect((await sendJson(admin, 'DELETE', `/api/v1/namespaces/${namespace}`)).status).toBe(200);
    await eventually(async () => {
      const { status, value } = await sendJson(admin, 'GET', `/api/v1/namespaces/${namespace}`);
      expect(status, JSON.stringify(value.status)).toBe(404);
    }, 100_000);
    admin.close();
  });
});

/** Holds what a request is given before its body is there. */
async function unfinishedBody(): Promise<TLSSocket | undefined> {
  try {
    const socket = await openTls(tenant);
    const head = [
      `POST /api/v1/namespaces/${namespace}/configmaps HTTP/1.1`,
      'host: x',
      'content-type: application/json',
    ];
    socket.write(`${[...head, 'content-length: 100000'].join('\r\n')}\r\n\r\n{"apiVersion"`);
    return socket;
  } catch {
    return undefined;
  }
}

async function attack(
  index: number,
  end: number,
  current: Map<number, string>,
  sent: Map<string, number>,
): Promise<void> {
  const names = Object.keys(attacks);
  const client: WireClient = index % 2 === 0 ? http1Client(tenant) : http2Client(tenant);
  for (let round = 0; performance.now() < end; round++) {
    const drawn = dice(seedAt(seed, round * attackers + index));
    // Every attack once before any comes again.
    const name = names[(round * attackers + index) % names.length]!;
    current.set(index, name);
    for (const request of attacks[name]!(drawn, { namespace, endlessUrl })) {
      if (performance.now() >= end) break;
      // Refusals, resets and limits are what the attacker has to expect.
      await Promise.race([client.send(request).catch(() => undefined), delay(10_000)]);
    }
    sent.set(name, (sent.get(name) ?? 0) + 1);
  }
  client.close();
}

async function probe(end: number, current: Map<number, string>, probes: Probe[]): Promise<void> {
  const clients = [http1Client(attacked.admin), http1Client(control.admin)] as const;
  const path = '/api/v1/namespaces/default/configmaps';
  for (const client of clients) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } };
    expect((await sendJson(client, 'POST', path, object)).status).toBe(201);
  }
  const requests = {
    read: (client: WireClient) => sendJson(client, 'GET', '/api/v1/namespaces/default'),
    write: (client: WireClient, round: number) =>
      sendJson(client, 'PATCH', `${path}/probe`, { data: { round: String(round) } }, [
        ['content-type', 'application/merge-patch+json'],
      ]),
  };
  for (let round = 0; performance.now() < end; round++) {
    const what = round % 2 === 0 ? 'read' : 'write';
    const [ms, controlMs] = await Promise.all(clients.map((client) => timed(() => requests[what](client, round))));
    probes.push({ what, ms: ms!, controlMs: controlMs!, attack: [...current.values()].join(', ') });
    await delay(probeEveryMs);
  }
  for (const client of clients) client.close();
}

async function timed(request: () => Promise<{ status: number }>): Promise<number> {
  const start = performance.now();
  const { status } = await request();
  expect(status).toBe(200);
  return performance.now() - start;
}

function summary(probes: readonly Probe[]): string {
  const times = probes.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string => `${Math.round(times[Math.floor((times.length - 1) * share)] ?? 0)} ms`;
  return `${times.length} requests of the administrator, median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
}
