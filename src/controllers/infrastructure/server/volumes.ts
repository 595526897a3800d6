import { must } from '../../../machinery/index.ts';
import { collect, type Volume } from '../../../openstack/index.ts';
import { ownerMetadataKey } from '../common/names.ts';
import { attempt, CloudFault } from '../common/outcomes.ts';
import { Awaited, instanceCreateFailedReason, instanceDeleteFailedReason } from './conditions.ts';
import { type DesiredVolume, desiredVolumes } from './desired.ts';
import type { ServerScope } from './scope.ts';

/** Ensures the volumes of the server. Returns their ids by device name once all are usable. */
export async function ensureVolumes(scope: ServerScope): Promise<ReadonlyMap<string, string>> {
  const wanted = wantedVolumes(scope);
  const isFirst = scope.memory.untried.delete('volumes');
  const ready = new Map<string, string>();
  if (wanted.length === 0) return ready;
  const known = isFirst ? new Map<string, Volume>() : await knownVolumes(scope, wanted);
  const volumes = await Promise.all(
    wanted.map(async (volume) => known.get(volume.name) ?? (await createVolume(scope, volume))),
  );
  const busy: string[] = [];
  for (const [index, { device, desired }] of wanted.entries()) {
    const volume = must(volumes[index], 'a volume');
    scope.memory.volumes.set(device, volume.id);
    if (volume.size !== desired.size) throw wrongSize(volume, desired.size);
    if (volume.status.startsWith('error')) await replaceBroken(scope, volume, device);
    if (volume.status === 'available') ready.set(device, volume.id);
    else {
      busy.push(`${volume.name} (${volume.status})`);
      scope.follows.push({ type: 'volume', id: volume.id, closely: true });
    }
  }
  if (busy.length > 0) throw new Awaited(`Waiting for volumes to be available: ${busy.join(', ')}`);
  return ready;
}

function wantedVolumes({ server, owner }: ServerScope): DesiredVolume[] {
  const { name = '' } = server.metadata;
  return desiredVolumes(name, server.spec, server.status?.resolved?.imageID ?? '', { [ownerMetadataKey]: owner });
}

/** Returns volumes by name. Those created by this process are observed by id, others are looked up. */
async function knownVolumes(scope: ServerScope, wanted: readonly DesiredVolume[]): Promise<Map<string, Volume>> {
  const { memory, cloud, context } = scope;
  const known = new Map<string, Volume>();
  if (wanted.every(({ device }) => memory.volumes.has(device))) {
    for (const { device, name } of wanted) {
      const volume = await cloud.view.read(
        'volume',
        must(memory.volumes.get(device), 'the id of a volume'),
        context.signal,
      );
      if (volume) known.set(name, volume);
    }
    return known;
  }
  for (const volume of await findVolumes(scope, instanceCreateFailedReason)) known.set(volume.name, volume);
  return known;
}

/** Finds volumes with our mark and one of our names; an object copied with its annotations has the same mark. */
async function findVolumes(scope: ServerScope, reason: string): Promise<Volume[]> {
  const { cloud, context, owner } = scope;
  const mark = { [ownerMetadataKey]: owner };
  const names = new Set(wantedVolumes(scope).map(({ name }) => name));
  const found = await attempt('Volumes cannot be looked for', reason, () =>
    collect(cloud.openstack.volume.volumes.list({ metadata: mark }, { signal: context.signal })),
  );
  const upstreams = scope.isBegunByUpstream ? await findUpstreams(scope, reason) : [];
  return [
    ...found.filter(({ metadata, name }) => metadata[ownerMetadataKey] === owner && names.has(name)),
    ...upstreams,
  ];
}

/** Finds upstream's volumes by name and description. */
async function findUpstreams(scope: ServerScope, reason: string): Promise<Volume[]> {
  const { volumes } = scope.cloud.openstack.volume;
  const { signal } = scope.context;
  const lists = await Promise.all(
    wantedVolumes(scope).map(async ({ name, desired }) => {
      const named = await attempt('Volumes cannot be looked for', reason, () =>
        collect(volumes.list({ name }, { signal })),
      );
      return named.filter(
        ({ metadata, description }) => metadata[ownerMetadataKey] === undefined && description === desired.description,
      );
    }),
  );
  return lists.flat();
}

async function createVolume(scope: ServerScope, { name, desired }: DesiredVolume): Promise<Volume> {
  const { cloud, context, server } = scope;
  const volume = await attempt(`Volume ${name} cannot be created`, instanceCreateFailedReason, () =>
    cloud.openstack.volume.volumes.create(desired, { signal: context.signal }),
  );
  cloud.view.remember('volume', volume);
  context.events.event(server, 'Normal', 'Successfulcreatevolume', `Created volume ${name} with id ${volume.id}`);
  return volume;
}

function wrongSize({ name, id, size }: Volume, wanted: number): CloudFault {
  return new CloudFault(
    instanceCreateFailedReason,
    `Volume ${name} (${id}) has ${size} GiB instead of ${wanted}; delete it, and another will be made`,
  );
}

/** Deletes a volume that Cinder failed to create, which is still empty, so that another is tried. */
async function replaceBroken(scope: ServerScope, volume: Volume, device: string): Promise<never> {
  const { cloud, context, memory } = scope;
  memory.volumes.delete(device);
  cloud.view.forget('volume', volume.id);
  await attempt(`Volume ${volume.name} (${volume.id}) cannot be deleted`, instanceCreateFailedReason, () =>
    cloud.openstack.volume.volumes.delete(volume.id, { signal: context.signal }),
  );
  throw new CloudFault(
    instanceCreateFailedReason,
    `Volume ${volume.name} (${volume.id}) could not be created: cinder put it in state ${volume.status}; another one will be tried, ask the operator of the cloud if this repeats`,
    { retryMs: retryBrokenMs },
  );
}

const retryBrokenMs = 30_000;

/** States in which Cinder accepts a deletion; all others are transient. */
const deletable = /^(available|error)/;

/** Deletes remaining volumes after the server is gone. Returns true when none is left. */
export async function deleteVolumes(scope: ServerScope): Promise<boolean> {
  if (wantedVolumes(scope).length === 0) return true;
  const left = await findVolumes(scope, instanceDeleteFailedReason);
  for (const { id } of left) scope.follows.push({ type: 'volume', id, closely: true });
  await Promise.all(
    left
      .filter(({ status }) => deletable.test(status))
      .map(({ id, name }) =>
        attempt(`Volume ${name} (${id}) cannot be deleted`, instanceDeleteFailedReason, () =>
          scope.cloud.openstack.volume.volumes.delete(id, { signal: scope.context.signal }),
        ),
      ),
  );
  return left.length === 0;
}
