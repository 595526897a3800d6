import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CustomResourceDefinitions, Deployments, Namespaces, ownDefinitions } from '../../api/index.ts';
import { startTestServer, type TestServer } from '../../apiserver/testing/index.ts';
import { systemClock } from '../../machinery/index.ts';
import { applyKinds } from '../install/apply-kinds.ts';
import { installedKinds } from '../install/installation.ts';
import { installedDefinitions } from '../install/installed-kinds.ts';
import { writeTestKubeconfig } from '../testing/kubeconfig.ts';
import { recordingContext } from '../testing/memory-api.ts';
import { type InstallOptions, install } from './install.ts';
import { type UninstallOptions, uninstall } from './uninstall.ts';

const by = { fieldManager: 'test', force: true };

describe('capstan install', () => {
  let server: TestServer;
  let directory: string;
  let kubeconfig: string;

  beforeAll(async () => {
    server = await startTestServer({ version: { gitVersion: 'v1.34.4' } });
    directory = await mkdtemp(join(tmpdir(), 'capstan-install-'));
    kubeconfig = join(directory, 'kubeconfig');
    await writeTestKubeconfig(kubeconfig, server);
  });
  afterAll(async () => {
    await server?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const installed = async (options: Partial<InstallOptions> = {}): Promise<string[]> => {
    const context = recordingContext();
    expect(await install({ kubeconfig, replicas: '2', ...options }, context)).toBe(0);
    return context.out().trimEnd().split('\n');
  };
  const uninstalled = async (options: Partial<UninstallOptions> = {}): Promise<string> => {
    const context = recordingContext();
    expect(await uninstall({ kubeconfig, yes: true, ...options }, context)).toBe(0);
    return context.out();
  };
  const definitions = async (): Promise<string[]> =>
    (await server.local.list(CustomResourceDefinitions)).items.map(({ metadata }) => metadata.name ?? '');

  it('prints every object and applies nothing with a dry run', async () => {
    const text = (await installed({ dryRun: true, output: 'yaml', registry: 'registry.example.org/platform/' })).join(
      '\n',
    );
    const objects = parseAllDocuments(text).map((document) => document.toJS() as { kind: string });
    const kinds = new Set(objects.map(({ kind }) => kind));
    for (const kind of [
      'CustomResourceDefinition',
      'Namespace',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Service',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Deployment',
      'MutatingWebhookConfiguration',
      'ValidatingWebhookConfiguration',
    ]) {
      expect(kinds, kind).toContain(kind);
    }
    expect(text).toMatch(/image: registry\.example\.org\/platform\/capstan:\d/);
    expect(await definitions()).toEqual([]);
  });

  it('refuses kinds of another provider and names that provider', async () => {
    const [definition] = ownDefinitions.filter(({ kind }) => kind === 'OpenStackCluster');
    const foreign = structuredClone(definition?.crd) as never;
    await server.local.apply(CustomResourceDefinitions, foreign, by);
    await expect(installed()).rejects.toThrow(
      'openstackclusters.infrastructure.cluster.x-k8s.io is already defined here by the provider infrastructure-openstack',
    );
    expect(await definitions()).toEqual(['openstackclusters.infrastructure.cluster.x-k8s.io']);
    await server.local.delete(CustomResourceDefinitions, { name: 'openstackclusters.infrastructure.cluster.x-k8s.io' });
    await expect.poll(definitions).toEqual([]);
  });

  it('is refused when another namespace has an installation', async () => {
    const key = { namespace: 'elsewhere', name: 'capstan' };
    await server.local.apply(Namespaces, { metadata: { name: 'elsewhere' } }, by);
    const matchLabels = { app: 'x' };
    const labels = { 'app.kubernetes.io/name': 'capstan', 'app.kubernetes.io/part-of': 'capstan' };
    const template = { metadata: { labels: matchLabels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployment = { metadata: { ...key, labels }, spec: { selector: { matchLabels }, template } };
    await server.local.apply(Deployments, deployment, by);
    await expect(installed()).rejects.toThrow('Capstan is installed in the namespace elsewhere already');
    expect(await definitions()).toEqual([]);
    await server.local.delete(Deployments, key);
  });

  it('keeps the Image kind that the OpenStack Resource Controller defined', async () => {
    const [definition] = ownDefinitions.filter(({ kind, group }) => kind === 'Image' && group.endsWith('k-orc.cloud'));
    const name = 'images.openstack.k-orc.cloud';
    await server.local.apply(CustomResourceDefinitions, structuredClone(definition?.crd) as never, by);
    const kinds = installedKinds({ url: 'https://127.0.0.1:1' }).filter(({ metadata }) => metadata.name === name);
    const { signal } = new AbortController();
    await applyKinds(server.local, kinds, { clock: systemClock, signal });
    const { metadata } = await server.local.get(CustomResourceDefinitions, { name });
    expect(metadata.labels?.['app.kubernetes.io/part-of']).toBeUndefined();
    await server.local.delete(CustomResourceDefinitions, { name });
    await expect.poll(definitions).toEqual([]);
  });

  it('creates everything, and reports all unchanged the second time', async () => {
    const first = await installed();
    expect(first.filter((line) => !line.endsWith(' created'))).toEqual([]);
    const second = await installed();
    expect(second.filter((line) => !line.endsWith(' unchanged'))).toEqual([]);
    expect((await definitions()).length).toBe(installedDefinitions.length + 1);
  });

  it('changes only the Deployment when the image changes', async () => {
    const lines = await installed({ image: 'other:1' });
    expect(lines.filter((line) => !line.endsWith(' unchanged'))).toEqual(['deployment/capstan-controllers configured']);
    const key = { namespace: 'capstan-system', name: 'capstan-controllers' };
    const { spec } = await server.local.get(Deployments, key);
    expect(spec.template?.spec?.containers[0]?.image).toBe('other:1');
  });

  it('refuses to change an installation of Helm', async () => {
    const key = { namespace: 'capstan-system', name: 'capstan-controllers' };
    const label = (value: string | null) =>
      server.local.patch(
        Deployments,
        key,
        'merge',
        {
          metadata: {
            labels: { 'app.kubernetes.io/managed-by': value },
            annotations: { 'meta.helm.sh/release-name': 'main' },
          },
        },
        by,
      );
    await label('Helm');
    await expect(installed()).rejects.toThrow('Capstan was installed by Helm as the release main');
    await label(null);
  });

  it('keeps kinds on uninstall as long as they have objects', async () => {
    const cluster = {
      apiVersion: 'ipam.cluster.x-k8s.io/v1beta2',
      kind: 'IPAddress',
      metadata: { name: 'a', namespace: 'default' },
    };
    // No webhook server runs in this test.
    const names = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'];
    for (const plural of names) {
      await server.api().delete(`/apis/admissionregistration.k8s.io/v1/${plural}/capstan-webhooks`);
    }
    const path = '/apis/ipam.cluster.x-k8s.io/v1beta2/namespaces/default/ipaddresses';
    const spec = {
      claimRef: { name: 'c' },
      poolRef: { apiGroup: 'g', kind: 'K', name: 'p' },
      address: '10.0.0.1',
      prefix: 24,
    };
    expect((await server.api().post(path, { ...cluster, spec })).status).toBe(201);
    await expect(uninstalled({ includeCrd: true })).rejects.toThrow('IPAddress default/a still exists');
    await server.api().delete(`${path}/a`);
  });

  it('is uninstalled without a trace', async () => {
    const looked = await uninstalled({ dryRun: true, includeCrd: true });
    expect(looked).toContain('deployment/capstan-controllers deleted (dry run)\n');
    let isOver = false;
    const removal = uninstalled({ includeCrd: true }).finally(() => {
      isOver = true;
    });
    const key = { name: 'capstan-system' };
    await expect.poll(async () => (await server.local.get(Namespaces, key)).metadata.deletionTimestamp).toBeDefined();
    await expect.poll(definitions).toEqual([]);
    // an installation right after it must not be refused
    expect(isOver).toBe(false);
    const emptied = { ...(await server.local.get(Namespaces, key)), spec: { finalizers: [] } };
    await server.local.update(Namespaces, emptied, { ...by, subresource: 'finalize' });
    expect(await removal).toContain('namespace/capstan-system deleted\n');
    expect(await uninstalled({ includeCrd: true })).not.toContain('clusterrole/');
  });
});
