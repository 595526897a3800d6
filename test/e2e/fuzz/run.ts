import { seedAt } from '../../support/rough/dice.ts';
import type { InProcessServer } from '../../support/rough/in-process-server.ts';
import {
  http1Client,
  http2Client,
  sendJson,
  UnsendableRequest,
  type WireAnswer,
  type WireClient,
} from '../../support/rough/wire.ts';
import { namespaces } from './draft.ts';
import { answerProblem, ChangeLog, mayChange } from './invariants.ts';
import { type FuzzRequest, fuzzRequest, liveResourceVersion } from './requests.ts';

export interface FuzzRun {
  seed: number;
  /** index of the first request */
  from: number;
  count: number;
  /** number of parallel requests; with one, side effects in the store are checked too */
  inFlight: number;
  /** called with every answer, for additional checks */
  onAnswer?(request: FuzzRequest, answer: WireAnswer): void;
}

export interface FuzzReport {
  sent: number;
  /** number of requests that the protocol cannot express */
  unsendable: number;
  byStatus: Map<number, number>;
  problems: string[];
  /** slowest answer of a health probe sent every 50 ms */
  worstProbeMs: number;
  /** slowest answer of any request */
  slowest: { ms: number; request: string };
}

const answerPatienceMs = 20_000;
const probeIntervalMs = 50;
const enoughProblems = 20;

