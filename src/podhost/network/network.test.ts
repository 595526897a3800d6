import { connect, createServer, type Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EndpointSlice, EndpointSlices, type Service, type ServiceSpec, Services } from '../../api/index.ts';
import { duplexPair, type PortService, type SimulatedProgram } from '../../simkube/index.ts';
import { by, container, type HostWorld, hostWorld, isReady, namespace, untilStopped } from '../testing/host-world.ts';

let world: HostWorld;
beforeAll(async () => {
  world = await hostWorld({ sockets: 107 });
});
afterEach(async () => {
  await world.clear();
  for (const name of ['web', 'pods', 'alias', 'balanced', 'desired', 'other', 'node'])
    await world.client.delete(Services, { namespace, name }).catch(() => {});
});
afterAll(() => world.stop());

/** Answers with its own name and closes the connection. */
const echoes: SimulatedProgram = async ({ listen, hostname, signal }) => {
  listen(8080, { accept: (socket) => void socket.end(`this is ${hostname}`) });
  await untilStopped(signal);
  return 0;
};

const createService = (name: string, spec: ServiceSpec): Promise<Service> =>
  world.client.create(Services, { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec }, by);

async function createBackends(names: readonly string[]): Promise<void> {
  world.use({ app: echoes });
  for (const name of names) {
    await world.createPod(
      name,
      { hostname: name, subdomain: 'pods', containers: [container()] },
      { labels: { app: 'web' } },
    );
  }
  for (const name of names) await world.podUntil(name, isReady);
}

const ports = [{ port: 80, targetPort: 8080 }];
const codeOf = (dial: () => unknown): string => {
  try {
    dial();
    return 'answered';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const endpoints = async (name: string): Promise<number> => {
  const { items } = await world.client.list(EndpointSlices, { namespace });
  const slices = items.filter(
    ({ metadata }: EndpointSlice) => metadata.labels?.['kubernetes.io/service-name'] === name,
  );
  return slices.flatMap((slice) => slice.endpoints ?? []).filter(({ conditions }) => conditions?.ready).length;
};
const ask = (service: PortService): Promise<string> => {
  const [near, far] = duplexPair();
  const answer = everything(near);
  service.accept(far);
  return answer;
};
const askOverSocket = (host: string, port: number): Promise<string> => everything(connect({ host, port }));
const everything = (stream: Duplex): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    stream.on('end', () => resolve(text));
    stream.on('error', reject);
  });

/** Listens on a free port of the node port range. */
async function listenOnNodePort(server: Server): Promise<number> {
  for (let port = 32_767; ; port--) {
    const isOpen = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen({ host: '127.0.0.1', port }, () => resolve(true));
    });
    if (isOpen) return port;
  }
}

