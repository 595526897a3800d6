import { type RunningProcess, startProcess } from './process.ts';
import { capstanEnvironment, capstanProgram } from './program.ts';

/** A real API server needs a while to process many definitions. */
const startPatienceMs = 180_000;

/** A `capstan controller --install` started by a test. */
export interface ControllerProcess {
  readonly process: RunningProcess;
  /** number of requests to the management API so far, by method */
  requests(): Promise<Record<string, number>>;
  readiness(): Promise<{ code: number; body: string }>;
}

/** Starts the process and waits until it is ready. */
export async function startController(options: {
  kubeconfig: string;
  /** first of two consecutive ports: health and metrics */
  port: number;
  args?: readonly string[];
  variables?: Readonly<Record<string, string>>;
}): Promise<ControllerProcess> {
  const { kubeconfig, port } = options;
  const child = startProcess(
    process.execPath,
    [
      ...capstanProgram(),
      'controller',
      ...['--kubeconfig', kubeconfig, '--install', '--webhook-port', '0'],
      ...['--health-probe-bind-address', `127.0.0.1:${port}`, '--metrics-bind-address', `127.0.0.1:${port + 1}`],
      ...(options.args ?? []),
    ],
    capstanEnvironment(options.variables),
  );
  try {
    await child.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', startPatienceMs);
  } catch (error) {
    await child.stop('SIGKILL');
    throw error;
  }
  return {
    process: child,
    async requests() {
      const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text();
      const counts: Record<string, number> = {};
      for (const [, method = '', count] of text.matchAll(
        /^rest_client_requests_total\{.*method="(\w+)".*\} (\d+)$/gm,
      )) {
        counts[method] = (counts[method] ?? 0) + Number(count);
      }
      return counts;
    },
    async readiness() {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      return { code: answer.status, body: await answer.text() };
    },
  };
}
