import { errorMessage, sleep } from '../../../../machinery/index.ts';
import { isNotFound, type OpenStack, type Volume } from '../../../../openstack/index.ts';
import type { SimulatedProcess } from '../../../process.ts';
import { klog } from '../../klog.ts';
import { type CsiDriver, cinderDriver } from './driver.ts';

const gibibyte = 1024 ** 3;
const pollMs = 500;
const patienceMs = 60_000;
const clusterKey = 'cinder.csi.openstack.org/cluster';

/** Cinder volumes, attached by Nova. */
export function cinderVolumes(process: SimulatedProcess, cloud: OpenStack, cluster: string): CsiDriver {
  const { clock, signal } = process;
  const { volumes } = cloud.volume;
  const { servers } = cloud.compute;

  /** Errors are converted to gRPC's form. */
  const call = async <T>(method: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      const message = `rpc error: code = Internal desc = ${method} failed with error ${errorMessage(error)}`;
      klog(process, 'E', 'utils.go:95', `GRPC error: ${message}`);
      throw new Error(message);
    }
  };
  const until = async (id: string, wanted: string): Promise<Volume> => {
    const end = clock.now() + patienceMs;
    for (;;) {
      const volume = await volumes.get(id, { signal });
      if (volume.status === wanted) return volume;
      if (volume.status.startsWith('error')) throw new Error(`volume ${id} is in state ${volume.status}`);
      if (clock.now() > end)
        throw new Error(`timed out waiting for volume ${id} to be ${wanted}, it is ${volume.status}`);
      await sleep(clock, pollMs, signal);
    }
  };
  const found = async (id: string): Promise<Volume | undefined> => {
    try {
      return await volumes.get(id, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const isAttached = (volume: Volume | undefined, serverId: string): boolean =>
    volume?.attachments.some((each) => each.serverId === serverId) ?? false;

  return {
    name: cinderDriver,
    createVolume: ({ name, bytes, parameters, metadata }) =>
      call('CreateVolume', async () => {
        const size = Math.max(1, Math.ceil(bytes / gibibyte));
        const made =
          (await volumes.find(name, undefined, { signal })) ??
          (await volumes.create(
            {
              name,
              size,
              description: 'Created by OpenStack Cinder CSI driver',
              volumeType: parameters['type'],
              availabilityZone: parameters['availability'],
              metadata: { [clusterKey]: cluster, ...metadata },
            },
            { signal },
          ));
        const ready = await until(made.id, made.status === 'in-use' ? 'in-use' : 'available');
        return { handle: ready.id, bytes: ready.size * gibibyte, zone: ready.availabilityZone };
      }),
    deleteVolume: (handle) =>
      call('DeleteVolume', async () => {
        if (!(await volumes.delete(handle, { signal }))) return;
        while (await found(handle)) await sleep(clock, pollMs, signal);
      }),
    publish: (handle, nodeId) =>
      call('ControllerPublishVolume', async () => {
        const before = await volumes.get(handle, { signal });
        if (!isAttached(before, nodeId)) await servers.attachVolume(nodeId, { volumeId: handle }, { signal });
        const volume = await until(handle, 'in-use');
        return volume.attachments.find((each) => each.serverId === nodeId)?.device ?? '';
      }),
    unpublish: (handle, nodeId) =>
      call('ControllerUnpublishVolume', async () => {
        if (!isAttached(await found(handle), nodeId)) return;
        await servers.detachVolume(nodeId, handle, { signal });
        while (isAttached(await found(handle), nodeId)) await sleep(clock, pollMs, signal);
      }),
    expand: (handle, bytes) =>
      call('ControllerExpandVolume', async () => {
        const size = Math.ceil(bytes / gibibyte);
        const before = await volumes.get(handle, { signal });
        if (before.size < size) {
          await volumes.extend(handle, size, { signal });
          await until(handle, before.status === 'in-use' ? 'in-use' : 'available');
        }
        return Math.max(size, before.size) * gibibyte;
      }),
  };
}