describe('the network of the host', () => {
  it('reaches Pods through the address and all names of a Service in turn', async () => {
    await createBackends(['a', 'b']);
    const { spec } = await createService('web', { selector: { app: 'web' }, ports });
    await world.until(async () => (await endpoints('web')) === 2);
    const { network } = world.host;
    const names = ['web', 'web.default', 'web.default.svc', 'web.default.svc.cluster.local', 'WEB.default.svc.'];
    for (const name of names) expect(network.resolve(name, namespace)).toEqual([spec.clusterIP]);
    expect(network.resolve('web', 'elsewhere')).toEqual([]);
    const answers = [
      await ask(network.dial(spec.clusterIP!, 80)),
      await ask(network.dial('web', 80, namespace)),
      await ask(network.dial('web.default.svc', 80)),
    ];
    expect(new Set(answers)).toEqual(new Set(['this is a', 'this is b']));
    expect(codeOf(() => network.dial(spec.clusterIP!, 81))).toBe('ECONNREFUSED');
    expect(codeOf(() => network.dial('nobody', 80, namespace))).toBe('ENOTFOUND');
    expect(codeOf(() => network.dial('203.0.113.9', 80))).toBe('EHOSTUNREACH');
    const { status } = await world.pod('a');
    expect(await ask(network.dial(status!.podIP!, 8080))).toBe('this is a');
    expect(codeOf(() => network.dial(status!.podIP!, 9))).toBe('ECONNREFUSED');
  });

  it('resolves headless Services to their Pods, host names to Pods, and aliases to their targets', async () => {
    await createBackends(['a', 'b']);
    await createService('pods', { clusterIP: 'None', selector: { app: 'web' }, ports });
    await createService('alias', { type: 'ExternalName', externalName: 'pods.default.svc.cluster.local' });
    await world.until(async () => (await endpoints('pods')) === 2);
    const { network } = world.host;
    const addresses = [(await world.pod('a')).status!.podIP!, (await world.pod('b')).status!.podIP!].sort();
    expect(network.resolve('pods', namespace)).toEqual(addresses);
    expect(network.resolve('alias', namespace)).toEqual(addresses);
    expect(network.resolve('a.pods', namespace)).toEqual([(await world.pod('a')).status!.podIP]);
    expect(network.resolve('c.pods', namespace)).toEqual([]);
  });

  it('gives a load balancer an address that answers over a real socket and survives a restart', async () => {
    await createBackends(['a']);
    await createService('balanced', {
      type: 'LoadBalancer',
      selector: { app: 'web' },
      ports: [{ port: 18080, targetPort: 8080 }],
    });
    const address = async (): Promise<string | undefined> =>
      (await world.find(Services, 'balanced'))?.status?.loadBalancer?.ingress?.[0]?.ip;
    await world.until(async () => (await address()) !== undefined && (await endpoints('balanced')) === 1);
    const given = (await address())!;
    expect(given.startsWith(await world.address(''))).toBe(true);
    expect(await askOverSocket(given, 18080)).toBe('this is a');
    expect(await ask(world.host.outside(given, 18080)!)).toBe('this is a');
    await world.restart();
    await world.podUntil('a', (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === 1);
    await world.until(async () => (await endpoints('balanced')) === 1);
    expect(await address()).toBe(given);
    expect(await askOverSocket(given, 18080)).toBe('this is a');
    await world.client.delete(Services, { namespace, name: 'balanced' });
    await world.until(() => codeOf(() => world.host.network.dial(given, 18080)) === 'EHOSTUNREACH');
    await expect(askOverSocket(given, 18080)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('honours the address a load balancer asks for and reports when it is not available', async () => {
    const balanced = (loadBalancerIP: string): ServiceSpec => ({ type: 'LoadBalancer', loadBalancerIP, ports });
    const asked = await world.address('200.7');
    await createService('desired', { ...balanced(asked), ports: [{ port: 18081 }] });
    await world.until(
      async () => (await world.find(Services, 'desired'))?.status?.loadBalancer?.ingress?.[0]?.ip !== undefined,
    );
    expect((await world.find(Services, 'desired'))?.status?.loadBalancer?.ingress).toEqual([
      { ip: asked, ipMode: 'VIP' },
    ]);
  });

  it('listens on no address outside its own range, whoever names it', async () => {
    const own = async (rest: string): Promise<string> => world.address(rest);
    const foreign = ['192.0.2.1', '127.0.0.1', '127.99.200.7', '0.0.0.0', await own('0.1'), await own('0.2')];
    for (const [index, address] of foreign.entries()) {
      const name = `other-${index}`;
      await createService(name, { type: 'LoadBalancer', loadBalancerIP: address, ports: [{ port: 18085 }] });
      await world.until(async () => (await world.events(name)).length > 0);
      const [event] = await world.events(name);
      expect(event).toMatchObject({ reason: 'SyncLoadBalancerFailed', type: 'Warning' });
      expect(event?.message).toContain(`must be a free one of ${(await own('0.0')).replace(/\.0\.0$/, '')}.0.0/16`);
      expect((await world.find(Services, name))?.status?.loadBalancer?.ingress).toBeUndefined();
      await expect(askOverSocket(address, 18085)).rejects.toThrow();
    }
  });

  it('routes no traffic to a Service that claims an address it does not own', async () => {
    await createBackends(['a']);
    const { spec } = await createService('web', { selector: { app: 'web' }, ports });
    await world.until(async () => (await endpoints('web')) === 1);
    const podIP = (await world.pod('a')).status!.podIP!;
    await createService('thief', {
      externalIPs: [spec.clusterIP!, podIP, '203.0.113.9'],
      ports: [80, 8080].map((port) => ({ name: `p${port}`, port })),
    });
    const { network } = world.host;
    await world.until(() => codeOf(() => network.dial('203.0.113.9', 80, namespace)) === 'ECONNREFUSED');
    expect(await ask(network.dial(spec.clusterIP!, 80, namespace))).toBe('this is a');
    expect(await ask(network.dial(podIP, 8080, namespace))).toBe('this is a');
    expect(codeOf(() => network.dial('203.0.113.9', 80, 'elsewhere'))).toBe('EHOSTUNREACH');
    expect(codeOf(() => network.dial('203.0.113.9', 80))).toBe('EHOSTUNREACH');
  });

  it('gives a recreated load balancer its former address, even while another one shows it', async () => {
    const address = async (): Promise<string | undefined> =>
      (await world.find(Services, 'balanced'))?.status?.loadBalancer?.ingress?.[0]?.ip;
    const spec: ServiceSpec = { type: 'LoadBalancer', ports: [{ port: 18082 }] };
    await createService('balanced', spec);
    await world.until(async () => (await address()) !== undefined);
    const given = (await address())!;
    const shown = await createService('other', { ...spec, loadBalancerClass: 'example.test/alias' });
    await world.client.update(
      Services,
      { ...shown, status: { loadBalancer: { ingress: [{ ip: given }] } } },
      { ...by, subresource: 'status' },
    );
    await world.client.delete(Services, { namespace, name: 'balanced' });
    await world.until(() => codeOf(() => world.host.network.dial(given, 18082)) !== 'answered');
    await createService('balanced', spec);
    await world.until(async () => (await address()) !== undefined);
    expect(await address()).toBe(given);
  });

  it('reports the node port another program has and opens it when that one is gone', async () => {
    const taken = createServer((socket) => socket.end('mine'));
    const nodePort = await listenOnNodePort(taken);
    await createBackends(['a']);
    await createService('node', { type: 'NodePort', selector: { app: 'web' }, ports: [{ ...ports[0]!, nodePort }] });
    await world.until(async () => (await world.events('node')).some(({ reason }) => reason === 'ListenFailed'));
    const [event] = (await world.events('node')).filter(({ reason }) => reason === 'ListenFailed');
    expect(event).toMatchObject({ type: 'Warning', message: expect.stringContaining('EADDRINUSE') as string });
    expect(event?.message).toContain(`Port ${nodePort} of 127.0.0.1 is not open on this machine`);
    expect(await askOverSocket('127.0.0.1', nodePort)).toBe('mine');
    await new Promise((resolve) => taken.close(resolve));
    await world.pass(10_000);
    await world.until(async () => (await endpoints('node')) === 1);
    expect(await askOverSocket('127.0.0.1', nodePort)).toBe('this is a');
  });

  it('opens node ports', async () => {
    await createBackends(['a']);
    const { spec } = await createService('node', { type: 'NodePort', selector: { app: 'web' }, ports });
    await world.until(async () => (await endpoints('node')) === 1);
    const { nodePort } = spec.ports![0]!;
    expect(await askOverSocket('127.0.0.1', nodePort!)).toBe('this is a');
    expect(await askOverSocket(await world.address('0.1'), nodePort!)).toBe('this is a');
  });
});
