import type { ResolvedPort } from '../../../api/index.ts';
import { collect, isOpenStackError, type Port, type Trunk } from '../../../openstack/index.ts';
import { attempt } from '../common/outcomes.ts';
import { instanceDeleteFailedReason, portCreateFailedReason } from './conditions.ts';
import type { ServerScope } from './scope.ts';
import { sameTags } from './tags.ts';

/** Ensures the trunk of a port, with the port's name, description and tags. */
export async function ensureTrunk(
  scope: ServerScope,
  wanted: ResolvedPort,
  port: Port,
  isFirst: boolean,
): Promise<void> {
  const { trunks } = scope.cloud.openstack.network;
  const { signal } = scope.context;
  const { name, description, tags = [] } = wanted;
  await attempt(`Trunk ${name} cannot be created`, portCreateFailedReason, async () => {
    const trunk =
      (isFirst ? undefined : await trunkOf(scope, port.id)) ??
      (await trunks.create({ portId: port.id, name, description }, { signal }));
    if (tags.length > 0 && !sameTags(tags, trunk.tags)) await trunks.replaceTags(trunk.id, tags, { signal });
  });
}

/** Finds the trunk of a port. A port is parent of at most one trunk, so the trunk of an own port is ours. */
async function trunkOf(scope: ServerScope, portId: string): Promise<Trunk | undefined> {
  const { trunks } = scope.cloud.openstack.network;
  return (await collect(trunks.list({ portId }, { signal: scope.context.signal })))[0];
}

/** Deletes a trunk with its subports; their server is gone. */
export async function deleteTrunk(scope: ServerScope, portId: string): Promise<void> {
  const { trunks, ports } = scope.cloud.openstack.network;
  const { signal } = scope.context;
  await attempt(`The trunk of port ${portId} cannot be deleted`, instanceDeleteFailedReason, async () => {
    let trunk: Trunk | undefined;
    try {
      trunk = await trunkOf(scope, portId);
    } catch (error) {
      // a cloud without the trunk extension has none
      if (isOpenStackError(error, 'notFound')) return;
      throw error;
    }
    if (!trunk) return;
    const subports = trunk.subports.map((subport) => subport.portId);
    if (subports.length > 0) await trunks.removeSubports(trunk.id, subports, { signal });
    await trunks.delete(trunk.id, { signal });
    await Promise.all(subports.map((id) => ports.delete(id, { signal })));
  });
}
