import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AgentDials, CellPlace } from '../../controllers/index.ts';
import { parseListenAddress } from '../management-api.ts';

export interface EndpointFlags {
  readonly bootstrapListen: string;
  readonly agentListen: string;
  /** what clusters dial */
  readonly latticeHost?: string;
}

/** Where clusters dial in; undefined where one of the two addresses is 0: clusters are dialled then. */
export function cellPlace(
  { bootstrapListen, agentListen, latticeHost }: EndpointFlags,
  more: Pick<CellPlace, 'podAddress' | 'onListening'> = {},
): CellPlace | undefined {
  if (bootstrapListen === '0' || agentListen === '0') return undefined;
  return {
    bootstrap: parseListenAddress(bootstrapListen, '--bootstrap-listen'),
    agents: parseListenAddress(agentListen, '--agent-listen'),
    ...(latticeHost !== undefined && { host: latticeHost }),
    ...more,
  };
}

/** A socket, once it is connected. */
export function socketTo(host: string, port: number, signal?: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ...(signal && { signal }) });
    socket.setKeepAlive(true, 30_000);
    socket.once('error', reject).once('connect', () => {
      socket.off('error', reject).on('error', () => {});
      resolve(socket);
    });
  });
}

/** For controllers in the cluster itself, or beside it: the API they use, and any parent it names. */
export function agentDials(server: string): AgentDials {
  const { hostname, port, protocol } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    parent: socketTo,
    api: () => socketTo(host, Number(port || (protocol === 'http:' ? 80 : 443))),
  };
}
