import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ClusterStack,
  ClusterStackReleases,
  ClusterStacks,
  classNameOf,
  Images,
  OpenStackClusterStackReleases,
  type OpenStackClusterStackReleaseTemplate,
  OpenStackClusterStackReleaseTemplates,
  OpenStackNodeImageReleases,
} from '../../../api/index.ts';
import { must } from '../../../machinery/index.ts';
import { by, createWorld, type World } from '../../testing/world.ts';
import { conditionOf } from '../conditions.ts';
import { setupStackControllers } from '../setup.ts';
import type { ReleaseSource } from '../source/types.ts';
import { releaseFiles } from '../testing/release-files.ts';

const name = 'openstack-ferrol-1-33-v1';
const nodeImages = `openStackNodeImages:
  - url: https://images.example.org/ubuntu.qcow2
    createOpts: {name: ubuntu-capi-image, disk_format: qcow2, container_format: bare, visibility: private, min_disk: 20, properties: {os_distro: ubuntu}}
`;
const files = new Map([
  ...releaseFiles({ id: name, kubernetes: 'v1.33.6', stages: { 'cni/templates/x.yaml': 'kind: ConfigMap' } }),
  ['node-images.yaml', new TextEncoder().encode(nodeImages)] as const,
]);
const source: ReleaseSource = {
  name: 'the test',
  pollMs: undefined,
  isPinned: true,
  chart: async () => new Map(),
  tags: async () => [name],
  files: async (id) => (classNameOf(id) === name ? files : undefined),
};

describe('a ClusterStack with a provider', () => {
  let world: World;

  beforeAll(async () => {
    world = await createWorld({
      extend: (manager, { client, clock, random, workloads, externals }) => {
        setupStackControllers(manager, { client, clock, random, workloads, externals, sources: [source] });
      },
    });
  });
  afterAll(() => world.stop());

  it('waits for the node images of its release, which become Images', async () => {
    const metadata = (of: string) => ({ name: of, namespace: world.namespace });
    const group = 'infrastructure.clusterstack.x-k8s.io/v1alpha1';
    const stack: ClusterStack = {
      apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
      kind: 'ClusterStack',
      metadata: metadata('ferrol'),
      spec: {
        provider: 'openstack',
        name: 'ferrol',
        kubernetesVersion: '1.33',
        providerRef: { apiVersion: group, kind: 'OpenStackClusterStackReleaseTemplate', name: 'images' },
      },
    };
    await world.client.create(ClusterStacks, stack, by);
    await world.until(async () => {
      const found = await world.find(ClusterStacks, 'ferrol');
      return conditionOf(found, 'Ready')?.reason === 'ProviderTemplateNotFound';
    });
    const template: OpenStackClusterStackReleaseTemplate = {
      apiVersion: group,
      kind: 'OpenStackClusterStackReleaseTemplate',
      metadata: metadata('images'),
      spec: { template: { spec: { identityRef: { kind: 'Secret', name: 'my-cloud' } } } },
    };
    await world.client.create(OpenStackClusterStackReleaseTemplates, template, by);
    const image = 'openstack-ferrol-1-33-ubuntu-capi-image-v1';
    await world.until(async () => (await world.find(Images, image)) !== undefined);
    const found = must(await world.find(Images, image), 'the Image');
    expect(found.spec).toMatchObject({
      cloudCredentialsRef: { secretName: 'my-cloud', cloudName: 'openstack' },
      managedOptions: { onDelete: 'detach' },
      resource: {
        name: 'ubuntu-capi-image',
        visibility: 'private',
        properties: { minDiskGB: 20, operatingSystem: { distro: 'ubuntu' } },
        content: { diskFormat: 'qcow2', download: { url: 'https://images.example.org/ubuntu.qcow2' } },
      },
    });
    expect((await world.find(OpenStackClusterStackReleases, name))?.status?.ready).toBe(false);
    const phase = (await world.find(ClusterStacks, 'ferrol'))?.status?.summary?.[0]?.phase;
    expect(phase).toBe('provider-specific work');
    const available = {
      type: 'Available',
      status: 'True',
      reason: 'Success',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { status: { conditions: [available] } };
    await world.client.patch(Images, metadata(image), 'merge', status, { ...by, subresource: 'status' });
    await world.until(async () => (await world.find(ClusterStackReleases, name))?.status?.ready === true);
    expect((await world.find(OpenStackNodeImageReleases, image))?.status?.ready).toBe(true);
    expect((await world.find(OpenStackClusterStackReleases, name))?.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'ClusterStackRelease', name, controller: true }),
    ]);
  });
});
