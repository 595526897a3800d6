import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CsiNodes,
  Nodes,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  VolumeAttachments,
} from '../../../api/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';
import { chartObjects } from './testing/chart-objects.ts';
import { type NodeInCloud, nodeInCloud } from './testing/node-in-cloud.ts';

const writes = { fieldManager: 'test' };
const everywhere = [{ operator: 'Exists' }];
let world: NodeInCloud;
beforeAll(async () => {
  world = await nodeInCloud();
  await world.addCredentials();
  const plugin = { controllerPlugin: { tolerations: everywhere } };
  const objects = chartObjects('openstack-cinder-csi', {
    clusterID: 'test',
    secret: { enabled: true, create: false, name: 'cloud-config' },
    csi: { plugin },
  });
  await world.create(...objects);
});
afterAll(() => world.close());

const claim = (name: string, storageClassName: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default' },
    spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }) as KubeObject;
const user = (name: string, claimName: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      tolerations: everywhere,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', image: 'nginx:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  }) as KubeObject;
const stored = (name: string): Promise<PersistentVolumeClaim> =>
  world.client.get(PersistentVolumeClaims, { namespace: 'default', name });
interface CinderVolume {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly status: string;
  readonly metadata: Record<string, string>;
}
const volumes = async (): Promise<CinderVolume[]> =>
  world.tenant.read(await world.tenant.cinder('GET', '/volumes/detail'), 'volumes');
const podPhase = async (name: string): Promise<string | undefined> =>
  (await world.client.list(Pods, { namespace: 'default' })).items.find(({ metadata }) => metadata.name === name)?.status
    ?.phase;

describe('the CSI driver of Cinder', () => {
  it('registers on the node', async () => {
    await world.until('the node plugin is known', async () => {
      const { items } = await world.client.list(CsiNodes);
      return items[0]?.spec?.drivers?.some(({ nodeID }) => nodeID === world.serverId) ?? false;
    });
    const node = await world.client.get(Nodes, { name: 'node-1' });
    expect(node.metadata.labels).toHaveProperty(['topology.cinder.csi.openstack.org/zone'], 'nova');
  });

  it('creates a volume with the marks of its cluster for a claim', async () => {
    await world.create(claim('data', 'csi-cinder-sc-delete'));
    await world.until('the claim is bound', async () => (await stored('data')).status?.phase === 'Bound');
    const { volumeName = '' } = (await stored('data')).spec;
    const [volume] = await volumes();
    expect(volume).toMatchObject({
      name: volumeName,
      size: 1,
      status: 'available',
      metadata: {
        'cinder.csi.openstack.org/cluster': 'test',
        'csi.storage.k8s.io/pvc/name': 'data',
        'csi.storage.k8s.io/pvc/namespace': 'default',
      },
    });
    const { spec } = await world.client.get(PersistentVolumes, { name: volumeName });
    expect(spec.csi).toMatchObject({ driver: 'cinder.csi.openstack.org', volumeHandle: volume?.id, fsType: 'ext4' });
    expect(spec.persistentVolumeReclaimPolicy).toBe('Delete');
  });

  it('attaches the volume to the server of the Pod that uses it and detaches it afterwards', async () => {
    await world.create(user('writer', 'data'));
    await world.until('the Pod runs', async () => (await podPhase('writer')) === 'Running');
    const [attachment] = (await world.client.list(VolumeAttachments)).items;
    expect(attachment).toMatchObject({ spec: { nodeName: 'node-1' }, status: { attached: true } });
    expect((await volumes())[0]?.status).toBe('in-use');
    await world.client.delete(Pods, { namespace: 'default', name: 'writer' });
    await world.until('the volume is free again', async () => (await volumes())[0]?.status === 'available');
    await world.until(
      'nothing is attached',
      async () => (await world.client.list(VolumeAttachments)).items.length === 0,
    );
  });

  it('enlarges the volume when the claim asks for more', async () => {
    const patch = { spec: { resources: { requests: { storage: '3Gi' } } } };
    await world.client.patch(PersistentVolumeClaims, { namespace: 'default', name: 'data' }, 'merge', patch, writes);
    await world.until(
      'the claim has grown',
      async () => (await stored('data')).status?.capacity?.['storage'] === '3Gi',
    );
    expect((await volumes())[0]?.size).toBe(3);
  });

  it('deletes the volume with its claim and keeps one of the other class', async () => {
    await world.create(claim('kept', 'csi-cinder-sc-retain'));
    await world.until('the claim is bound', async () => (await stored('kept')).status?.phase === 'Bound');
    const keptVolume = (await stored('kept')).spec.volumeName;
    for (const name of ['data', 'kept']) {
      await world.client.delete(PersistentVolumeClaims, { namespace: 'default', name });
    }
    await world.until('one volume is left', async () => (await volumes()).length === 1);
    expect((await volumes())[0]?.name).toBe(keptVolume);
    await world.until('its object says so', async () => {
      const { items } = await world.client.list(PersistentVolumes);
      return items.length === 1 && items[0]?.status?.phase === 'Released';
    });
  });
});
