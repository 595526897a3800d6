import {
  type JoinTokenRequest,
  JoinTokenRequests,
  type K0smotronCluster,
  K0smotronClusters,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { clone, ignoreNotFound, isAlreadyExists, parseDuration, parseRfc3339 } from '../../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  type BootstrapToken,
  clusterSecretName,
  createToken,
  ensureFinalizer,
  explain,
  fieldManager,
  isDeleting,
  isFilteredOut,
  isNotConnected,
  k0sTokenPurposes,
  newToken,
  ownerReference,
  revokeToken,
  secretText,
  setVerdict,
  watchFilter,
  withOwner,
  withoutFinalizer,
  writeObject,
} from '../../shared/index.ts';
import type { Outcome, ProviderDependencies } from '../plane-reconcile.ts';
import { joinTokenFrom, tokenInside } from './join-token.ts';
import { joinTokenFinalizer } from './names.ts';
import type { PlaneClients } from './plane-clients.ts';

const defaultConcurrency = 5;
const retryMs = 10_000;
/** how long the deletion of a request waits for an unreachable cluster */
const patienceMs = 5 * 60_000;
const byPlane = 'join-token-requests-by-plane';
const condition = 'JoinTokenSecretCreated';
const tokenKey = 'token';

/**
 * Builds the controller of JoinTokenRequests, each of which creates a Secret with a join token for the cluster of a
 * plane.
 */
export function joinTokenRequestController(
  dependencies: ProviderDependencies,
  planes: PlaneClients,
): ControllerDefinition {
  const requestsOf = ({ namespace, name }: ObjectKey): ObjectKey[] =>
    dependencies.cache
      .lister(JoinTokenRequests)
      .byIndex(byPlane, `${namespace ?? ''}/${name}`)
      .map(objectKey);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const original = context.cache.lister(JoinTokenRequests).get(key);
    if (!original || isFilteredOut(original, dependencies.watchFilter)) return done();
    const plane = context.cache.lister(K0smotronClusters).get(planeKey(original));
    if (isDeleting(original)) return remove(context, planes, original, plane);
    if (await ensureFinalizer(context, JoinTokenRequests, original, joinTokenFinalizer)) return done();
    if (original.status?.tokenID) return done();
    const draft = clone(original);
    const { result, error } = await attempt(context, planes, draft, plane);
    await writeObject(context, JoinTokenRequests, original, draft, { observed: false });
    if (error !== undefined) throw error;
    return result;
  };

  return defineController({
    name: 'k0smotron-join-token',
    for: JoinTokenRequests,
    concurrency: dependencies.concurrency ?? defaultConcurrency,
    setup(cache) {
      cache.informer(K0smotronClusters);
      cache.informer(JoinTokenRequests).addIndexer(byPlane, (request) => {
        const { namespace, name } = planeKey(request);
        return [`${namespace ?? ''}/${name}`];
      });
    },
    watches: [
      watchObjects(JoinTokenRequests, { predicates: watchFilter(dependencies.watchFilter) }),
      watchMapped(K0smotronClusters, (plane) => requestsOf(objectKey(plane))),
    ],
    sources: [dependencies.workloads.connectionSource(requestsOf)],
    reconcile,
  });
}

const planeKey = ({ metadata, spec }: JoinTokenRequest): ObjectKey => ({
  namespace: metadata.namespace ?? '',
  name: spec.clusterName,
});

async function attempt(
  context: ReconcileContext,
  planes: PlaneClients,
  draft: JoinTokenRequest,
  plane: K0smotronCluster | undefined,
): Promise<Outcome> {
  const waiting = (reason: string, message: string, result: Result = done()): Outcome => {
    tell(context, draft, plane, reason, message);
    return { result };
  };
  if (!plane) return waiting('ClusterNotFound', `Cluster ${draft.spec.clusterName} does not exist in this namespace`);
  draft.metadata.ownerReferences = [
    ...withOwner(draft.metadata.ownerReferences, ownerReference(plane, K0smotronClusters, { controller: true })),
  ];
  const kubeconfig = secretText(await kubeconfigSecret(context, plane), 'value');
  if (kubeconfig === undefined) return waiting('WaitingForControlPlane', 'the control plane has no kubeconfig yet');
  try {
    await planes.refresh(plane, context);
    const client = planes.client(plane);
    const token = await record(context, draft, kubeconfig);
    if (!token)
      return waiting('InvalidKubeconfig', 'the kubeconfig of the control plane names no server and authority');
    const lifeMs = parseDuration(draft.spec.expiry ?? '0s') ?? 0;
    const expiresMs = lifeMs > 0 ? context.clock.now() + lifeMs : undefined;
    const purpose = k0sTokenPurposes[draft.spec.role ?? 'worker'];
    await createToken({ client, purpose, signal: context.signal }, token, expiresMs);
    draft.status = { ...draft.status, tokenID: token.id };
    tell(context, draft, plane, 'Created');
    return { result: done() };
  } catch (error) {
    if (isNotConnected(error)) {
      return waiting('WaitingForControlPlane', explain(error), after(retryMs, 'the API of the cluster'));
    }
    tell(context, draft, plane, 'InternalError', explain(error));
    return { result: done(), error };
  }
}