export async function prepareNamespaces(server: InProcessServer): Promise<void> {
  const client = http1Client(server.admin);
  for (const name of namespaces) {
    await sendJson(client, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  client.close();
}

/** Sends the requests of a seed and checks the invariants. */
export async function runFuzz(server: InProcessServer, run: FuzzRun): Promise<FuzzReport> {
  const clients = { 'http/1.1': http1Client(server.admin), h2: http2Client(server.admin) };
  const report: FuzzReport = {
    sent: 0,
    unsendable: 0,
    byStatus: new Map(),
    problems: [],
    worstProbeMs: 0,
    slowest: { ms: 0, request: '' },
  };
  const changes = run.inFlight === 1 ? new ChangeLog(server.store) : undefined;
  const probing = startProbing(server, report);
  const seen: Seen = new Map();
  let next = run.from;
  const work = async (): Promise<void> => {
    while (next < run.from + run.count && report.problems.length < enoughProblems) {
      const position = next++;
      await step(server, run, position, clients, report, changes, seen);
    }
  };
  await Promise.all(Array.from({ length: run.inFlight }, work));
  await probing.stop();
  changes?.close();
  for (const client of Object.values(clients)) client.close();
  return report;
}

async function step(
  server: InProcessServer,
  run: FuzzRun,
  position: number,
  clients: Record<FuzzRequest['protocol'], WireClient>,
  report: FuzzReport,
  changes: ChangeLog | undefined,
  seen: Seen,
): Promise<void> {
  const request = withLiveVersion(fuzzRequest(seedAt(run.seed, position)), seen);
  const complain = (what: string): void => {
    report.problems.push(`${what}\n${describeRequest(request)}\n  replay: ${replay(run, position)}`);
  };
  changes?.take();
  const started = performance.now();
  let answer: WireAnswer;
  try {
    answer = await withPatience(clients[request.protocol].send(request), answerPatienceMs);
  } catch (error) {
    if (error instanceof UnsendableRequest) report.unsendable++;
    else if (!isMalformed(request)) complain(`no answer: ${String(error)}`);
    return;
  }
  report.sent++;
  const ms = performance.now() - started;
  if (ms > report.slowest.ms) report.slowest = { ms, request: describeRequest(request) };
  report.byStatus.set(answer.status, (report.byStatus.get(answer.status) ?? 0) + 1);
  const problem = answerProblem(request, answer);
  if (problem) complain(problem);
  for (const { what, error } of server.unexpected.splice(0)) {
    complain(`unexpected failure in ${what}: ${error instanceof Error ? error.stack : String(error)}`);
  }
  if (changes && !mayChange(request, answer)) {
    const changed = changes.take();
    if (changed.length > 0) complain(`answer ${answer.status}, yet these changed: ${changed.join(', ')}`);
  }
  remember(request, answer, seen);
  run.onAnswer?.(request, answer);
}

/** resourceVersions by path */
type Seen = Map<string, string>;

function pathOf(request: FuzzRequest): string {
  return request.path.split('?')[0]!.replace(/\/(status|scale)$/, '');
}

function remember(request: FuzzRequest, answer: WireAnswer, seen: Seen): void {
  if (answer.status >= 300 || !String(answer.headers['content-type']).startsWith('application/json')) return;
  const metadata = /^\{"(?:kind|apiVersion)":.*?"metadata":\{.*?"name":"([^"]+)".*?"resourceVersion":"(\d+)"/.exec(
    answer.body.toString('latin1', 0, 4000),
  );
  if (!metadata) return;
  seen.set(request.method === 'POST' ? `${pathOf(request)}/${metadata[1]}` : pathOf(request), metadata[2]!);
}

/** Updates of custom resources need the current resourceVersion. */
function withLiveVersion(request: FuzzRequest, seen: Seen): FuzzRequest {
  const { body, method } = request;
  if (!Buffer.isBuffer(body) || !body.includes(liveResourceVersion)) return request;
  const version = method === 'POST' ? '' : (seen.get(pathOf(request)) ?? '');
  return { ...request, body: Buffer.from(body.toString('latin1').replaceAll(liveResourceVersion, version), 'latin1') };
}

/** HTTP/2 cannot express such a request: the HTTP library rejects the stream. */
function isMalformed(request: FuzzRequest): boolean {
  return request.protocol === 'h2' && !request.path.startsWith('/');
}

function withPatience<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export function describeRequest(request: FuzzRequest): string {
  const body = request.body === undefined ? '' : Buffer.from(request.body);
  const shown = body.length > 1500 ? `${body.slice(0, 1500).toString()}… (${body.length} bytes)` : body.toString();
  const headers = request.headers.map(([name, value]) => `${name}: ${value.slice(0, 200)}`).join(' | ');
  return `  ${request.idea}, ${request.protocol}\n  ${request.method} ${request.path.slice(0, 1000)}\n  ${headers}\n  ${shown}`;
}

/** Requests depend on earlier state, so a replay starts at the beginning and ends at the failed request. */
function replay(run: FuzzRun, position: number): string {
  const how = run.inFlight === 1 ? '' : ` (with ${run.inFlight} in flight the order may differ)`;
  return `CAPSTAN_FUZZ_SEED=${run.seed} CAPSTAN_FUZZ_REQUESTS=${position + 1} npx vitest run --project e2e test/e2e/fuzz/fuzz.test.ts${how}`;
}

function startProbing(server: InProcessServer, report: FuzzReport): { stop(): Promise<void> } {
  const client = http1Client(server.admin);
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const started = performance.now();
      const answer = await client.send({ method: 'GET', path: '/livez' }).catch((error: unknown) => String(error));
      report.worstProbeMs = Math.max(report.worstProbeMs, performance.now() - started);
      if (typeof answer === 'string' || answer.status !== 200) {
        report.problems.push(`/livez failed: ${typeof answer === 'string' ? answer : answer.body.toString()}`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, probeIntervalMs));
    }
  };
  const done = loop();
  return {
    stop: async () => {
      stopped = true;
      await done;
      client.close();
    },
  };
}

export function summary(report: FuzzReport): string {
  const statuses = [...report.byStatus].sort(([a], [b]) => a - b).map(([status, count]) => `${status}×${count}`);
  return [
    `${report.sent} requests answered (${report.unsendable} could not be sent): ${statuses.join(' ')}`,
    `worst health probe ${Math.round(report.worstProbeMs)} ms, slowest answer ${Math.round(report.slowest.ms)} ms:`,
    report.slowest.request,
  ].join('\n');
}
