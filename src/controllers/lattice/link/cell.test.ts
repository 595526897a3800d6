import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ConfigMaps,
  EndpointSlices,
  type LatticeCluster,
  LatticeClusters,
  Namespaces,
  Secrets,
  Services,
} from '../../../api/index.ts';
import {
  type Clock,
  type KubeObject,
  ManualClock,
  type Resource,
  seededRandom,
  systemClock,
} from '../../../machinery/index.ts';
import { nullLogger, type ReconcileContext } from '../../../runtime/index.ts';
import { type MemoryClient, memoryClient } from '../../../runtime/testkit/index.ts';
import { Agent } from './agent.ts';
import { Cell, type CellPlace } from './cell.ts';
import { agentCredentialsKey, authorityKey, cellKey, enrolmentKey, parentConfigKey } from './names.ts';
import { configOf } from './parent-config.ts';

const signal = new AbortController().signal;
const anyPort = { host: '127.0.0.1', port: 0 };
const loopback: CellPlace = { bootstrap: anyPort, agents: anyPort };

describe('the link endpoints of a management API', () => {
  let parent: MemoryClient;
  let child: MemoryClient;
  let cell: Cell;
  let agents: Agent[];
  /** how far the endpoints' clock is ahead */
  let aheadMs = 0;

  const newApi = (seed: number): MemoryClient => {
    const api = memoryClient({ clock: new ManualClock(0), random: seededRandom(seed) });
    for (const name of ['kube-system', 'lattice-system']) {
      api.seed(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    return api;
  };
  const cached = new Map<string, KubeObject>();
  const refresh = async (): Promise<void> => {
    cached.clear();
    for (const resource of [Secrets, LatticeClusters] as Resource<KubeObject>[]) {
      for (const object of (await parent.list(resource)).items) {
        cached.set(`${resource.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`, object);
      }
    }
  };
  const open = (place: CellPlace): Cell =>
    new Cell({
      client: parent,
      cache: {
        lister: ({ kind }: Resource<KubeObject>) => ({
          get: (key: { namespace?: string; name: string }) => cached.get(`${kind} ${key.namespace ?? ''}/${key.name}`),
          list: ({ filter = () => true }: { filter?: (object: KubeObject) => boolean } = {}) =>
            [...cached.values()].filter((object) => object.kind === kind && filter(object)),
        }),
      } as never,
      clock: Object.create(systemClock, { now: { value: () => systemClock.now() + aheadMs } }) as Clock,
      log: nullLogger,
      place,
      installation: async () => [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'capstan-system' } }],
    });
  const context = (): ReconcileContext =>
    ({ client: parent, cache: { lister: () => cell }, clock: systemClock, signal }) as never;
  const lattice = (name: string): LatticeCluster =>
    parent.seed(LatticeClusters, {
      apiVersion: 'lattice.dev/v1alpha1',
      kind: 'LatticeCluster',
      metadata: { name },
      spec: { provider: {}, nodes: { controlPlane: 1 }, endpoints: {} },
    } as never);
  const told = async (from: MemoryClient = child) => configOf(await from.get(Secrets, parentConfigKey));
  const dialIn = async (inside: MemoryClient = child): Promise<Agent> => {
    const config = await told(inside);
    await refresh();
    if (!config) throw new Error('nothing was told');
    const agent = new Agent({
      client: inside,
      clock: systemClock,
      random: seededRandom(3),
      log: nullLogger,
      dials: { parent: socketTo, api: () => Promise.reject(new Error('no API here')) },
      ownParent: () => undefined,
      onChange: () => {},
    });
    agents.push(agent);
    await agent.keep(config, signal);
    return agent;
  };

  beforeEach(async () => {
    parent = newApi(1);
    child = newApi(2);
    agents = [];
    aheadMs = 0;
    lattice('one');
    await refresh();
    cell = open(loopback);
  });
  afterEach(async () => {
    for (const agent of agents) agent.stop();
    await cell.close();
  });
  const enrol = async (change?: (cluster: LatticeCluster) => void): Promise<LatticeCluster> => {
    const draft = structuredClone(await parent.get(LatticeClusters, { name: 'one' }));
    change?.(draft);
    await cell.ensure(context());
    await cell.enrol(context(), draft, child);
    return draft;
  };
  const connected = async (): Promise<void> => {
    await expect.poll(() => cell.verdict('one').reason).toBe('Connected');
  };

  it('report how a cluster is reached, and since when it is silent', async () => {
    await enrol();
    expect(cell.verdict('one')).toMatchObject({
      reason: 'WaitingForAgent',
      message: expect.stringContaining('127.0.0.1:'),
    });
    const agent = await dialIn();
    await connected();
    agent.stop();
    await expect.poll(() => cell.verdict('one').reason).toBe('Disconnected');
    expect(cell.verdict('one').message).toMatch(/last heard at \d{4}-.*; meanwhile the parent dials it/);
  });

  it('close a stream without a destination, but not after the cluster has connected again', async () => {
    await enrol();
    await dialIn();
    await connected();
    cell.doubt('one');
    await expect.poll(() => cell.verdict('one').reason).toBe('Disconnected');
    await dialIn();
    await connected();
    cell.doubt('one');
    expect(cell.verdict('one').reason).toBe('Connected');
    aheadMs += 60_000;
    cell.doubt('one');
    await expect.poll(() => cell.verdict('one').reason).toBe('Disconnected');
  });

  it('enrol a cluster once, and write nothing more while it is connected', async () => {
    await enrol();
    await dialIn();
    await connected();
    const before = JSON.stringify([await parent.list(Secrets), await child.list(Secrets)]);
    await enrol();
    expect(JSON.stringify([await parent.list(Secrets), await child.list(Secrets)])).toBe(before);
  });

  it('send a new token when the first expired unused or the certificate was lost', async () => {
    await enrol();
    const first = (await told())?.token;
    await enrol();
    expect((await told())?.token).toBe(first);
    const expired = { data: { expiration: Buffer.from('2020-01-01T00:00:00Z').toString('base64') } };
    await parent.patch(Secrets, enrolmentKey('one'), 'merge', expired, { fieldManager: 'test' });
    await enrol();
    expect((await told())?.token).not.toBe(first);
    const agent = await dialIn();
    await connected();
    agent.stop();
    await child.delete(Secrets, agentCredentialsKey);
    await expect.poll(() => cell.verdict('one').reason).toBe('Disconnected');
    const used = (await told())?.token;
    await enrol();
    expect((await told())?.token).not.toBe(used);
    await dialIn();
    await connected();
  });

  it('send a new token when somebody requests it', async () => {
    await enrol();
    await dialIn();
    await connected();
    const before = (await told())?.token;
    const draft = await enrol((cluster) => {
      cluster.metadata.annotations = { 'lattice.dev/new-token': '' };
    });
    expect((await told())?.token).not.toBe(before);
    expect(draft.metadata.annotations).toEqual({});
  });

  it('continue after a restart on another port', async () => {
    await enrol();
    (await dialIn()).stop();
    const before = await told();
    await cell.close();
    cell = open(loopback);
    await enrol();
    expect(await told()).toMatchObject({ token: before?.token, authority: before?.authority });
    await dialIn();
    await connected();
  });

  it('do not enrol a cluster of another parent', async () => {
    await enrol();
    const other = newApi(9);
    const mine = parent;
    parent = other;
    lattice('one');
    const second = open(loopback);
    await second.ensure(context());
    await expect(second.enrol(context(), await other.get(LatticeClusters, { name: 'one' }), child)).rejects.toThrow(
      /belongs to another parent, whose kube-system has the uid/,
    );
    await second.close();
    parent = mine;
  });

  it('serve the manifests of a cluster for its token', async () => {
    await enrol();
    await refresh();
    const config = await told();
    const { request } = await import('node:https');
    const text = await new Promise<string>((resolve, reject) => {
      request(
        {
          host: '127.0.0.1',
          port: config?.bootstrapPort,
          path: '/api/clusters/one/manifests',
          ca: config?.authority,
          headers: { authorization: `Bearer ${config?.token}`, connection: 'close' },
        },
        (response) => {
          let all = '';
          response.setEncoding('utf8').on('data', (part: string) => {
            all += part;
          });
          response.on('end', () => resolve(all));
        },
      )
        .on('error', reject)
        .end();
    });
    const kinds = [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
    expect(kinds).toEqual(['Namespace', 'LatticeCluster', 'Namespace', 'Secret']);
    expect(text).toContain('cluster.x-k8s.io/paused');
  });

  it('report why nobody can connect', async () => {
    await cell.ensure(context());
    const place = await parent.get(ConfigMaps, cellKey);
    const port = Number(place.data?.['grpcPort']);
    const second = open({ ...loopback, agents: { host: '127.0.0.1', port } });
    await second.ensure(context());
    expect(second.verdict('one')).toMatchObject({
      reason: 'NotListening',
      message: expect.stringContaining('EADDRINUSE'),
    });
    await second.close();
  });

  describe('in a Pod', () => {
    beforeEach(() => {
      cell = open({ ...loopback, podAddress: '10.1.2.3', podPorts: { bootstrap: 8443, agents: 50_051 } });
    });

    it('are reached through a Service once it has an address', async () => {
      await cell.ensure(context());
      expect(cell.verdict('one')).toMatchObject({ reason: 'WaitingForEndpoint' });
      const service = await parent.get(Services, cellKey);
      expect(service.spec).toMatchObject({ type: 'LoadBalancer' });
      expect(service.spec?.selector).toBeUndefined();
      expect((await parent.get(EndpointSlices, cellKey)).endpoints).toMatchObject([{ addresses: ['10.1.2.3'] }]);
      const status = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } };
      await parent.patch(Services, cellKey, 'merge', { status }, { fieldManager: 'test', subresource: 'status' });
      await cell.ensure(context());
      expect((await parent.get(ConfigMaps, cellKey)).data).toMatchObject({ host: '203.0.113.9', grpcPort: '50051' });
    });

    it('are deleted with the last cluster, the load balancer first', async () => {
      await cell.ensure(context());
      await refresh();
      const noOthers = { ...context(), cache: { lister: () => ({ list: () => [] }) } } as never;
      await cell.release(noOthers, 'one');
      for (const [resource, key] of [
        [Services, cellKey],
        [EndpointSlices, cellKey],
        [ConfigMaps, cellKey],
        [Secrets, enrolmentKey('one')],
      ] as const) {
        await expect(parent.get(resource as Resource<KubeObject>, key)).rejects.toThrow();
      }
      await parent.get(Secrets, authorityKey);
    });
  });
});

function socketTo(host: string, port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host);
    socket.once('error', reject).once('connect', () => resolve(socket));
  });
}
