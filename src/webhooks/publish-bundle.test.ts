import { describe, expect, it } from 'vitest';
import { type CustomResourceDefinition, CustomResourceDefinitions, ownDefinitions } from '../api/index.ts';
import { memoryClient } from '../client/index.ts';
import { ManualClock } from '../machinery/index.ts';
import { publishBundle } from './publish-bundle.ts';

describe('the authority of the webhooks', () => {
  it('is not written into a definition of another program with the same name', async () => {
    const definition = ownDefinitions.filter(({ plural }) => plural === 'machines');
    const name = 'machines.cluster.x-k8s.io';
    const client = memoryClient({ clock: new ManualClock(0) });
    const clientConfig = { url: 'https://upstream/convert', caBundle: 'dXBzdHJlYW0=' };
    const theirs = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name, labels: { 'cluster.x-k8s.io/provider': 'cluster-api' } },
      spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig } }, versions: [] },
    };
    client.seed(CustomResourceDefinitions, theirs as never);
    const { signal } = new AbortController();
    const isOurs = ({ metadata }: CustomResourceDefinition): boolean => metadata.labels?.['ours'] === 'true';
    const checked = { bundle: '', versions: new Map<string, string>() };
    const publish = () => publishBundle(client, { definitions: definition, isOurs, bundle: 'new', checked, signal });
    const bundle = async () =>
      (await client.get(CustomResourceDefinitions, { name })).spec.conversion as { webhook?: unknown } | undefined;
    await publish();
    expect(await bundle()).toMatchObject({ webhook: { clientConfig } });
    const labels = { metadata: { labels: { ours: 'true' } } };
    await client.patch(CustomResourceDefinitions, { name }, 'merge', labels, { fieldManager: 'test' });
    await publish();
    const written = Buffer.from('new').toString('base64');
    expect(await bundle()).toMatchObject({ webhook: { clientConfig: { caBundle: written } } });
  });
});
