import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CapstanError, errorMessage } from '../../machinery/index.ts';
import type { CheckResult, RuntimeMetrics } from '../../runtime/index.ts';

type Answer = () => Promise<{ code: number; contentType: string; body: string }>;

export interface Endpoint {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves a few paths over plain HTTP, for kubelets and Prometheus. */
export async function serveEndpoint(
  { host, port }: { host: string; port: number },
  flag: string,
  paths: Readonly<Record<string, Answer>>,
): Promise<Endpoint> {
  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    const serve = Object.hasOwn(paths, path) ? paths[path] : undefined;
    const { code, contentType, body } = serve
      ? await serve().catch((error: unknown) => plain(500, errorMessage(error)))
      : plain(404, 'not found');
    response.writeHead(code, { 'content-type': contentType }).end(body);
  };
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (request, response) => {
    request.resume();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405).end();
      return;
    }
    void answer((request.url ?? '').split('?', 1)[0] ?? '', response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new CapstanError('CAP_LISTEN_FAILED', `cannot listen on ${host}:${port}: ${errorMessage(cause)}`, {
          hint: `choose another address with ${flag}`,
          cause,
        }),
      ),
    );
    server.listen(port, host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Builds health endpoints such as `/healthz` for kubelets. */
export function healthPaths(checks: { healthy(): CheckResult; ready(): CheckResult }): Record<string, Answer> {
  const check = (look: () => CheckResult): Answer => {
    return async () => {
      const { ok, problems } = look();
      return ok ? plain(200, 'ok') : plain(503, `${problems.join('\n')}\n`);
    };
  };
  return { '/healthz': check(checks.healthy), '/livez': check(checks.healthy), '/readyz': check(checks.ready) };
}

export function metricsPaths(metrics: RuntimeMetrics): Record<string, Answer> {
  return {
    '/metrics': async () => {
      const { contentType, body } = await metrics.expose();
      return { code: 200, contentType, body };
    },
  };
}

function plain(code: number, body: string): { code: number; contentType: string; body: string } {
  return { code, contentType: 'text/plain; charset=utf-8', body };
}
