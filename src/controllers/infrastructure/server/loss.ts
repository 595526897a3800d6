import { createHash } from 'node:crypto';
import { trimTrailing } from '../../../machinery/index.ts';
import type { Server } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { notReady } from '../common/conditions.ts';
import { attempt } from '../common/outcomes.ts';
import { instanceGoneReason, instanceNotFoundReason, instanceReadyCondition } from './conditions.ts';
import { judge, type ServerScope, updateStatus } from './scope.ts';

/**
 * Annotation of an OpenStackServer: the project where its server was last seen. A 404 through credentials for another
 * project proves nothing.
 */
const placeAnnotation = 'infrastructure.cluster.x-k8s.io/server-seen-in';

/** Time between the first and the last lookup of a missing server; longer than a restart of Nova's API. */
const confirmMs = 60_000;

/** Recheck interval: the cloud's operator may restore a server that counts as gone. */
const recheckMs = 600_000;

function placeOf({ openstack, region, projectId }: CloudAccess): string {
  const { authUrl } = openstack.config;
  const text = JSON.stringify([trimTrailing(authUrl, '/'), region ?? '', projectId]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Annotation of a new server object with the project where its server is going to be. */
export const placeIn = (cloud: CloudAccess): Record<string, string> => ({ [placeAnnotation]: placeOf(cloud) });

/** Records the project of the server. */
export function notePlace(scope: ServerScope): void {
  const { metadata } = scope.server;
  const place = placeOf(scope.cloud);
  delete scope.memory.missedSince;
  if (metadata.annotations?.[placeAnnotation] === place) return;
  metadata.annotations = { ...metadata.annotations, [placeAnnotation]: place };
}

/**
 * Handles a server missing from the lists. It counts as permanently gone, which replaces its machine, only if it was
 * seen in this project before and Nova answered 404 twice, a minute apart. Returns the server if Nova still has it.
 */
export async function missServer(scope: ServerScope, id: string): Promise<Server | Result> {
  const { server, cloud, context, memory } = scope;
  const name = `Server ${server.metadata.name} (${id})`;
  const noted = server.metadata.annotations?.[placeAnnotation];
  if (noted !== undefined && noted !== placeOf(cloud)) {
    const message = `${name} is not in project ${cloud.projectId} of cloud "${cloud.cloudName}", where the credentials lead now; it was made in another project, region or cloud: correct ${cloud.source} or spec.identityRef`;
    judge(scope, instanceReadyCondition, notReady(instanceNotFoundReason, message));
    updateStatus(server, { ready: false, instanceState: 'UNKNOWN' });
    return after(confirmMs, message);
  }
  const found = await attempt(`${name} cannot be looked for`, instanceNotFoundReason, () =>
    cloud.view.readAnew('server', id, context.signal),
  );
  if (found) return found;
  const now = context.clock.now();
  memory.missedSince ??= now;
  const left = memory.missedSince + confirmMs - now;
  const isProven = noted !== undefined && left <= 0;
  const gone = `${name} does not exist any more: it was deleted outside of this program`;
  const message = isProven
    ? gone
    : noted === undefined
      ? `${gone}; delete the machine to have it replaced`
      : `${gone}; it is looked for once more before it is given up`;
  if (server.status?.instanceState !== 'DELETED')
    context.log.warn('Server is gone', { server: server.metadata.name, id });
  judge(scope, instanceReadyCondition, notReady(isProven ? instanceGoneReason : instanceNotFoundReason, message));
  updateStatus(server, { ready: false, instanceState: 'DELETED' });
  return after(isProven || noted === undefined ? recheckMs : left, message);
}