function tell(
  { clock }: ReconcileContext,
  draft: JoinTokenRequest,
  plane: K0smotronCluster | undefined,
  reason: string,
  message?: string,
): void {
  const isDone = message === undefined;
  draft.status = {
    ...draft.status,
    deprecated: {
      v1beta1: {
        reconciliationStatus: message ?? 'Reconciliation successful',
        ...(plane?.metadata.uid !== undefined && { clusterUID: plane.metadata.uid }),
      },
    },
  };
  setVerdict(draft, condition, { status: isDone ? 'True' : 'False', reason, message: message ?? '' }, clock.now());
}

function kubeconfigSecret(
  { client, signal }: ReconcileContext,
  { metadata }: K0smotronCluster,
): Promise<Secret | undefined> {
  const { name = '', namespace = '' } = metadata;
  return client
    .get(Secrets, { namespace, name: clusterSecretName(name, 'kubeconfig') }, { signal })
    .catch(ignoreNotFound);
}

/** Stores the token in its Secret before it is created in the cluster, so that a retry after a crash reuses it. */
async function record(
  { client, random, signal }: ReconcileContext,
  request: JoinTokenRequest,
  kubeconfig: string,
): Promise<BootstrapToken | undefined> {
  const { name = '', namespace = '', labels, annotations } = request.metadata;
  const { role = 'worker', clusterName } = request.spec;
  const find = async (): Promise<BootstrapToken | undefined> => {
    const found = await client.get(Secrets, { namespace, name }, { signal }).catch(ignoreNotFound);
    return tokenInside(secretText(found, tokenKey) ?? '');
  };
  const known = await find();
  if (known) return known;
  const token = newToken(random);
  const text = joinTokenFrom(kubeconfig, role, token);
  if (text === undefined) return undefined;
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: {
        ...labels,
        'k0smotron.io/cluster': clusterName,
        'k0smotron.io/role': role,
        'k0smotron.io/token-request': name,
        'app.kubernetes.io/component': 'jointoken',
      },
      ...(annotations && { annotations }),
      ownerReferences: [ownerReference(request, JoinTokenRequests, { controller: true })],
    },
    data: { [tokenKey]: Buffer.from(text).toString('base64') },
  };
  try {
    await client.create(Secrets, secret, { fieldManager, signal });
    return token;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return find();
  }
}

/** Revokes the token, unless the cluster is gone. */
async function remove(
  context: ReconcileContext,
  planes: PlaneClients,
  request: JoinTokenRequest,
  plane: K0smotronCluster | undefined,
): Promise<Result> {
  const { tokenID } = request.status ?? {};
  if (plane && !isDeleting(plane) && tokenID) {
    try {
      await planes.refresh(plane, context);
      await revokeToken({ client: planes.client(plane), signal: context.signal }, tokenID);
    } catch (error) {
      if (context.signal.aborted) throw error;
      const since = parseRfc3339(request.metadata.deletionTimestamp ?? '') ?? 0;
      if (context.clock.now() - since < patienceMs) return after(retryMs, 'the API of the cluster');
      const message = `Token ${tokenID} could not be taken back and stays good until it expires: ${explain(error)}`;
      context.events.event(request, 'Warning', 'TokenNotRevoked', message);
    }
  }
  const draft = clone(request);
  draft.metadata.finalizers = withoutFinalizer(draft.metadata.finalizers, joinTokenFinalizer);
  await writeObject(context, JoinTokenRequests, request, draft, { observed: false });
  return done();
}
