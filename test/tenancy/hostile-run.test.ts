// A tenant with all rights in one namespace attacks the availability of the server, from a seed and for a limited time.
// An administrator must not notice.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/machinery/index.ts';
import { issueCertificate } from '../../src/pki/index.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningProcess, startProcess } from '../support/process.ts';
import { bundleProgram, type Program, type RunningServer } from '../support/rough/program.ts';
import { type Endpoint, http1Client, sendJson } from '../support/rough/wire.ts';
import type { AttackOrder } from './attacker.ts';
import { attacks } from './attacks.ts';

/** CAPSTAN_HOSTILE_SEED and CAPSTAN_HOSTILE_SECONDS replay a run or set a longer one. */
const seed = Number(process.env['CAPSTAN_HOSTILE_SEED'] ?? 1);
const seconds = Number(process.env['CAPSTAN_HOSTILE_SECONDS'] ?? 30);

const namespace = 'hostile';
/** Maximum response time for an administrator. */
const answeredWithinMs = 1_000;
const probeEveryMs = 100;

let program: Program;
let directory: string;
let attacked: RunningServer;
let tenant: Endpoint;

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
  tenant = await tenantOf(attacked);
});

afterAll(async () => {
  await attacked?.process.stop();
  await program?.remove();
  await rm(directory, { recursive: true, force: true });
});

/** Creates a user with all rights in one namespace and none elsewhere. */
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
  /** response time minus the time spent waiting for a CPU core, which other processes use too */
  readonly ms: number;
}

describe(`a tenant who attacks for ${seconds} s, from seed ${seed}`, () => {
  it('never keeps an administrator waiting for a second', { timeout: (seconds + 180) * 1_000 }, async () => {
    const attacker = startAttacker();
    const probes = await probeWhile(attacker.ended);
    const { code, stdout, stderr } = await attacker.ended;
    expect(code, stderr).toBe(0);
    const sent = JSON.parse(stdout) as Record<string, number>;
    console.log(`attacks: ${Object.entries(sent).join(' ')}; ${summary(probes)}`);
    const late = probes.filter(({ ms }) => ms > answeredWithinMs);
    expect(late, `${late.length} of ${probes.length} answers came late`).toEqual([]);
    expect(probes.length, 'requests of the administrator').toBeGreaterThan(seconds);
    expect(Object.keys(sent).sort(), 'every attack was tried').toEqual(Object.keys(attacks).sort());
  });

  it('leaves a namespace that can be deleted', async () => {
    const admin = http1Client(attacked.admin);
    expect((await sendJson(admin, 'DELETE', `/api/v1/namespaces/${namespace}`)).status).toBe(200);
    await eventually(async () => {
      const { status, value } = await sendJson(admin, 'GET', `/api/v1/namespaces/${namespace}`);
      expect(status, JSON.stringify(value.status)).toBe(404);
    }, 100_000);
    admin.close();
  });
});

function startAttacker(): RunningProcess {
  const order: AttackOrder = { tenant, namespace, seed, seconds };
  const script = fileURLToPath(new URL('./attacker.ts', import.meta.url));
  return startProcess(process.execPath, ['--import', 'tsx', script], { input: JSON.stringify(order) });
}

/** Alternates reads and writes until the attack is over. */
async function probeWhile(attack: Promise<unknown>): Promise<Probe[]> {
  let isOver = false;
  void attack.finally(() => {
    isOver = true;
  });
  const probes: Probe[] = [];
  const admin = http1Client(attacked.admin);
  const path = '/api/v1/namespaces/default/configmaps';
  const probe = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'probe' } };
  expect((await sendJson(admin, 'POST', path, probe)).status).toBe(201);
  const requests = {
    read: () => sendJson(admin, 'GET', '/api/v1/namespaces/default'),
    write: (round: number) =>
      sendJson(admin, 'PATCH', `${path}/probe`, { data: { round: String(round) } }, [
        ['content-type', 'application/merge-patch+json'],
      ]),
  };
  for (let round = 0; !isOver; round++) {
    const what = round % 2 === 0 ? 'read' : 'write';
    probes.push({ what, ms: await timed(() => requests[what](round)) });
    await delay(probeEveryMs);
  }
  admin.close();
  return probes;
}

async function timed(request: () => Promise<{ status: number }>): Promise<number> {
  const pids = [attacked.process.pid, process.pid];
  const waitedBefore = await waitedForCoreMs(pids);
  const start = performance.now();
  const { status } = await request();
  const ms = performance.now() - start;
  expect(status).toBe(200);
  return Math.max(0, ms - ((await waitedForCoreMs(pids)) - waitedBefore));
}

/** Returns how long the main threads of processes were runnable without a core. Only Linux provides this. */
async function waitedForCoreMs(pids: readonly number[]): Promise<number> {
  const texts = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').catch(() => '')),
  );
  return texts.reduce((sum, text) => sum + Number(text.split(' ')[1] ?? 0) / 1e6, 0);
}

function summary(probes: readonly Probe[]): string {
  const times = probes.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number): string => `${Math.round(times[Math.floor((times.length - 1) * share)] ?? 0)} ms`;
  return `${times.length} requests of the administrator, median ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)}`;
}
