import type { Duplex } from 'node:stream';
import type { Client } from '../../../client/index.ts';
import { fencedClient } from '../../../runtime/index.ts';
import type { ConnectWorkload } from './types.ts';

type Permit = () => void;

/** Wraps workload connections so that writes need a permit, both to the API and through port-forwards. */
export function permittedWorkloads(connect: ConnectWorkload, permit: Permit): ConnectWorkload {
  return async (kubeconfig, cluster) => {
    const api = await connect(kubeconfig, cluster);
    let inner: Client | undefined;
    let fenced: Client | undefined;
    return {
      get client() {
        // the client may change during use
        if (!fenced || inner !== api.client) {
          inner = api.client;
          fenced = fencedClient(inner, { check: permit });
        }
        return fenced;
      },
      probe: (signal) => api.probe(signal),
      portForward: async (pod, port, signal) => permittedStream(await api.portForward(pod, port, signal), permit),
      close: () => api.close(),
    };
  };
}

/** Wraps a stream; it is destroyed on a write without a permit. */
export function permittedStream(stream: Duplex, permit: Permit): Duplex {
  const write = stream.write.bind(stream) as (...all: unknown[]) => boolean;
  stream.write = (...all: unknown[]): boolean => {
    try {
      permit();
    } catch (refusal) {
      stream.destroy(refusal as Error);
      return false;
    }
    return write(...all);
  };
  return stream;
}
