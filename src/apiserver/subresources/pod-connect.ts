import type { Duplex } from 'node:stream';
import { statusError, type UnstructuredObject } from '../../machinery/index.ts';
import type { UpgradeOffer } from '../http/wire.ts';
import { getRecord } from '../service/reads.ts';
import { type PodAttacher, type PodExecutor, type RunSession, readSessionSpec } from './pod-exec.ts';
import { checkNodeExists, chooseContainer, nodeOf } from './pod-location.ts';
import { portForwardProtocols, servePortForward } from './port-forward-channels.ts';
import { portForwardSpdyProtocol, servePortForwardStreams } from './port-forward-spdy.ts';
import { serveSessionChannels, sessionProtocols } from './session-channels.ts';
import { serveSessionStreams, sessionSpdyProtocol } from './session-spdy.ts';
import type { SubresourceHandler, SubresourceRequest } from './types.ts';

/**
 * Whoever runs the Pods connects to them: answers a stream to a port of a Pod. Rejects with the reason, in the words of
 * a kubelet, when the Pod cannot be reached or nothing listens there.
 */
export type PodConnector = (pod: UnstructuredObject, port: number) => Promise<Duplex>;

/** pods/x/exec: a command run in one container. */
export function podExecHandler(execute: PodExecutor | undefined): SubresourceHandler {
  return async (request) => {
    const command = request.query.getAll('command');
    const { pod, node, container } = await locateContainer(request);
    if (!execute) throw noKubelet(node);
    const check = (): void => {
      if (command.length === 0) throw statusError.badRequest('you must specify at least 1 command for the container');
    };
    return {
      type: 'conversation',
      offers: sessionOffers(request.query, check, (session) => execute(pod, { ...session, container, command })),
    };
  };
}

/** pods/x/attach: what one container says from now on. */
export function podAttachHandler(attach: PodAttacher | undefined): SubresourceHandler {
  return async (request) => {
    const { pod, node, container } = await locateContainer(request);
    if (!attach) throw noKubelet(node);
    return {
      type: 'conversation',
      offers: attachOffers(request.query, (session) => attach(pod, { ...session, container })),
    };
  };
}

async function locateContainer(
  request: SubresourceRequest,
): Promise<{ pod: UnstructuredObject; node: string; container: string }> {
  let container = '';
  const located = await locate(request, (pod) => {
    container = chooseContainer(pod, request.query.get('container') ?? '');
  });
  return { ...located, container };
}

/** Ways to talk to what runs in a container, for a query that names streams as the API does. */
export function sessionOffers(query: URLSearchParams, checkRest: () => void, run: RunSession): UpgradeOffer[] {
  const desired = readSessionSpec(query);
  const check = (): void => {
    if (!desired.stdin && !desired.stdout && !desired.stderr) {
      throw statusError.badRequest('you must specify at least 1 of stdin, stdout, stderr');
    }
    checkRest();
  };
  return [
    ...sessionProtocols.map(
      (protocol): UpgradeOffer => ({
        over: 'websocket',
        protocol,
        check,
        serve: (socket) => serveSessionChannels(socket, desired, run, protocol),
      }),
    ),
    {
      over: 'spdy',
      protocol: sessionSpdyProtocol,
      check,
      serve: (connection) => serveSessionStreams(connection, desired, run),
    },
  ];
}

export function attachOffers(
  query: URLSearchParams,
  attach: (session: Parameters<RunSession>[0]) => Promise<void>,
): UpgradeOffer[] {
  return sessionOffers(
    query,
    () => {},
    async (session) => {
      await attach(session);
      return 0;
    },
  );
}

/** Ways to ports of a Pod; `ports` are those that were named beforehand, as WebSocket needs them. */
export function portForwardOffers(
  ports: readonly number[],
  connectPort: (port: number) => Promise<Duplex>,
): UpgradeOffer[] {
  return [
    {
      over: 'spdy',
      protocol: portForwardSpdyProtocol,
      serve: (connection) => servePortForwardStreams(connection, connectPort),
    },
    ...portForwardProtocols.map(
      (protocol): UpgradeOffer => ({
        over: 'websocket',
        protocol,
        check: () => {
          if (ports.length === 0) throw statusError.badRequest('query parameter "ports" is required');
        },
        serve: (socket) => servePortForward(socket, ports, connectPort),
      }),
    ),
  ];
}

/** pods/x/portforward: streams to ports of the pod. */
export function podPortForwardHandler(connect: PodConnector | undefined): SubresourceHandler {
  return async (request) => {
    const asked = request.query.getAll('ports').flatMap((list) => list.split(','));
    const { pod, node } = await locate(request, () => {
      const odd = asked.find((port) => !/^\d+$/.test(port));
      if (odd === undefined) return;
      throw statusError.badRequest(
        `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(odd)}: invalid syntax`,
      );
    });
    if (!connect) throw noKubelet(node);
    const ports = asked.map(Number);
    const outside = ports.find((port) => port < 1 || port > 65_535);
    if (outside !== undefined) throw statusError.badRequest(`port ${outside} must be between 1 and 65535`);
    return { type: 'conversation', offers: portForwardOffers(ports, (port) => connect(pod, port)) };
  };
}

/** The pod and its node, or the reason kube-apiserver gives why there is none to connect to. */
async function locate(
  { context, target, caller }: SubresourceRequest,
  check: (pod: UnstructuredObject) => void,
): Promise<{ pod: UnstructuredObject; node: string }> {
  const pod = await target.resource.fromRecord(await getRecord(context, target, caller, {}));
  check(pod);
  const node = nodeOf(pod);
  if (node === '') throw statusError.badRequest(`pod ${target.name} does not have a host assigned`);
  checkNodeExists(context, node);
  return { pod, node };
}

/** Streams end at a kubelet. Without one there is nothing to connect to. */
function noKubelet(node: string): Error {
  return statusError.serviceUnavailable(`this server cannot reach the kubelet of node ${node}`);
}
