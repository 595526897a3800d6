import { CsiNodes, PersistentVolumes, type VolumeAttachment, VolumeAttachments } from '../../../../api/index.ts';
import { objectKey } from '../../../../client/index.ts';
import { errorMessage, formatTime, ignoreNotFound, type JsonObject } from '../../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  watchMapped,
  watchObjects,
} from '../../../../runtime/index.ts';
import type { SideCarRun } from './side-car.ts';

const fieldManager = 'csi-attacher';

/** Attaches volumes to the servers that VolumeAttachments name, and detaches them on deletion. */
export function attacherControllers(run: SideCarRun): ControllerDefinition[] {
  const finalizer = `external-attacher/${run.driverName.replaceAll('.', '-')}`;
  let waiting: () => readonly VolumeAttachment[] = () => [];
  return [
    defineController({
      name: 'csi-attacher',
      for: VolumeAttachments,
      concurrency: 4,
      setup(cache) {
        const { lister } = cache.informer(VolumeAttachments);
        waiting = () => lister.list({ filter: ({ status }) => status?.attached !== true });
        cache.informer(PersistentVolumes);
      },
      watches: [
        watchObjects(VolumeAttachments),
        // A node plugin that registers late enqueues the attachments of its node.
        watchMapped(CsiNodes, ({ metadata }) =>
          waiting()
            .filter(({ spec }) => spec.nodeName === metadata.name)
            .map(objectKey),
        ),
      ],
      async reconcile(context, key) {
        const attachment = context.cache.lister(VolumeAttachments).get(key);
        if (!attachment || attachment.spec.attacher !== run.driverName) return done();
        if (attachment.metadata.deletionTimestamp === undefined) await attach(run, context, attachment, finalizer);
        else await detach(run, context, attachment, finalizer);
        return done();
      },
    }),
  ];
}

async function attach(
  run: SideCarRun,
  context: ReconcileContext,
  attachment: VolumeAttachment,
  finalizer: string,
): Promise<void> {
  if (attachment.status?.attached === true) return;
  const { client } = context;
  const key = objectKey(attachment);
  const { finalizers = [] } = attachment.metadata;
  if (!finalizers.includes(finalizer)) {
    const metadata = { finalizers: [...finalizers, finalizer] };
    await client.patch(VolumeAttachments, key, 'merge', { metadata }, { fieldManager });
  }
  try {
    const { handle, nodeId } = placeOf(run, context, attachment);
    const device = await run.driver().publish(handle, nodeId);
    await writeStatus(context, attachment, {
      attached: true,
      attachError: null,
      attachmentMetadata: { DevicePath: device },
    });
  } catch (error) {
    if (run.process.signal.aborted) throw error;
    const attachError = { time: formatTime(run.process.clock.now()), message: errorMessage(error) };
    if (attachment.status?.attachError?.message !== attachError.message) {
      await writeStatus(context, attachment, { attached: false, attachError });
    }
    throw error;
  }
}

async function detach(
  run: SideCarRun,
  context: ReconcileContext,
  attachment: VolumeAttachment,
  finalizer: string,
): Promise<void> {
  const { finalizers = [] } = attachment.metadata;
  if (!finalizers.includes(finalizer)) return;
  const volume = context.cache
    .lister(PersistentVolumes)
    .get({ name: attachment.spec.source.persistentVolumeName ?? '' });
  const nodeId = nodeIdOf(run, context, attachment.spec.nodeName);
  // If the node or volume is gone, nothing is attached any more.
  if (volume?.spec.csi && nodeId !== undefined) {
    try {
      await run.driver().unpublish(volume.spec.csi.volumeHandle, nodeId);
    } catch (error) {
      if (run.process.signal.aborted) throw error;
      const detachError = { time: formatTime(run.process.clock.now()), message: errorMessage(error) };
      if (attachment.status?.detachError?.message !== detachError.message) {
        await writeStatus(context, attachment, { attached: attachment.status?.attached ?? false, detachError });
      }
      throw error;
    }
  }
  const rest = finalizers.filter((each) => each !== finalizer);
  const patch = { metadata: { finalizers: rest.length === 0 ? null : rest } };
  await context.client
    .patch(VolumeAttachments, objectKey(attachment), 'merge', patch, { fieldManager })
    .catch(ignoreNotFound);
}

function placeOf(
  run: SideCarRun,
  context: ReconcileContext,
  { spec }: VolumeAttachment,
): { handle: string; nodeId: string } {
  const name = spec.source.persistentVolumeName ?? '';
  const handle = context.cache.lister(PersistentVolumes).get({ name })?.spec.csi?.volumeHandle;
  if (handle === undefined) throw new Error(`persistentvolume "${name}" not found`);
  const nodeId = nodeIdOf(run, context, spec.nodeName);
  if (nodeId === undefined) throw new Error(`CSINode ${spec.nodeName} does not contain driver ${run.driverName}`);
  return { handle, nodeId };
}

function nodeIdOf(run: SideCarRun, { cache }: ReconcileContext, nodeName: string): string | undefined {
  const node = cache.lister(CsiNodes).get({ name: nodeName });
  return node?.spec?.drivers?.find(({ name }) => name === run.driverName)?.nodeID;
}

async function writeStatus(
  { client }: ReconcileContext,
  attachment: VolumeAttachment,
  status: JsonObject,
): Promise<void> {
  const options = { fieldManager, subresource: 'status' as const };
  await client.patch(VolumeAttachments, objectKey(attachment), 'merge', { status }, options);
}
