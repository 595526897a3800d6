import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigMaps, Namespaces, Pods, ResourceQuotas, Secrets, Services } from '../../api/index.ts';
import { isForbidden, type KubeObject, type Resource, type UnstructuredObject } from '../../machinery/index.ts';
import { crd, startTestServer, type TestServer } from '../testing/index.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const by = { fieldManager: 'test' };
let spaces = 0;

async function quotaOf(hard: Record<string, string>, spec: object = {}): Promise<string> {
  const { local } = server;
  const namespace = `quota-${spaces++}`;
  await local.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, by);
  await local.create(
    ResourceQuotas,
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q', namespace }, spec: { hard, ...spec } },
    by,
  );
  return namespace;
}

function create<T extends KubeObject>(resource: Resource<T>, namespace: string, name: string, more = {}): Promise<T> {
  const { kind } = resource;
  return server.local.create(resource, { apiVersion: 'v1', kind, metadata: { name, namespace }, ...more } as T, by);
}

const createPod = (namespace: string, name: string, resources: object = {}, spec: object = {}): Promise<unknown> =>
  create(Pods, namespace, name, { spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec } });

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    if (isForbidden(error)) return (error as Error).message;
    throw error;
  }
  throw new Error('it was not refused');
}

async function usedIn(namespace: string): Promise<Record<string, string>> {
  return (await server.local.get(ResourceQuotas, { namespace, name: 'q' })).status?.used ?? {};
}

async function expectUsed(namespace: string, used: Record<string, string>): Promise<void> {
  await expect.poll(() => usedIn(namespace)).toEqual(used);
}

describe('a ResourceQuota', () => {
  it('reports limits and usage as soon as it is created', async () => {
    const namespace = await quotaOf({ configmaps: '3', 'count/secrets': '1', 'limits.cpu': '2', pods: '1' });
    await expectUsed(namespace, { configmaps: '0', 'count/secrets': '0', 'limits.cpu': '0', pods: '0' });
    const { status } = await server.local.get(ResourceQuotas, { namespace, name: 'q' });
    expect(status?.hard).toEqual({ configmaps: '3', 'count/secrets': '1', 'limits.cpu': '2', pods: '1' });
  });

  it('counts objects that existed before it', async () => {
    const namespace = await quotaOf({});
    await create(ConfigMaps, namespace, 'a');
    await create(ConfigMaps, namespace, 'b');
    await server.local.patch(
      ResourceQuotas,
      { namespace, name: 'q' },
      'merge',
      { spec: { hard: { configmaps: '1' } } },
      by,
    );
    await expectUsed(namespace, { configmaps: '2' });
    expect(await refusalOf(create(ConfigMaps, namespace, 'c'))).toBe(
      'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=1',
    );
  });

  it('releases usage when objects are deleted', async () => {
    const namespace = await quotaOf({ configmaps: '1' });
    await create(ConfigMaps, namespace, 'a');
    await refusalOf(create(ConfigMaps, namespace, 'b'));
    await server.local.delete(ConfigMaps, { namespace, name: 'a' });
    await create(ConfigMaps, namespace, 'b');
    await expectUsed(namespace, { configmaps: '1' });
  });

  it('holds no usage for writes that fail or are dry runs', async () => {
    const namespace = await quotaOf({ configmaps: '2' });
    await create(ConfigMaps, namespace, 'a');
    await expect(create(ConfigMaps, namespace, 'a')).rejects.toThrow('already exists');
    const asked = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace } };
    await server.local.create(ConfigMaps, asked, { ...by, dryRun: true });
    await create(ConfigMaps, namespace, 'b');
    const refused = server.local.create(
      ConfigMaps,
      { ...asked, metadata: { name: 'c', namespace } },
      { ...by, dryRun: true },
    );
    expect(await refusalOf(refused)).toContain('exceeded quota: q');
  });

  it('admits exactly as many concurrent writes as it grants', async () => {
    const namespace = await quotaOf({ configmaps: '7' });
    const attempts = Array.from({ length: 40 }, (_, index) => create(ConfigMaps, namespace, `m${index}`));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    await expectUsed(namespace, { configmaps: '7' });
  });

  it('restores its status when somebody overwrites it', async () => {
    const namespace = await quotaOf({ secrets: '1' });
    await expectUsed(namespace, { secrets: '0' });
    const status = { subresource: 'status', ...by };
    await server.local.patch(
      ResourceQuotas,
      { namespace, name: 'q' },
      'merge',
      { status: { used: { secrets: '9' } } },
      status,
    );
    await expectUsed(namespace, { secrets: '0' });
    await create(Secrets, namespace, 's');
  });

  it('limits nothing once it is deleted', async () => {
    const namespace = await quotaOf({ configmaps: '1' });
    await create(ConfigMaps, namespace, 'a');
    expect(await refusalOf(create(ConfigMaps, namespace, 'b'))).toContain('exceeded quota: q');
    await server.local.delete(ResourceQuotas, { namespace, name: 'q' });
    await create(ConfigMaps, namespace, 'b');
    expect((await server.local.list(ConfigMaps, { namespace })).items).toHaveLength(2);
  });

  it('counts custom kinds by name once they are served', async () => {
    const namespace = await quotaOf({ 'count/gadgets.quota.test': '1', configmaps: '1' });
    await expectUsed(namespace, { configmaps: '0' });
    const api = server.api();
    await api.create(
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      crd({ group: 'quota.test', plural: 'gadgets', kind: 'Gadget' }),
    );
    await expectUsed(namespace, { configmaps: '0', 'count/gadgets.quota.test': '0' });
    const gadgets: Resource<UnstructuredObject> = {
      group: 'quota.test',
      version: 'v1',
      kind: 'Gadget',
      plural: 'gadgets',
      namespaced: true,
    };
    const gadget = (name: string): UnstructuredObject => ({
      apiVersion: 'quota.test/v1',
      kind: 'Gadget',
      metadata: { name, namespace },
    });
    await server.local.create(gadgets, gadget('a'), by);
    expect(await refusalOf(server.local.create(gadgets, gadget('b'), by))).toContain(
      'gadgets.quota.test "b" is forbidden: exceeded quota: q, requested: count/gadgets.quota.test=1',
    );
  });
});

