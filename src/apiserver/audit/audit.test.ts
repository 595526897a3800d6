import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import type { AuthorizationAttributes } from '../auth/attributes.ts';
import { createAuditor } from './auditor.ts';
import type { AuditEvent } from './event.ts';
import { fileAuditSink } from './file-sink.ts';

const attributes: AuthorizationAttributes = {
  user: { name: 'zoe', groups: ['system:authenticated'] },
  verb: 'create',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: '',
  name: 'x',
  namespace: 'a',
  path: '/apis/apps/v1/namespaces/a/deployments',
  resourceRequest: true,
};

function recorder(options: Partial<Parameters<typeof createAuditor>[0]> = {}) {
  const events: AuditEvent[] = [];
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const sink = { record: (event: AuditEvent) => void events.push(event), close: async () => undefined };
  return { events, clock, auditor: createAuditor({ sink, clock, random: seededRandom(1), ...options }) };
}

describe('createAuditor', () => {
  it('records a request from its arrival to its answer', async () => {
    const { events, clock, auditor } = recorder();
    const trail = auditor.begin({
      auditId: 'id-1',
      uri: '/apis/apps/v1/namespaces/a/deployments?dryRun=All',
      attributes,
      sourceIps: ['127.0.0.1'],
      userAgent: 'kubectl',
    });
    await clock.advance(5);
    trail.authorized({ decision: 'allow', reason: 'RBAC: x' });
    trail.completed({ code: 201, uid: 'u', resourceVersion: '7' });
    trail.completed({ code: 500 });
    const common = {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'Metadata',
      auditID: 'id-1',
      requestURI: '/apis/apps/v1/namespaces/a/deployments?dryRun=All',
      verb: 'create',
      user: { username: 'zoe', groups: ['system:authenticated'] },
      sourceIPs: ['127.0.0.1'],
      userAgent: 'kubectl',
      requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
    };
    const objectRef = { resource: 'deployments', namespace: 'a', name: 'x', apiGroup: 'apps', apiVersion: 'v1' };
    expect(events).toEqual([
      { ...common, stage: 'RequestReceived', objectRef, stageTimestamp: '2026-01-01T00:00:00.000000Z' },
      {
        ...common,
        stage: 'ResponseComplete',
        objectRef: { ...objectRef, uid: 'u', resourceVersion: '7' },
        responseStatus: { metadata: {}, code: 201 },
        stageTimestamp: '2026-01-01T00:00:00.005000Z',
        annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': 'RBAC: x' },
      },
    ]);
  });

  it('records refusals, long-running responses and impersonators', () => {
    const { events, auditor } = recorder();
    const trail = auditor.begin({
      auditId: 'id',
      uri: '/x',
      attributes,
      impersonator: { name: 'admin', groups: ['system:masters'] },
    });
    trail.started(200);
    trail.authorized({ decision: 'noOpinion', reason: '' });
    trail.completed({ code: 403, reason: 'Forbidden', message: 'no' });
    expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
    expect(events[2]).toMatchObject({
      user: { username: 'admin', groups: ['system:masters'] },
      impersonatedUser: { username: 'zoe' },
      responseStatus: { status: 'Failure', reason: 'Forbidden', message: 'no', code: 403 },
      annotations: { 'authorization.k8s.io/decision': 'forbid' },
    });
  });

  it('leaves out events of level None and stages that are omitted', () => {
    const quiet = recorder({ levelOf: ({ verb }) => (verb === 'create' ? 'None' : 'Metadata') });
    quiet.auditor.begin({ auditId: 'id', uri: '/x', attributes }).completed({ code: 200 });
    expect(quiet.events).toEqual([]);
    const short = recorder({ omitStages: ['RequestReceived'] });
    short.auditor.begin({ auditId: 'id', uri: '/x', attributes }).completed({ code: 200 });
    expect(short.events.map(({ stage }) => stage)).toEqual(['ResponseComplete']);
  });
});

describe('fileAuditSink', () => {
  let directory: string;
  let path: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-audit-'));
    path = join(directory, 'log', 'audit.log');
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const event = (auditID: string): AuditEvent => ({
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: 'Metadata',
    auditID,
    stage: 'ResponseComplete',
    requestURI: '/é',
    verb: 'get',
    user: {},
    requestReceivedTimestamp: '',
    stageTimestamp: '',
  });
  const ids = async (file: string): Promise<string[]> =>
    (await readFile(file, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as AuditEvent).auditID);

  it('appends one line per event in order, also after a restart', async () => {
    for (const half of [
      [1, 2, 3],
      [4, 5],
    ]) {
      const sink = fileAuditSink({ path });
      for (const id of half) sink.record(event(String(id)));
      await sink.close();
    }
    expect(await ids(path)).toEqual(['1', '2', '3', '4', '5']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('rotates full files and keeps only a limited number', async () => {
    const lineBytes = Buffer.byteLength(`${JSON.stringify(event('00'))}\n`);
    const sink = fileAuditSink({ path, maxBytes: lineBytes * 2, maxFiles: 2 });
    for (let i = 10; i < 19; i++) sink.record(event(String(i)));
    await sink.close();
    expect((await readdir(join(directory, 'log'))).sort()).toEqual(['audit.log', 'audit.log.1', 'audit.log.2']);
    expect(await ids(path)).toEqual(['18']);
    expect(await ids(`${path}.1`)).toEqual(['16', '17']);
    expect(await ids(`${path}.2`)).toEqual(['14', '15']);
  });

  it('drops events when its buffer is full, and reports it', async () => {
    const problems: string[] = [];
    const sink = fileAuditSink({ path, maxBufferedBytes: 300, onProblem: (message) => problems.push(message) });
    for (let i = 0; i < 50; i++) sink.record(event(String(i)));
    await sink.close();
    const written = (await ids(path)).length;
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThan(50);
    expect(problems).toEqual([`audit log ${path} could not keep up, ${50 - written} events dropped`]);
  });

  it('reports a file that cannot be written and keeps running', async () => {
    const problems: string[] = [];
    const sink = fileAuditSink({ path: join(directory, '\0'), onProblem: (message) => problems.push(message) });
    sink.record(event('1'));
    await sink.close();
    expect(problems).toEqual([expect.stringContaining('1 events lost')]);
  });

  it('ignores events after it was closed', async () => {
    const sink = fileAuditSink({ path });
    sink.record(event('1'));
    await sink.close();
    sink.record(event('2'));
    expect(await ids(path)).toEqual(['1']);
  });
});
