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
 * Opens a stream to a port of a Pod. Rejects with a kubelet's message if the Pod is unreachable or nothing listens on
 * the port.
 */
export type PodConnector = (pod: UnstructuredObject, port: number) => Promise<Duplex>;

/** pods/x/exec: runs a command in a container. */
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

/** pods/x/attach: streams the further output of a container. */
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

/** Builds the protocols of a session; the query selects streams as in the API. */
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

/** Builds the protocols to forward ports of a Pod; `ports` are given in advance, as the WebSocket protocol requires. */
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

/** pods/x/portforward: opens streams to ports of the pod. */
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

/** Returns the pod and its node, or throws with kube-apiserver's reason if there is none. */
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

/** Builds the error for nodes without a reachable kubelet. */
function noKubelet(node: string): Error {
  return statusError.serviceUnavailable(`this server cannot reach the kubelet of node ${node}`);
}
