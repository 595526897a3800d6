import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type EndpointSlice,
  EndpointSlices,
  type Endpoints,
  EndpointsResource,
  Nodes,
  type Pod,
  Pods,
  type Service,
  type ServiceSpec,
  Services,
} from '../../../api/index.ts';
import { type WorkloadWorld, workloadWorld } from '../testing/workload-world.ts';

let world: WorkloadWorld;
beforeEach(async () => {
  world = await workloadWorld({ parts: ['endpoints'] });
});
afterEach(() => world.stop());

const service = (spec: Partial<ServiceSpec> = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', labels: { team: 'a' } },
  spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'web' }], ...spec },
});

const pod = (name: string, spec: Partial<Pod['spec']> = {}, port = 8080): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: port }] }], ...spec },
});

const slices = (): Promise<EndpointSlice[]> => world.list(EndpointSlices);
const endpoints = (): Promise<Endpoints> => world.get(EndpointsResource, 'web');
const readyNames = async (): Promise<(string | undefined)[]> =>
  (await slices()).flatMap((slice) =>
    (slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready).map(({ targetRef }) => targetRef?.name),
  );

describe('endpoints of a Service', () => {
  it('exist from the first moment, even without addresses', async () => {
    await world.create(Services, service());
    await world.until(async () => (await slices()).length === 1);
    expect((await slices())[0]).toMatchObject({
      addressType: 'IPv4',
      endpoints: [],
      metadata: {
        labels: {
          team: 'a',
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
        ownerReferences: [{ kind: 'Service', name: 'web', controller: true }],
      },
    });
    expect((await endpoints()).subsets ?? []).toEqual([]);
    expect((await endpoints()).metadata.labels).toEqual({
      team: 'a',
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    });
  });

  it('follow the Pods: ready ones, others, and those that go', async () => {
    world.fate = ({ metadata }) => (metadata.name === 'b' ? 'running' : 'ready');
    world.mayEnd = () => false;
    await world.patch(Nodes, 'node-1', { metadata: { labels: { 'topology.kubernetes.io/zone': 'z1' } } });
    await world.create(Services, service());
    await world.create(Pods, pod('a'));
    await world.create(Pods, pod('b'));
    await world.create(Pods, { ...pod('other'), metadata: { name: 'other', labels: { app: 'else' } } });
    await world.until(async () => ((await slices())[0]?.endpoints ?? []).length === 2);
    const [slice] = await slices();
    expect(slice!.ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }]);
    expect(slice!.endpoints).toMatchObject([
      { conditions: { ready: true, serving: true, terminating: false }, targetRef: { name: 'a' }, zone: 'z1' },
      {
        conditions: { ready: false, serving: false, terminating: false },
        targetRef: { name: 'b' },
        nodeName: 'node-1',
      },
    ]);
    expect((await endpoints()).subsets).toMatchObject([
      {
        addresses: [{ targetRef: { name: 'a' } }],
        notReadyAddresses: [{ targetRef: { name: 'b' } }],
        ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
      },
    ]);
    expect(await world.writesAtRest()).toBe(0);
    await world.remove(Pods, 'a');
    await world.until(async () => (await readyNames()).length === 0);
    expect((await slices())[0]!.endpoints![0]!.conditions).toEqual({ ready: false, serving: true, terminating: true });
    expect((await endpoints()).subsets![0]!.addresses).toBeUndefined();
    world.mayEnd = () => true;
    await world.redecide();
    await world.until(async () => ((await slices())[0]?.endpoints ?? []).length === 1);
  });

  it('of a headless Service that publishes all include unready Pods under their names', async () => {
    world.fate = () => 'running';
    await world.create(Services, service({ clusterIP: 'None', publishNotReadyAddresses: true }));
    await world.create(Pods, pod('web-0', { hostname: 'web-0', subdomain: 'web' }));
    await world.until(async () => (await readyNames()).length === 1);
    const [slice] = await slices();
    expect(slice!.metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '');
    expect(slice!.endpoints![0]).toMatchObject({
      hostname: 'web-0',
      conditions: { ready: true, serving: false, terminating: false },
    });
    expect((await endpoints()).subsets![0]!.addresses).toMatchObject([{ hostname: 'web-0' }]);
  });

  it('are separate where the same port has different numbers', async () => {
    await world.create(Services, service());
    await world.create(Pods, pod('a', {}, 8080));
    await world.create(Pods, pod('b', {}, 9090));
    await world.until(async () => (await readyNames()).length === 2);
    expect((await slices()).map(({ ports }) => ports![0]!.port).sort()).toEqual([8080, 9090]);
    expect((await endpoints()).subsets).toHaveLength(2);
  });

  it('follow selector, labels and ports of the Service and are deleted with it', async () => {
    await world.create(Services, service());
    await world.create(Pods, pod('a'));
    await world.until(async () => (await readyNames()).length === 1);
    await world.patch(Services, 'web', { spec: { selector: { app: 'nobody' } }, metadata: { labels: { team: 'b' } } });
    await world.until(async () => (await readyNames()).length === 0);
    expect((await slices())[0]!.metadata.labels).toMatchObject({ team: 'b' });
    await world.remove(Services, 'web');
    await world.until(
      async () =>
        (await slices()).length === 0 &&
        (await world.list(EndpointsResource)).every(({ metadata }) => metadata.name !== 'web'),
    );
  });

  it('are left alone when somebody else keeps them', async () => {
    const { selector: _none, ...spec } = service().spec;
    await world.create(Services, { ...service(), spec });
    await world.create(EndpointsResource, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web' },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80 }] }],
    });
    await world.clock.advance(5_000);
    expect((await endpoints()).subsets![0]!.addresses).toEqual([{ ip: '192.0.2.1' }]);
    expect(await slices()).toEqual([]);
  });

  it('fill one slice after another', async () => {
    for (let index = 0; index < 102; index++) await world.create(Pods, pod(`p${index}`, { nodeName: 'node-1' }));
    await world.create(Services, service());
    await world.until(async () => (await readyNames()).length === 102);
    expect((await slices()).map(({ endpoints: list }) => list!.length).sort()).toEqual([100, 2]);
  });
});

