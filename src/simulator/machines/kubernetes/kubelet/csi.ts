import { type CsiNode, CsiNodes, Nodes, type PersistentVolume, VolumeAttachments } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { asJson, deepEqual, isNotFound, must } from '../../../../machinery/index.ts';
import { attachmentName } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';

const writes = { fieldManager: 'kubelet' };
const zoneTopology = 'topology.cinder.csi.openstack.org/zone';
const registered = /\/([^/]+)-reg\.sock$/;
/** attach limit of volumes: nova's maximum minus the server's own disks, the driver's default */
const attachLimit = 256;

/** Directory of volume contents, independent of the node. */
export const volumeRoot = '/capstan.dev/volumes/';

/** Returns the drivers with a socket in the kubelet's directory. */
export function registeredDrivers({ disk }: RunningMachine, root: string): string[] {
  return disk
    .list(`${root}/plugins_registry/`)
    .map((path) => registered.exec(path)?.[1])
    .filter((name) => name !== undefined);
}

/** Writes the CSINode, which tells the attacher and the scheduler about the drivers of a node. */
export async function writeCsiNode(
  client: Client,
  machine: RunningMachine,
  name: string,
  drivers: readonly string[],
): Promise<void> {
  const desired: CsiNode['spec'] = {
    drivers: drivers.map((driver) => ({
      name: driver,
      nodeID: machine.server.id,
      topologyKeys: [zoneTopology],
      allocatable: { count: attachLimit },
    })),
  };
  const labels = { [zoneTopology]: drivers.length > 0 ? machine.server.availabilityZone : null };
  await client.patch(Nodes, { name }, 'merge', { metadata: { labels } }, writes);
  try {
    const before = await client.get(CsiNodes, { name });
    if (deepEqual(asJson(before.spec ?? {}), asJson(desired))) return;
    await client.patch(CsiNodes, { name }, 'merge', { spec: asJson(desired) }, writes);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const node = await client.get(Nodes, { name });
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: must(node.metadata.uid, 'metadata.uid') };
    const csiNode: CsiNode = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'CSINode',
      metadata: { name, ownerReferences: [owner] },
      spec: desired,
    };
    await client.create(CsiNodes, csiNode, writes);
  }
}

/**
 * Returns the directory of a volume once its driver is registered and it is attached. Throws the kubelet's message
 * while it waits.
 */
export async function csiDirectory(
  client: Client,
  nodeName: string,
  drivers: readonly string[],
  volume: PersistentVolume,
): Promise<string> {
  const { driver = '', volumeHandle = '' } = volume.spec.csi ?? {};
  if (!drivers.includes(driver)) {
    throw new Error(
      `kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ${driver} not found in the list of registered CSI drivers`,
    );
  }
  const name = attachmentName(volume, nodeName);
  const attachment = await client.get(VolumeAttachments, { name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const { attached, attachError } = attachment?.status ?? {};
  if (attached !== true) {
    const reason = attachError?.message ?? `volume attachment ${name} is not attached yet`;
    throw new Error(`AttachVolume.Attach failed for volume "${volume.metadata.name}" : ${reason}`);
  }
  return `host${volumeRoot}${volumeHandle}`;
}
