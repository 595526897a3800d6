import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  ApiStatusError,
  CapstanError,
  type Clock,
  errorMessage,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import { clientCertificateAuthenticator } from '../auth/client-certificate.ts';
import type { UserInfo } from '../auth/user.ts';
import { UpgradeWire } from '../http/upgrade-wire.ts';
import { asTlsSocket, type UpgradeOffer } from '../http/wire.ts';
import { attachOffers, type PodConnector, portForwardOffers, sessionOffers } from '../subresources/pod-connect.ts';
import type { PodAttacher, PodExecutor } from '../subresources/pod-exec.ts';
import { type PodLogSource, parseLogQuery } from '../subresources/pod-log.ts';

export type KubeletCaller = UserInfo;

/** The Pods of a node and connections to them. */
export interface KubeletPods {
  find(namespace: string, name: string): UnstructuredObject | undefined;
  readonly logs: PodLogSource;
  readonly connect: PodConnector;
  readonly execute: PodExecutor;
  readonly attach: PodAttacher;
}

export interface KubeletEndpointOptions {
  readonly host: string;
  readonly port: number;
  readonly clock: Clock;
  readonly certificate: { readonly certificate: string; readonly privateKey: string };
  /** PEM of the CAs of client certificates; API servers authenticate with one */
  readonly clientAuthorities: string;
  /** whether a caller may use this verb on the Pods of the node */
  authorize(caller: KubeletCaller, verb: 'get' | 'create'): Promise<boolean>;
  readonly pods: KubeletPods;
}

export interface KubeletEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

/** A parsed path: `/exec/NAMESPACE/POD/CONTAINER`, optionally with the uid of the Pod before the container. */
interface Asked {
  readonly what: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  readonly container: string;
  readonly query: URLSearchParams;
}

/** Serves container logs, exec sessions and port forwarding for API servers, like the kubelet of a node. */
export async function startKubeletEndpoint(options: KubeletEndpointOptions): Promise<KubeletEndpoint> {
  const { host, certificate, clientAuthorities, clock, pods } = options;
  const authenticate = clientCertificateAuthenticator({ authorities: clientAuthorities, clock });

  const admit = async (request: IncomingMessage): Promise<void> => {
    const socket = asTlsSocket(request.socket);
    const outcome = socket && authenticate(socket);
    if (!outcome || !('user' in outcome)) throw statusError.unauthorized();
    const verb = request.method === 'GET' ? 'get' : 'create';
    if (await options.authorize(outcome.user, verb)) return;
    const { name } = outcome.user;
    throw statusError.forbidden({ group: '', resource: 'nodes/proxy' }, `user ${name} may not ${verb} it`);
  };

  const podOf = ({ namespace, name, uid }: Asked): UnstructuredObject => {
    const pod = pods.find(namespace, name);
    if (pod && (uid === undefined || pod.metadata.uid === uid)) return pod;
    throw statusError.notFound({ group: '', resource: 'pods', name });
  };

  const offersOf = (asked: Asked): readonly UpgradeOffer[] => {
    const pod = podOf(asked);
    const { container } = asked;
    const query = streamsByName(asked.query);
    if (asked.what === 'portForward') return portForwardOffers(portsOf(asked.query), (port) => pods.connect(pod, port));
    if (asked.what === 'attach') {
      return attachOffers(query, (session) => pods.attach(pod, { ...session, container }));
    }
    const command = query.getAll('command');
    return sessionOffers(
      query,
      () => {},
      (session) => pods.execute(pod, { ...session, container, command }),
    );
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = parse(request.url ?? '/');
    if (asked?.what === 'healthz') {
      response.writeHead(200, textType).end('ok');
      return;
    }
    await admit(request);
    if (asked?.what !== 'containerLogs')
      throw statusError.notFound({ group: '', resource: 'paths', name: request.url ?? '' });
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const wanted = parseLogQuery(asked.query, asked.name);
    const lines = pods.logs(podOf(asked), { ...wanted, container: asked.container, signal: gone.signal });
    response.writeHead(200, textType);
    response.flushHeaders();
    for await (const line of lines) {
      if (!response.write(line))
        await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve));
      if (gone.signal.aborted) return;
    }
    response.end();
  };

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const wire = new UpgradeWire(request, socket, head);
    try {
      await admit(request);
      const asked = parse(request.url ?? '/');
      if (!asked || !conversations.has(asked.what))
        throw statusError.notFound({ group: '', resource: 'paths', name: request.url ?? '' });
      await wire.upgrade(offersOf(asked));
    } catch (error) {
      if (!wire.headersSent) refuse(wire.output, error);
    }
  };

  const server = createServer(
    {
      cert: certificate.certificate,
      key: certificate.privateKey,
      ca: clientAuthorities,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: 'TLSv1.2',
      headersTimeout: 10_000,
    },
    (request, response) => {
      request.resume();
      answer(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else refuse(response, error);
      });
    },
  );
  server.on('upgrade', (request, socket, head) => void upgrade(request, socket, head));
  const sockets = new Set<Duplex>();
  server.on('secureConnection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new CapstanError('CAP_LISTEN_FAILED', `cannot listen on ${host}:${options.port}: ${errorMessage(cause)}`, {
          hint: 'another node may run on this computer: give this one another --data-dir and --name',
          cause,
        }),
      ),
    );
    server.listen(options.port, host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

const textType = { 'content-type': 'text/plain' };
const conversations: ReadonlySet<string> = new Set(['exec', 'attach', 'portForward']);

function refuse(response: ServerResponse, error: unknown): void {
  response.writeHead(error instanceof ApiStatusError ? error.code : 500, textType).end(`${errorMessage(error)}\n`);
}

function parse(url: string): Asked | undefined {
  const { pathname, searchParams: query } = new URL(url, 'https://kubelet');
  const [what = '', namespace = '', name = '', ...rest] = pathname.split('/').slice(1).map(decoded);
  if (what !== 'healthz' && (namespace === '' || name === '' || rest.length > 2)) return undefined;
  const hasContainer = what !== 'portForward';
  const container = hasContainer ? (rest.at(-1) ?? '') : '';
  const uid = hasContainer && rest.length < 2 ? undefined : rest[0];
  return { what, namespace, name, uid, container, query };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw statusError.badRequest(`the path has "${part}" in it, which is no text`);
  }
}

/** API servers use other stream parameters towards kubelets than clients use towards API servers. */
function streamsByName(query: URLSearchParams): URLSearchParams {
  const named = new URLSearchParams();
  for (const [key, value] of query) named.append(kubeletStreams[key] ?? key, value);
  return named;
}

const kubeletStreams: Readonly<Record<string, string>> = { input: 'stdin', output: 'stdout', error: 'stderr' };

function portsOf(query: URLSearchParams): number[] {
  return [...query.getAll('port'), ...query.getAll('ports')]
    .flatMap((list) => list.split(','))
    .map(Number)
    .filter((port) => Number.isInteger(port) && port >= 1 && port <= 65_535);
}
