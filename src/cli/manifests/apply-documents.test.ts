import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryApi, startMemoryApi } from '../testing/memory-api.ts';
import { type Applied, type ApplyFailure, type ApplyOptions, applyDocuments } from './apply-documents.ts';
import { addDocuments, type Manifests } from './read-manifests.ts';

let api: MemoryApi;
beforeAll(async () => {
  api = await startMemoryApi();
});
afterAll(() => api.close());

async function apply(
  text: string,
  options: Partial<ApplyOptions> = {},
  connection: Partial<MemoryApi['connection']> = {},
): Promise<{ lines: string[]; failures: ApplyFailure[] }> {
  const manifests: Manifests = { documents: [], problems: [] };
  addDocuments(text, 'file.yaml', manifests);
  const lines: string[] = [];
  const failures = await applyDocuments(
    manifests.documents,
    { ...api.connection, ...connection },
    {
      dryRun: false,
      forceConflicts: false,
      definitionTimeoutMs: 10_000,
      signal: new AbortController().signal,
      now: () => 0,
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      onApplied: ({ label, change }: Applied) => void lines.push(`${label} ${change}`),
      ...options,
    },
  );
  return { lines, failures };
}

const configMap = (name: string, value = '1', namespace?: string): string =>
  `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}${namespace ? `, namespace: ${namespace}` : ''}}, data: {key: "${value}"}}`;

describe('applying manifests', () => {
  it('reports created, configured and unchanged objects', async () => {
    expect((await apply(configMap('one'))).lines).toEqual(['configmap/one created']);
    expect((await apply(configMap('one'))).lines).toEqual(['configmap/one unchanged']);
    expect((await apply(configMap('one', '2'))).lines).toEqual(['configmap/one configured']);
  });

  it('creates namespaces and definitions before objects that need them, whatever the order', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'boats.example.com' },
      spec: {
        group: 'example.com',
        names: { kind: 'Boat', plural: 'boats' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    const { lines, failures } = await apply(
      [
        '{apiVersion: example.com/v1, kind: Boat, metadata: {name: anna, namespace: harbour}}',
        JSON.stringify(crd),
        '{apiVersion: v1, kind: Namespace, metadata: {name: harbour}}',
      ].join('\n---\n'),
    );
    expect(failures).toEqual([]);
    expect(lines).toEqual([
      'namespace/harbour created',
      'customresourcedefinition.apiextensions.k8s.io/boats.example.com created',
      'boat.example.com/anna created',
    ]);
  });

  it('changes nothing in a dry run and reports what it would do', async () => {
    await apply(configMap('dry'));
    const before = api.revision();
    const options = { dryRun: true };
    expect((await apply(configMap('dry'), options)).lines).toEqual(['configmap/dry unchanged']);
    expect((await apply(configMap('dry', '2'), options)).lines).toEqual(['configmap/dry configured']);
    expect((await apply(configMap('new'), options)).lines).toEqual(['configmap/new created']);
    expect(api.revision()).toBe(before);
  });

  it('continues after a failure and names every document that failed', async () => {
    const { lines, failures } = await apply(
      [
        '{apiVersion: nowhere.example.com/v1, kind: Ghost, metadata: {name: boo}}',
        configMap('good'),
        '{apiVersion: v1, kind: ConfigMap, metadata: {name: Bad_Name}}',
        configMap('far', '1', 'no-such-namespace'),
      ].join('\n---\n'),
    );
    expect(lines).toEqual(['configmap/good created']);
    expect(failures.map(({ document, message }) => `${document.origin} ${message}`)).toEqual([
      expect.stringMatching(/^file\.yaml:5 .*Bad_Name/),
      'file.yaml:7 namespaces "no-such-namespace" not found',
      expect.stringContaining(
        'file.yaml:1 file.yaml:1: the API does not serve the kind "Ghost" in nowhere.example.com/v1',
      ),
    ]);
  });

  it('takes fields of other managers only with --force-conflicts', async () => {
    await apply(configMap('shared'));
    const resource = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
    const theirs = { metadata: { name: 'shared', namespace: 'default' }, data: { key: 'theirs' } };
    await api.connection.client.apply(resource as never, theirs as never, { fieldManager: 'other', force: true });
    const { failures } = await apply(configMap('shared', 'ours'));
    expect(failures).toMatchObject([{ hint: 'use --force-conflicts to take over these fields' }]);
    expect((await apply(configMap('shared', 'ours'), { forceConflicts: true })).lines).toEqual([
      'configmap/shared configured',
    ]);
  });

  it('uses the namespace of the context, and refuses a manifest that contradicts --namespace', async () => {
    const given = { namespace: 'kube-public', namespaceGiven: true };
    expect((await apply(configMap('placed'), {}, given)).failures).toEqual([]);
    const { failures } = await apply(configMap('misplaced', '1', 'default'), {}, given);
    expect(failures).toMatchObject([
      {
        message: 'the manifest has the namespace "default", the command line "kube-public"',
        hint: 'leave --namespace out, or write --namespace default',
      },
    ]);
  });
});
