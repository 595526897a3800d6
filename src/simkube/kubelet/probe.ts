import type { Container, Handler, Probe } from '../../api/index.ts';
import { type CancelTimer, type Clock, errorMessage } from '../../machinery/index.ts';
import type { PodSandbox, RunningContainer } from '../containers/types.ts';
import { grpcHealth } from './grpc-health.ts';

/** Result of a check; users see the text if it failed. */
export interface CheckResult {
  readonly isGood: boolean;
  readonly output: string;
}

export interface ProbeTarget {
  readonly sandbox: PodSandbox;
  readonly container: RunningContainer;
  readonly spec: Container;
}

/** Executes the handler of a probe or lifecycle hook once. Never rejects. */
export async function check(handler: Handler, target: ProbeTarget, signal: AbortSignal): Promise<CheckResult> {
  try {
    return await attempt(handler, target, signal);
  } catch (error) {
    return { isGood: false, output: errorMessage(error) };
  }
}

async function attempt(handler: Handler, target: ProbeTarget, signal: AbortSignal): Promise<CheckResult> {
  const { sandbox, container, spec } = target;
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  if (exec) {
    const { exitCode, stdout, stderr } = await container.exec(exec.command ?? [], signal);
    return { isGood: exitCode === 0, output: `${stdout}${stderr}`.trim() || `command exited with code ${exitCode}` };
  }
  if (httpGet) {
    const status = await sandbox.httpGet({
      port: portNumber(httpGet.port, spec),
      path: httpGet.path || '/',
      scheme: httpGet.scheme === 'HTTPS' ? 'HTTPS' : 'HTTP',
      headers: Object.fromEntries((httpGet.httpHeaders ?? []).map(({ name, value }) => [name, value])),
      signal,
    });
    return { isGood: status >= 200 && status < 400, output: `HTTP probe failed with statuscode: ${status}` };
  }
  if (tcpSocket) {
    const port = portNumber(tcpSocket.port, spec);
    if (!sandbox.service(port)) throw new Error(`dial tcp ${sandbox.address}:${port}: connect: connection refused`);
    return good;
  }
  if (grpc) {
    await grpcHealth(sandbox.connect(grpc.port), grpc.service ?? '', signal);
    return good;
  }
  return sleep ? good : { isGood: false, output: 'missing probe handler' };
}

const good: CheckResult = { isGood: true, output: '' };

function portNumber(port: number | string, { ports, name }: Container): number {
  if (typeof port === 'number') return port;
  const found = ports?.find((candidate) => candidate.name === port)?.containerPort ?? Number(port);
  if (Number.isInteger(found)) return found;
  throw new Error(`container ${name} has no port named ${port}`);
}

export interface ProbeOptions {
  readonly probe: Probe;
  readonly clock: Clock;
  check(signal: AbortSignal): Promise<CheckResult>;
  /** a single check failed */
  failed(output: string): void;
  /** called when enough consecutive checks agree and the state changes */
  settled(isGood: boolean): void;
}

/** Checks periodically until stopped. Returns a function that stops it. */
export function startProbe({ probe, clock, ...options }: ProbeOptions): () => void {
  const periodMs = (probe.periodSeconds ?? 10) * 1000;
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  /** Shared by all rounds until one times out, because probes are most of the work of idle Pods. */
  let round = new AbortController();
  let isStopped = false;
  let streak = 0;
  let wasGood: boolean | undefined;
  let known: boolean | undefined;
  let cancel: CancelTimer = () => {};

  /** Performs one check. After the timeout it has failed, regardless of a later result. */
  const checkOnce = (done: (result: CheckResult) => void): void => {
    let isOver = false;
    const finish = (result: CheckResult): void => {
      if (isOver || isStopped) return;
      isOver = true;
      cancel();
      done(result);
    };
    cancel = clock.after(timeoutMs, () => {
      const cut = round;
      round = new AbortController();
      finish({ isGood: false, output: `command timed out: context deadline exceeded after ${timeoutMs / 1000}s` });
      cut.abort(new Error('context deadline exceeded'));
    });
    options
      .check(round.signal)
      .then(finish, (error: unknown) => finish({ isGood: false, output: errorMessage(error) }));
  };

  const take = ({ isGood, output }: CheckResult): void => {
    cancel = clock.after(periodMs, next);
    streak = isGood === wasGood ? streak + 1 : 1;
    wasGood = isGood;
    if (!isGood) options.failed(output);
    const enough = isGood ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
    if (streak < enough || known === isGood) return;
    known = isGood;
    options.settled(isGood);
  };
  const next = (): void => checkOnce(take);

  const delayMs = (probe.initialDelaySeconds ?? 0) * 1000;
  if (delayMs > 0) cancel = clock.after(delayMs, next);
  else next();
  return () => {
    isStopped = true;
    cancel();
    round.abort(new Error('the probe was stopped'));
  };
}