describe('a ResourceQuota on pods', () => {
  it('refuses pods whose containers lack limited requests or limits', async () => {
    const namespace = await quotaOf({ 'requests.cpu': '1', 'limits.memory': '1Gi' });
    expect(await refusalOf(createPod(namespace, 'p'))).toBe(
      'pods "p" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
    );
  });

  it('adds up requests and limits of pods until the pods end', async () => {
    const namespace = await quotaOf({ 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '2' });
    await createPod(namespace, 'a', { requests: { cpu: '600m' }, limits: { memory: '512Mi' } });
    expect(
      await refusalOf(createPod(namespace, 'b', { requests: { cpu: '600m' }, limits: { memory: '768Mi' } })),
    ).toContain(
      'exceeded quota: q, requested: limits.memory=768Mi,requests.cpu=600m, used: limits.memory=512Mi,requests.cpu=600m, limited: limits.memory=1Gi,requests.cpu=1',
    );
    await createPod(namespace, 'c', { requests: { cpu: '400m' }, limits: { memory: '512Mi' } });
    await expectUsed(namespace, { 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '2' });
    const ended = { status: { phase: 'Succeeded' } };
    await server.local.patch(Pods, { namespace, name: 'a' }, 'merge', ended, { ...by, subresource: 'status' });
    await expectUsed(namespace, { 'requests.cpu': '400m', 'limits.memory': '512Mi', pods: '1' });
  });

  const critical = { priorityClassName: 'system-cluster-critical' };
  it.each<[string, object, object, object, boolean]>([
    ['BestEffort', { scopes: ['BestEffort'] }, {}, {}, true],
    ['BestEffort', { scopes: ['BestEffort'] }, { requests: { cpu: '1' } }, {}, false],
    ['NotBestEffort', { scopes: ['NotBestEffort'] }, { requests: { cpu: '1' } }, {}, true],
    ['Terminating', { scopes: ['Terminating'] }, {}, { activeDeadlineSeconds: 1 }, true],
    ['Terminating', { scopes: ['Terminating'] }, {}, {}, false],
    ['NotTerminating', { scopes: ['NotTerminating'] }, {}, {}, true],
    ['PriorityClass', { scopes: ['PriorityClass'] }, {}, critical, true],
    [
      'PriorityClass In',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['x'] }] } },
      {},
      critical,
      false,
    ],
    [
      'PriorityClass NotIn',
      { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'NotIn', values: ['x'] }] } },
      {},
      critical,
      true,
    ],
    [
      'CrossNamespacePodAffinity',
      { scopes: ['CrossNamespacePodAffinity'] },
      {},
      {
        affinity: {
          podAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k', namespaces: ['other'] }],
          },
        },
      },
      true,
    ],
  ])('of scope %s with %j counts a pod with %j and %j: %s', async (_name, quota, resources, spec, counted) => {
    const namespace = await quotaOf({ pods: '0' }, quota);
    const attempt = createPod(namespace, 'p', resources, spec);
    if (counted) expect(await refusalOf(attempt)).toContain('exceeded quota: q, requested: pods=1');
    else await attempt;
  });

  it('counts a pod that gets a deadline later', async () => {
    const namespace = await quotaOf({ pods: '0' }, { scopes: ['Terminating'] });
    await createPod(namespace, 'p');
    const patch = server.local.patch(
      Pods,
      { namespace, name: 'p' },
      'merge',
      { spec: { activeDeadlineSeconds: 5 } },
      by,
    );
    expect(await refusalOf(patch)).toContain('exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0');
  });
});

