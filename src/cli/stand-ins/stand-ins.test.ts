import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployments, Namespaces } from '../../api/index.ts';
import type { PortService, SimulatedProcess } from '../../simkube/index.ts';
import { type MemoryApi, startMemoryApi } from '../testing/memory-api.ts';
import { managerOfImage } from './built-in-managers.ts';
import { builtInProgram } from './built-in-program.ts';
import { createControllerHealth } from './controller-health.ts';
import { ensureStandIns } from './stand-in-objects.ts';

const { signal } = new AbortController();
const well = { ok: true, problems: [] };

describe('the manager images', () => {
  it.each([
    ['registry.k8s.io/cluster-api/cluster-api-controller:v1.11.0', 'cluster'],
    ['registry.k8s.io/capi-openstack/capi-openstack-controller@sha256:00', 'infrastructure'],
    ['ghcr.io/teutonet/cluster-api-provider-hosted-control-plane:v0.1.0', 'control-plane'],
    ['localhost:5000/cso:v1', 'stacks'],
    ['quay.io/orc/openstack-resource-controller:v2.2.0', 'images'],
    ['nginx:1.27', undefined],
    ['example.org/my-cluster-api-controller:v1', undefined],
  ])('%s is recognized as area %s', (image, area) => {
    expect(managerOfImage(image)?.area).toBe(area);
  });
});

describe('the built-in program of a manager image', () => {
  const image = 'registry.k8s.io/cluster-api/cluster-api-controller:v1.11.0';

  it('reports the health of the controllers and keeps running', async () => {
    let health = { ok: false, problems: ['a cache fails'] };
    const program = builtInProgram(image, ['/manager', '--health-addr=:9555'], () => health)!;
    const ports = new Map<number, PortService>();
    const stop = new AbortController();
    const process: Partial<SimulatedProcess> = {
      argv: ['/manager', '--health-addr=:9555'],
      image,
      signal: stop.signal,
      log: () => {},
      listen: (port, service) => {
        ports.set(port, service);
        return () => {};
      },
    };
    const ended = program(process as SimulatedProcess);
    expect([...ports.keys()].sort()).toEqual([8081, 9440, 9555]);
    const ask = async (path: string) => await ports.get(9555)?.get?.(path);
    expect(await ask('/readyz')).toEqual({ status: 500, body: 'a cache fails\n' });
    expect(await ask('/healthz')).toMatchObject({ status: 200 });
    health = { ok: true, problems: [] };
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
    stop.abort();
    expect(await ended).toBe(0);
  });

  it('is used only for the manager command of known images', () => {
    expect(builtInProgram(image, ['sh', '-c', 'true'], () => well)).toBeUndefined();
    expect(builtInProgram('nginx', [], () => well)).toBeUndefined();
    expect(builtInProgram(image, [], () => well)).toBeDefined();
  });
});

describe('the health of controllers', () => {
  it('is the health of their manager when their area runs', () => {
    const health = createControllerHealth(new Set(['cluster']));
    expect(health.of('cluster')).toEqual({ ok: false, problems: ['the controllers are about to start'] });
    const manager = { ready: () => well, healthy: () => well as { ok: boolean; problems: string[] } };
    health.attach(manager);
    expect(health.of('cluster').ok).toBe(true);
    expect(health.of('infrastructure')).toEqual({
      ok: false,
      problems: ['the controllers of area infrastructure do not run here (--controllers)'],
    });
    manager.healthy = () => ({ ok: false, problems: ['lost its stream'] });
    expect(health.of('cluster')).toEqual({ ok: false, problems: ['lost its stream'] });
  });
});

describe('Deployments for built-in controllers', () => {
  let api: MemoryApi;
  beforeAll(async () => {
    api = await startMemoryApi();
  });
  afterAll(() => api.close());

  it('exist for running areas, are written once, and never replace those of others', async () => {
    const { client } = api.connection;
    const metadata = { namespace: 'capo-system', name: 'capo-controller-manager' };
    const labels = { app: 'theirs' };
    const containers = [{ name: 'manager', image: 'registry.k8s.io/capi-openstack/capi-openstack-controller:v0.14.0' }];
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'capo-system' } };
    await client.create(Namespaces, namespace, { fieldManager: 'test' });
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
    await client.create(
      Deployments,
      { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
      { fieldManager: 'test' },
    );
    const areas = new Set(['cluster', 'infrastructure'] as const);
    await ensureStandIns(client, areas, signal);
    const revision = api.revision();
    await ensureStandIns(client, areas, signal);
    expect(api.revision()).toBe(revision);
    const found = (await client.list(Deployments, {})).items.map(
      ({ metadata: { namespace: place, name, annotations } }) =>
        `${place}/${name} ${annotations?.['capstan.dev/built-in']}`,
    );
    expect(found.sort()).toEqual([
      'capi-system/capi-controller-manager cluster',
      'capo-system/capo-controller-manager undefined',
    ]);
  });
});