describe('Endpoints that a user wrote', () => {
  const own = (subsets: NonNullable<Endpoints['subsets']>): Endpoints => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'web', labels: { team: 'b' }, annotations: { note: 'x' } },
    subsets,
  });
  const withoutSelector = (): Service => {
    const { selector: _selector, ...spec } = service().spec;
    return { ...service(), spec };
  };
  const marks = {
    team: 'b',
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
  };

  it('are mirrored in slices as long as the Service has no selector', async () => {
    await world.create(Services, withoutSelector());
    await world.create(
      EndpointsResource,
      own([
        {
          addresses: [{ ip: '10.0.0.1', hostname: 'a' }],
          notReadyAddresses: [{ ip: '10.0.0.2' }],
          ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
        },
        { addresses: [{ ip: 'fd00::1' }], ports: [{ port: 9090, protocol: 'UDP' }] },
      ]),
    );
    await world.until(async () => (await slices()).length === 2);
    const byType = (type: string) => async () => (await slices()).find(({ addressType }) => addressType === type)!;
    expect(await byType('IPv4')()).toMatchObject({
      metadata: {
        labels: marks,
        annotations: { note: 'x' },
        ownerReferences: [{ kind: 'Endpoints', name: 'web', controller: true }],
      },
      endpoints: [
        { addresses: ['10.0.0.1'], conditions: { ready: true }, hostname: 'a' },
        { addresses: ['10.0.0.2'], conditions: { ready: false } },
      ],
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    });
    expect(await byType('IPv6')()).toMatchObject({ ports: [{ name: '', port: 9090, protocol: 'UDP' }] });
    expect(await world.writesAtRest()).toBe(0);
    await world.patch(EndpointsResource, 'web', {
      subsets: [{ addresses: [{ ip: '10.0.0.3' }], ports: [{ port: 1, protocol: 'TCP' }] }],
    });
    await world.until(async () => (await slices()).length === 1);
    expect((await slices())[0]).toMatchObject({ endpoints: [{ addresses: ['10.0.0.3'] }], ports: [{ port: 1 }] });
    await world.patch(Services, 'web', { spec: { selector: { app: 'web' } } });
    await world.until(async () =>
      (await slices()).every(({ metadata }) => metadata.ownerReferences?.[0]?.kind === 'Service'),
    );
  });

  it('are not mirrored without a Service or when they are marked so', async () => {
    await world.create(
      EndpointsResource,
      own([{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 1, protocol: 'TCP' }] }]),
    );
    expect(await world.writesAtRest()).toBe(0);
    expect(await slices()).toEqual([]);
    await world.create(Services, withoutSelector());
    await world.until(async () => (await slices()).length === 1);
    await world.patch(EndpointsResource, 'web', {
      metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    });
    await world.until(async () => (await slices()).length === 0);
  });
});
