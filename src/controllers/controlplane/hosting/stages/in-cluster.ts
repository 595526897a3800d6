import { createHash } from 'node:crypto';
import type { Client } from '../../../../client/index.ts';
import { workloadObjects } from '../../../../hosting/index.ts';
import { explain, isNotConnected } from '../../../shared/index.ts';
import { keepInCluster } from '../in-cluster.ts';
import { bad, good, lookAgain, type PlaneScope, tell } from '../scope.ts';

/** Nobody tells of changes inside a workload cluster: once in a while it is looked at. */
const lookAgainMs = 30 * 60_000;
const retryMs = 5_000;

/** The way into the workload cluster; throws WorkloadNotConnectedError. */
export function workloadClient({ request, dependencies, wish }: PlaneScope): Client {
  if (request.workload) return request.workload();
  return dependencies.workloads.client({ namespace: wish.identity.namespace, name: wish.identity.clusterName });
}

/** Whether the API answers. The connection is kept by others and wakes us when that changes. */
export function judgeFunction(scope: PlaneScope): 'stop' | undefined {
  const { wish } = scope;
  if (wish.replicas === 0) {
    tell(scope, 'functional', bad('Hibernated', 'the control plane sleeps; give it replicas to wake it'));
    return 'stop';
  }
  // a connection that answered before the last of them went away does not know yet
  if (scope.controlPlane?.counts.ready === 0) {
    tell(scope, 'functional', bad('NotAnswering', 'no replica of the API server is ready'));
    return 'stop';
  }
  try {
    workloadClient(scope);
    scope.isFunctional = true;
    tell(scope, 'functional', good('Answering'));
    return undefined;
  } catch (error) {
    if (!isNotConnected(error)) throw error;
    tell(scope, 'functional', bad('NotAnswering', explain(error)));
    return 'stop';
  }
}

/** What the workload cluster must contain: made once or kept, by the rules of each object. */
export async function keepParts(scope: PlaneScope): Promise<undefined> {
  const { wish, memory, request } = scope;
  const { clock, signal, log } = request.context;
  const wishes = workloadObjects(wish, scope.facts);
  if (wishes.length === 0) {
    scope.isInClusterSettled = true;
    return;
  }
  const text = createHash('sha256').update(JSON.stringify(wishes)).digest('base64');
  const known = memory.inCluster;
  const now = clock.now();
  if (known?.wish !== text || now - known.at >= lookAgainMs) {
    try {
      const client = workloadClient(scope);
      const writes = await keepInCluster({ client, fieldManager: wish.naming.fieldManager, signal }, wishes);
      if (writes > 0) log.info('Parts of the workload cluster written', { writes });
      memory.inCluster = { wish: text, at: now };
    } catch (error) {
      if (signal.aborted) throw error;
      // the plane itself is well: what is inside is tried again by itself, without shouting
      tell(scope, 'inCluster', bad('NotWritten', explain(error)));
      lookAgain(scope, retryMs, 'parts of the workload cluster could not be written');
      return;
    }
  }
  scope.isInClusterSettled = true;
  tell(scope, 'inCluster', good('Available'));
  lookAgain(scope, lookAgainMs - (now - (memory.inCluster?.at ?? now)), 'next look into the workload cluster');
}
