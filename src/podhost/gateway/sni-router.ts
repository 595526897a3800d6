import type { Duplex } from 'node:stream';
import type { Clock } from '../../machinery/index.ts';
import type { ApiCredentials, PortService, ReachableApi } from '../../simkube/index.ts';
import { readServerName } from './server-name.ts';

/** More than any ClientHello needs. */
const maxGreetingBytes = 64 * 1024;
const greetingMs = 10_000;

/** Finds the backend of a host. Throws if there is none. */
export type RouteTo = (host: string | undefined) => PortService;

/** Routes TLS connections by server name without decrypting them. */
export function sniRouter(routeTo: RouteTo, clock: Clock): PortService {
  return {
    accept: (socket) => routeByGreeting(socket, routeTo, clock),
    api: namedApi(routeTo),
  };
}

function routeByGreeting(socket: Duplex, routeTo: RouteTo, clock: Clock): void {
  let greeting = Buffer.alloc(0);
  const cancel = clock.after(greetingMs, () => socket.destroy());
  const end = (): void => {
    cancel();
    socket.removeListener('readable', read);
    socket.removeListener('close', end);
  };
  const read = (): void => {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      greeting = Buffer.concat([greeting, chunk]);
    }
    const asked = readServerName(greeting);
    if (asked.kind === 'unfinished' && greeting.length < maxGreetingBytes) return;
    end();
    if (asked.kind !== 'named' && asked.kind !== 'nameless') {
      socket.destroy();
      return;
    }
    try {
      const target = routeTo(asked.kind === 'named' ? asked.name : undefined);
      socket.unshift(greeting);
      target.accept(socket);
    } catch {
      socket.destroy();
    }
  };
  socket.on('readable', read);
  socket.on('close', end);
  socket.on('error', () => socket.destroy());
}

/** For callers in this process: the name they verify the certificate against is the requested host. */
function namedApi(routeTo: RouteTo): ReachableApi {
  const apiOf = (host: string | undefined): ReachableApi => {
    const { api } = routeTo(host);
    if (!api) throw new Error(`what answers for ${host ?? 'no name'} is no Kubernetes API`);
    return api;
  };
  return {
    connect: (credentials: ApiCredentials) => apiOf(credentials.serverName).connect(credentials),
    servingCertificate: () => apiOf(undefined).servingCertificate?.() ?? '',
    raw: (path) => apiOf(undefined).raw(path),
    portForward: (pod, port) => apiOf(undefined).portForward(pod, port),
  };
}