describe('a ResourceQuota on services', () => {
  const service = (namespace: string, name: string, type: string, ports: number): Promise<unknown> =>
    create(Services, namespace, name, {
      spec: { type, ports: Array.from({ length: ports }, (_, index) => ({ name: `p${index}`, port: 80 + index })) },
    });

  it('counts node ports and load balancers, also when a Service becomes one', async () => {
    const namespace = await quotaOf({ services: '2', 'services.nodeports': '1', 'services.loadbalancers': '0' });
    await service(namespace, 'a', 'ClusterIP', 2);
    expect(await refusalOf(service(namespace, 'b', 'NodePort', 2))).toContain('requested: services.nodeports=2');
    expect(await refusalOf(service(namespace, 'b', 'LoadBalancer', 1))).toContain(
      'requested: services.loadbalancers=1',
    );
    await service(namespace, 'b', 'NodePort', 1);
    const patch = server.local.patch(Services, { namespace, name: 'a' }, 'merge', { spec: { type: 'NodePort' } }, by);
    expect(await refusalOf(patch)).toContain(
      'requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=1',
    );
    await expectUsed(namespace, { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '0' });
  });
});

describe('quota accounting', () => {
  it('equals the stored objects after any sequence of writes, and never exceeds the limit', async () => {
    const step = fc.record({
      what: fc.constantFrom('create', 'delete', 'end'),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      milli: fc.integer({ min: 0, max: 900 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const namespace = await quotaOf({ 'requests.cpu': '1500m', pods: '3' });
        await Promise.allSettled(
          steps.map(({ what, name, milli }) => {
            if (what === 'create') return createPod(namespace, name, { requests: { cpu: `${milli}m` } });
            if (what === 'delete') return server.local.delete(Pods, { namespace, name }, { gracePeriodSeconds: 0 });
            const ended = { status: { phase: 'Failed' } };
            return server.local.patch(Pods, { namespace, name }, 'merge', ended, { ...by, subresource: 'status' });
          }),
        );
        const { items } = await server.local.list(Pods, { namespace });
        const running = items.filter(({ status }) => status?.phase !== 'Failed');
        const milli = running.reduce((sum, pod) => {
          const cpu = (pod.spec!.containers[0]!.resources!.requests as Record<string, string>)['cpu']!;
          return sum + (cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000);
        }, 0);
        expect(milli).toBeLessThanOrEqual(1500);
        expect(running.length).toBeLessThanOrEqual(3);
        const cpu = milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
        await expectUsed(namespace, { 'requests.cpu': cpu, pods: String(running.length) });
      }),
      { numRuns: 25 },
    );
  });
});
