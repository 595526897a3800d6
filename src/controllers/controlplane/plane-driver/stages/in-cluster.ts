import { createHash } from 'node:crypto';
import { Ingresses } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { type WorkloadObject, workloadObjects } from '../../../../hosting/index.ts';
import { explain, isNotConnected } from '../../../shared/index.ts';
import { reconcileInCluster } from '../in-cluster.ts';
import { bad, good, type PlaneScope, requeueAfter, setStage } from '../scope.ts';
import type { PlaneStage } from '../types.ts';

/** Recheck interval of objects in the workload cluster, which are not watched. */
const recheckMs = 30 * 60_000;
const retryMs = 5_000;
const gatewayDoubtMs = 30_000;

/** Returns a client of the workload cluster; throws WorkloadNotConnectedError. */
export function workloadClient({ request, dependencies, desired }: PlaneScope): Client {
  if (request.workload) return request.workload();
  return dependencies.workloads.client({ namespace: desired.identity.namespace, name: desired.identity.clusterName });
}

/** Judges whether the API answers. The shared connection triggers a reconcile when that changes. */
export function judgeFunction(scope: PlaneScope): 'stop' | undefined {
  const { desired } = scope;
  if (desired.replicas === 0) {
    setStage(scope, 'functional', bad('Hibernated', 'the control plane hibernates; set replicas to start it again'));
    return 'stop';
  }
  // the last successful probe may predate the loss of all replicas
  if (scope.controlPlane?.counts.ready === 0) {
    setStage(scope, 'functional', bad('NotAnswering', 'no replica of the API server is ready'));
    return 'stop';
  }
  try {
    workloadClient(scope);
    scope.isFunctional = true;
    setStage(scope, 'functional', good('Answering'));
    return undefined;
  } catch (error) {
    if (!isNotConnected(error)) throw error;
    setStage(scope, 'functional', bad('NotAnswering', `${explain(error)}${whyNoWay(scope)}`));
    doubtGateway(scope);
    return 'stop';
  }
}

/** Discards cached Gateway facts, because the Gateway may have become the reason. */
function doubtGateway(scope: PlaneScope): void {
  if (!scope.memory.gateway) return;
  delete scope.memory.gateway;
  requeueAfter(scope, gatewayDoubtMs, 'the Gateway may have gone');
}

/** Explains why the API is unreachable. For an Ingress: nothing reports that no controller serves its class. */
function whyNoWay({ desired, request }: PlaneScope): string {
  const { naming, identity, exposure } = desired;
  if (exposure.ingress?.deploy !== true) return '';
  const key = { namespace: identity.namespace, name: naming.ingress };
  const ingress = request.context.cache.lister(Ingresses).get(key);
  if (!ingress || (ingress.status?.loadBalancer?.ingress?.length ?? 0) > 0) return '';
  const ofClass = exposure.ingress.className ? ` of class ${exposure.ingress.className}` : '';
  return `; Ingress ${naming.ingress}${ofClass} has no address: is there an ingress controller that serves it (kubectl get ingressclasses) and passes TLS on?`;
}

/** Ensures the objects that the workload cluster must contain, each created once or kept in sync. */
export async function reconcileParts(scope: PlaneScope): Promise<undefined> {
  const specs = workloadObjects(scope.desired, scope.facts);
  scope.isInClusterSettled = specs.length === 0 || (await reconcileInside(scope, 'inCluster', specs));
}

/** Ensures objects in the workload cluster and reports the stage; returns whether they are as desired. */
export async function reconcileInside(
  scope: PlaneScope,
  stage: PlaneStage,
  specs: readonly WorkloadObject[],
): Promise<boolean> {
  const { desired, memory, request } = scope;
  const { clock, signal, log } = request.context;
  const text = createHash('sha256').update(JSON.stringify(specs)).digest('base64');
  const now = clock.now();
  let seen = memory.inCluster.get(stage);
  if (seen?.desired !== text || now - seen.at >= recheckMs) {
    try {
      const client = workloadClient(scope);
      const writes = await reconcileInCluster({ client, fieldManager: desired.naming.fieldManager, signal }, specs);
      if (writes > 0) log.info('Parts of the workload cluster written', { writes });
      seen = { desired: text, at: now };
      memory.inCluster.set(stage, seen);
    } catch (error) {
      if (signal.aborted) throw error;
      // the plane itself is healthy, so retry without an error
      setStage(scope, stage, bad('NotWritten', explain(error)));
      requeueAfter(scope, retryMs, 'parts of the workload cluster could not be written');
      return false;
    }
  }
  setStage(scope, stage, good('Available'));
  requeueAfter(scope, recheckMs - (now - seen.at), 'next look into the workload cluster');
  return true;
}
