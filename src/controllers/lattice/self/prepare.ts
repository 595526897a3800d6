import { type Deployment, Deployments, type LatticeCluster } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { errorMessage, ignoreNotFound } from '../../../machinery/index.ts';
import { after, type ReconcileContext, type Result } from '../../../runtime/index.ts';
import { setVerdict } from '../../shared/index.ts';
import { latticeConditions as types } from '../conditions.ts';
import type { LatticeDependencies, SelfManagement } from '../dependencies.ts';
import { imageAnnotation } from './names.ts';
import { setStage } from './stage.ts';
import { talkTo } from './talk.ts';

/** Retry delay while a controller starts, which takes seconds. */
const startMs = 5_000;
const failureMs = 30_000;

/**
 * Installs the controllers in a cluster that is to manage itself, and records the start of the handover. Until they
 * run, the cluster stays here and keeps its readiness.
 */
export async function preparePivot(
  context: ReconcileContext,
  draft: LatticeCluster,
  { self }: LatticeDependencies,
): Promise<Result | undefined> {
  if (self === undefined) return undefined;
  const say = (reason: string, message: string): void =>
    setVerdict(draft, types.selfManaged, { status: 'False', reason, message }, context.clock.now());
  try {
    const child = await self.access.client(context, draft);
    if (child === undefined) return undefined;
    const deployment = await installed(context, child, draft, self);
    if ((deployment?.status?.availableReplicas ?? 0) === 0) {
      const { namespace, name } = self.installer.deployment;
      say(
        'WaitingForControllers',
        `Deployment ${namespace}/${name} in the cluster has no available replica${whyOf(deployment)}; its image is ${imageOf(deployment)}, and ${imageAnnotation} on the LatticeCluster names another`,
      );
      return after(startMs, 'the controllers in the cluster start');
    }
    await talkTo(context, draft, child, self);
    await self.access.keep(context, draft, context.client);
    setStage(draft, 'pivoting');
    draft.status = { ...draft.status, phase: 'Pivoting', message: 'the cluster takes over its own objects' };
    say('Pivoting', 'the cluster takes over its own objects');
    return after(0, 'the cluster is handed over');
  } catch (error) {
    if (context.signal.aborted) throw error;
    say('NotInstalled', errorMessage(error));
    return after(failureMs, 'the controllers are installed again');
  }
}

async function installed(
  { signal }: ReconcileContext,
  child: Client,
  draft: LatticeCluster,
  { installer }: SelfManagement,
): Promise<Deployment | undefined> {
  const find = (): Promise<Deployment | undefined> =>
    child.get(Deployments, installer.deployment, { signal }).catch(ignoreNotFound);
  const found = await find();
  const image = draft.metadata.annotations?.[imageAnnotation];
  const isOther = image !== undefined && found !== undefined && imageOf(found) !== image;
  if (found !== undefined && !isOther && draft.status?.bootstrapComplete === true) return found;
  await installer.install(child, { ...(image !== undefined && { image }), signal });
  draft.status = { ...draft.status, bootstrapComplete: true };
  return await find();
}

const imageOf = (deployment: Deployment | undefined): string =>
  deployment?.spec?.template?.spec?.containers[0]?.image ?? 'not known';

function whyOf(deployment: Deployment | undefined): string {
  const message = deployment?.status?.conditions?.find(
    ({ type, status }) => type === 'Available' && status === 'False',
  )?.message;
  return message ? `: ${message}` : '';
}
