import { createServer } from 'node:http';
import type { CheckResult } from '../../runtime/index.ts';
import type { PortService, ProgramChooser } from '../../simkube/index.ts';
import { type BuiltInManager, managerOfImage } from './built-in-managers.ts';

/** Default ports of the managers' health probes. */
const usualPorts: readonly number[] = [8081, 9440];
const addressFlag = /^--?(?:health-addr|health-probe-bind-address|health-probe-addr)=?.*?:(\d+)$/;

/**
 * Simulates the image of a built-in manager: it does nothing and reports the health of the built-in controllers. It
 * does not serve webhook ports.
 */
export function builtInProgram(
  image: string,
  argv: readonly string[],
  healthOf: (manager: BuiltInManager) => CheckResult,
): ReturnType<ProgramChooser> {
  const manager = managerOfImage(image);
  if (!manager || !startsManager(argv, manager)) return undefined;
  return async (process) => {
    process.log(`${manager.name} is built in: this Pod stands for its controllers, which run in the program`);
    const service = healthService(() => healthOf(manager));
    const ports = new Set([...usualPorts, ...process.argv.flatMap(portOf)]);
    for (const port of ports) process.listen(port, service);
    if (!process.signal.aborted) {
      await new Promise<void>((resolve) => process.signal.addEventListener('abort', () => resolve(), { once: true }));
    }
    return 0;
  };
}

/** Other commands in the container do not start the manager. */
function startsManager([first]: readonly string[], { image }: BuiltInManager): boolean {
  if (first === undefined || first.startsWith('-')) return true;
  const name = first.slice(first.lastIndexOf('/') + 1);
  return name === 'manager' || image.test(name);
}

function portOf(argument: string): number[] {
  const port = addressFlag.exec(argument)?.[1];
  return port === undefined ? [] : [Number(port)];
}

/**
 * Readiness is that of the built-in controllers. Liveness is always good, because restarting the Pod would not help.
 */
function healthService(health: () => CheckResult): PortService {
  const answer = (path: string): { status: number; body: string } => {
    const { ok, problems } = path.startsWith('/healthz') ? alive : health();
    return ok ? { status: 200, body: 'ok' } : { status: 500, body: `${problems.join('; ')}\n` };
  };
  let server: ReturnType<typeof createServer> | undefined;
  return {
    get: async (path) => answer(path),
    accept(socket) {
      server ??= createServer((request, response) => {
        const { status, body } = answer(request.url ?? '');
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
        response.end(body);
      });
      server.emit('connection', socket);
    },
  };
}

const alive: CheckResult = { ok: true, problems: [] };
