import { describe, expect, it } from 'vitest';
import { CapstanError, statusError } from '../machinery/index.ts';
import { discover, restMapper } from './discovery.ts';
import type { RawReader } from './http/client.ts';

const aggregated: Record<string, unknown> = {
  '/api': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: {},
        versions: [
          {
            version: 'v1',
            resources: [
              {
                resource: 'pods',
                responseKind: { kind: 'Pod' },
                scope: 'Namespaced',
                singularResource: 'pod',
                verbs: ['get', 'list'],
                shortNames: ['po'],
                categories: ['all'],
                subresources: [{ subresource: 'log' }],
              },
              {
                resource: 'nodes',
                responseKind: { kind: 'Node' },
                scope: 'Cluster',
                singularResource: 'node',
                verbs: ['get'],
                shortNames: ['no'],
              },
              { resource: 'events', responseKind: { kind: 'Event' }, scope: 'Namespaced', shortNames: ['ev'] },
            ],
          },
        ],
      },
    ],
  },
  '/apis': {
    kind: 'APIGroupDiscoveryList',
    items: [
      {
        metadata: { name: 'events.k8s.io' },
        versions: [
          { version: 'v1', resources: [{ resource: 'events', responseKind: { kind: 'Event' }, scope: 'Namespaced' }] },
        ],
      },
      {
        metadata: { name: 'cluster.x-k8s.io' },
        versions: ['v1beta2', 'v1beta1'].map((version) => ({
          version,
          resources: [
            {
              resource: 'clusters',
              responseKind: { kind: 'Cluster' },
              scope: 'Namespaced',
              singularResource: 'cluster',
              shortNames: ['cl'],
              categories: ['cluster-api'],
            },
          ],
        })),
      },
      { metadata: { name: 'metrics.k8s.io' }, versions: [{ version: 'v1beta1', freshness: 'Stale' }] },
    ],
  },
};

const legacy: Record<string, unknown> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      { name: 'apps', versions: [{ groupVersion: 'apps/v1' }] },
      { name: 'broken', versions: [{ groupVersion: 'broken/v1' }] },
    ],
  },
  '/api/v1': {
    resources: [
      { name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['get'] },
      { name: 'pods/log', kind: 'Pod' },
    ],
  },
  '/apis/apps/v1': {
    resources: [
      { name: 'deployments', singularName: '', namespaced: true, kind: 'Deployment', shortNames: ['deploy'] },
      { name: 'deployments/scale', kind: 'Scale' },
    ],
  },
};

function reader(documents: Record<string, unknown>): RawReader & { paths: string[] } {
  const paths: string[] = [];
  return {
    paths,
    raw(path) {
      paths.push(path);
      return documents[path] === undefined
        ? Promise.reject(statusError.pathNotFound())
        : Promise.resolve({ contentType: 'application/json', body: JSON.stringify(documents[path]) });
    },
  };
}

describe('discovery', () => {
  it('needs two requests when the server aggregates', async () => {
    const source = reader(aggregated);
    const { resources, failedGroupVersions } = await discover(source);
    expect(source.paths).toEqual(['/api', '/apis']);
    expect(resources[0]).toEqual({
      group: '',
      version: 'v1',
      kind: 'Pod',
      plural: 'pods',
      namespaced: true,
      singular: 'pod',
      shortNames: ['po'],
      categories: ['all'],
      verbs: ['get', 'list'],
      subresources: ['log'],
    });
    expect(failedGroupVersions).toEqual(['metrics.k8s.io/v1beta1']);
  });

  it('asks version by version otherwise, and names those that failed', async () => {
    const { resources, failedGroupVersions } = await discover(reader(legacy));
    expect(resources.map(({ plural, subresources }) => [plural, subresources])).toEqual([
      ['pods', ['log']],
      ['deployments', ['scale']],
    ]);
    expect(failedGroupVersions).toEqual(['broken/v1']);
  });
});

describe('the REST mapper', () => {
  it.each([
    ['pods', '', 'v1', 'pods'],
    ['Pod', '', 'v1', 'pods'],
    ['po', '', 'v1', 'pods'],
    ['CLUSTER', 'cluster.x-k8s.io', 'v1beta2', 'clusters'],
    ['cl', 'cluster.x-k8s.io', 'v1beta2', 'clusters'],
    ['clusters.cluster.x-k8s.io', 'cluster.x-k8s.io', 'v1beta2', 'clusters'],
    ['clusters.v1beta1.cluster.x-k8s.io', 'cluster.x-k8s.io', 'v1beta1', 'clusters'],
    ['clusters.cluster', 'cluster.x-k8s.io', 'v1beta2', 'clusters'],
    ['events', '', 'v1', 'events'],
    ['events.events.k8s.io', 'events.k8s.io', 'v1', 'events'],
  ])('resolves %s', async (name, group, version, plural) => {
    expect(await restMapper(reader(aggregated)).resolve(name)).toMatchObject({ group, version, plural });
  });

  it('finds the preferred version of a kind, or the requested one', async () => {
    const mapper = restMapper(reader(aggregated));
    const kind = { group: 'cluster.x-k8s.io', kind: 'Cluster' };
    expect((await mapper.forKind(kind))?.version).toBe('v1beta2');
    expect((await mapper.forKind({ ...kind, version: 'v1beta1' }))?.version).toBe('v1beta1');
    expect(await mapper.forKind({ group: 'no', kind: 'No' })).toBeUndefined();
  });

  it('asks the server once, and once more for an unknown name', async () => {
    const documents = structuredClone(aggregated);
    const source = reader(documents);
    const mapper = restMapper(source);
    await mapper.resolve('pods');
    await mapper.resolve('nodes');
    expect(source.paths).toHaveLength(2);
    documents['/api'] = structuredClone(documents['/api']);
    (documents['/api'] as { items: { versions: { resources: object[] }[] }[] }).items[0]!.versions[0]!.resources.push({
      resource: 'secrets',
      responseKind: { kind: 'Secret' },
      scope: 'Namespaced',
    });
    expect((await mapper.resolve('secrets')).kind).toBe('Secret');
    expect(source.paths).toHaveLength(4);
  });

  it('reports an unknown name as CAP_UNKNOWN_RESOURCE', async () => {
    const error = await restMapper(reader(aggregated))
      .resolve('unicorns')
      .catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(CapstanError);
    expect((error as CapstanError).code).toBe('CAP_UNKNOWN_RESOURCE');
    expect((error as CapstanError).message).toBe('the server doesn\'t have a resource type "unicorns"');
  });

  it('does not cache a failure', async () => {
    const documents: Record<string, unknown> = {};
    let broken = true;
    const source = reader(documents);
    const flaky: RawReader = {
      raw: (path, options) =>
        broken ? Promise.reject(statusError.serviceUnavailable('starting')) : source.raw(path, options),
    };
    const mapper = restMapper(flaky);
    await expect(mapper.resolve('pods')).rejects.toThrow('starting');
    broken = false;
    Object.assign(documents, aggregated);
    expect((await mapper.resolve('pods')).plural).toBe('pods');
  });
});
