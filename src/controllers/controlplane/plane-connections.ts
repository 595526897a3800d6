import { type Client, formatKey, type ObjectKey } from '../../client/index.ts';
import { after, done, type ReconcileContext, type Result } from '../../runtime/index.ts';
import { type ConnectWorkload, explain, type WorkloadApi, WorkloadNotConnectedError } from '../shared/index.ts';

/**
 * Connections to hosted planes that the shared WorkloadClusters do not cover: planes without a Cluster, or with more
 * permissions.
 */
export interface PlaneConnections {
  /** throws WorkloadNotConnectedError */
  client(plane: ObjectKey): Client;
  /** connects with a kubeconfig (base64); resolves with the time of the next probe */
  refresh(plane: ObjectKey, kubeconfig: string | undefined, context: ReconcileContext): Promise<Result>;
  /** whether a connection with this kubeconfig has answered */
  isOpen(plane: ObjectKey, kubeconfig: string | undefined): boolean;
  forget(plane: ObjectKey): void;
}

/** Probe intervals: a starting plane comes up within seconds, a working one is checked rarely. */
const eagerMs = 1_000;
const calmMs = 60_000;
const answerMs = 5_000;

interface Way {
  readonly kubeconfig: string;
  readonly api: WorkloadApi;
  /** time of the last answer; undefined while disconnected */
  answeredMs?: number;
  problem?: string;
}

export function createPlaneConnections(connect: ConnectWorkload): PlaneConnections {
  const ways = new Map<string, Way>();
  const forget = (key: ObjectKey): void => {
    const way = ways.get(formatKey(key));
    if (way) void Promise.resolve(way.api.close()).catch(() => {});
    ways.delete(formatKey(key));
  };
  const wayTo = async (key: ObjectKey, kubeconfig: string): Promise<Way> => {
    const known = ways.get(formatKey(key));
    if (known?.kubeconfig === kubeconfig) return known;
    forget(key);
    const api = await connect(Buffer.from(kubeconfig, 'base64').toString('utf8'), key);
    const way: Way = { kubeconfig, api };
    ways.set(formatKey(key), way);
    return way;
  };
  return {
    client(key) {
      const way = ways.get(formatKey(key));
      if (way?.answeredMs === undefined) throw new WorkloadNotConnectedError(key, way?.problem ?? 'not tried yet');
      return way.api.client;
    },
    async refresh(key, kubeconfig, context) {
      if (kubeconfig === undefined) {
        forget(key);
        return done();
      }
      const now = context.clock.now();
      const way = await wayTo(key, kubeconfig);
      if (way.answeredMs !== undefined && now - way.answeredMs < calmMs) {
        return after(calmMs - (now - way.answeredMs), 'next probe of the workload API');
      }
      try {
        await probe(way.api, context);
        way.answeredMs = now;
        return after(calmMs, 'next probe of the workload API');
      } catch (error) {
        if (context.signal.aborted) throw error;
        delete way.answeredMs;
        way.problem = explain(error);
        return after(eagerMs, 'the workload API does not answer');
      }
    },
    isOpen(key, kubeconfig) {
      const way = ways.get(formatKey(key));
      return way?.answeredMs !== undefined && way.kubeconfig === kubeconfig;
    },
    forget,
  };
}

async function probe(api: WorkloadApi, { clock, signal }: ReconcileContext): Promise<void> {
  const limit = new AbortController();
  const cancel = clock.after(answerMs, () => limit.abort(new Error(`no answer within ${answerMs / 1000} s`)));
  try {
    await api.probe(AbortSignal.any([limit.signal, signal]));
  } finally {
    cancel();
  }
}
