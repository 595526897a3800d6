import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AgentDials, CellPlace } from '../../controllers/index.ts';
import { parseListenAddress } from '../management-api.ts';

export interface EndpointFlags {
  readonly bootstrapListen: string;
  readonly agentListen: string;
  /** address that clusters dial */
  readonly latticeHost?: string;
}

/**
 * Returns the endpoints that clusters dial. Undefined if one of the two addresses is 0; the parent then dials the
 * clusters.
 */
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

/** Dials for controllers in or beside the cluster: the API they use, and every parent that it names. */
export function agentDials(server: string): AgentDials {
  const { hostname, port, protocol } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    parent: socketTo,
    api: () => socketTo(host, Number(port || (protocol === 'http:' ? 80 : 443))),
  };
}
