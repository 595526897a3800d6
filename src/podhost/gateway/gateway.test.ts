import { connect, createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Gateway,
  type GatewayListener,
  Gateways,
  Ingresses,
  Services,
  type TLSRouteSpec,
  TlsRoutes,
} from '../../api/index.ts';
import { systemClock } from '../../machinery/index.ts';
import { type CertificateAndKey, createAuthority, issueCertificate } from '../../pki/index.ts';
import type { ReachableApi, SimulatedProgram } from '../../simkube/index.ts';
import { by, container, type HostWorld, hostWorld, isReady, namespace, untilStopped } from '../testing/host-world.ts';

let world: HostWorld;
let authority: CertificateAndKey;
let serving: CertificateAndKey;
beforeAll(async () => {
  authority = await createAuthority({ commonName: 'test', clock: systemClock });
  serving = await issueCertificate({
    authority,
    commonName: 'any',
    hosts: ['*.example.test'],
    usages: ['server'],
    clock: systemClock,
  });
  world = await hostWorld({ sockets: 111, gateways: true });
});
afterAll(() => world.stop());

/** A TLS server with the test's certificate that answers with its own name. */
const tlsServer: SimulatedProgram = async ({ listen, hostname, signal }) => {
  const server = createServer({ cert: serving.certificate, key: serving.privateKey }, (socket) => {
    socket.end(`this is ${hostname}`);
  });
  const api = { servingCertificate: () => hostname } as Partial<ReachableApi> as ReachableApi;
  listen(6443, { accept: (socket) => void server.emit('connection', socket), api });
  await untilStopped(signal);
  return 0;
};

const ask = (host: string, port: number, servername: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, servername, ca: authority.certificate });
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('end', () => (text === '' ? reject(new Error('closed the connection')) : resolve(text)));
    socket.on('error', reject);
  });

async function createPlane(name: string): Promise<void> {
  world.use({ app: tlsServer });
  await world.createPod(name, { containers: [container()] }, { labels: { plane: name } });
  const spec = { selector: { plane: name }, ports: [{ name: 'api', port: 443, targetPort: 6443 }] };
  await world.client.create(Services, { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec }, by);
  await world.podUntil(name, isReady);
}

const listener = (more: Partial<GatewayListener> = {}): GatewayListener => ({
  name: 'tls',
  port: 16_443,
  protocol: 'TLS',
  tls: { mode: 'Passthrough' },
  ...more,
});

const createGateway = (name: string, listeners: GatewayListener[], gatewayClassName = 'capstan'): Promise<Gateway> =>
  world.client.create(
    Gateways,
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name, namespace },
      spec: { gatewayClassName, listeners },
    },
    by,
  );

const createRoute = (name: string, spec: TLSRouteSpec): Promise<unknown> =>
  world.client.create(
    TlsRoutes,
    { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'TLSRoute', metadata: { name, namespace }, spec },
    by,
  );

const toPlane = (plane: string): TLSRouteSpec['rules'] => [{ backendRefs: [{ name: plane, port: 443 }] }];
const accepted = async (route: string): Promise<string | undefined> =>
  (await world.find(TlsRoutes, route))?.status?.parents[0]?.conditions.find(({ type }) => type === 'Accepted')?.reason;

describe('a Gateway', () => {
  it('gets an address and routes TLS to the planes by the requested server name', async () => {
    await createPlane('one');
    await createPlane('two');
    await createGateway('edge', [listener({ hostname: '*.example.test' })]);
    for (const name of ['one', 'two']) {
      const hostnames = [`${name}.example.test`];
      await createRoute(name, { parentRefs: [{ name: 'edge' }], hostnames, rules: toPlane(name) });
    }
    await world.until(async () => (await accepted('two')) === 'Accepted');
    await world.until(async () => (await world.find(Gateways, 'edge'))?.status?.listeners?.[0]?.attachedRoutes === 2);
    const { status } = (await world.find(Gateways, 'edge'))!;
    const address = status!.addresses![0]!.value;
    expect(address.startsWith(await world.address(''))).toBe(true);
    expect(status?.conditions).toMatchObject([
      { type: 'Accepted', status: 'True' },
      { type: 'Programmed', status: 'True' },
    ]);
    expect(await ask(address, 16_443, 'one.example.test')).toBe('this is one');
    expect(await ask(address, 16_443, 'two.example.test')).toBe('this is two');
    await expect(ask(address, 16_443, 'three.example.test')).rejects.toThrow();
    const { network } = world.host;
    expect(network.resolve('two.example.test')).toEqual([address]);
    expect(network.dial('two.example.test', 16_443).api?.servingCertificate?.()).toBe('two');
    expect(world.host.outside('one.example.test', 16_443)?.api?.servingCertificate?.()).toBe('one');
    expect(world.host.outside('one.default.svc', 443)).toBeUndefined();
    const { resourceVersion } = (await world.find(Gateways, 'edge'))!.metadata;
    await world.pass(60_000);
    expect((await world.find(Gateways, 'edge'))?.metadata.resourceVersion).toBe(resourceVersion);
  });

  it('tells routes why it does not serve them', async () => {
    await createGateway('narrow', [listener({ hostname: '*.narrow.test', port: 16_444 })]);
    const refused: [string, TLSRouteSpec][] = [
      [
        'NoMatchingListenerHostname',
        { parentRefs: [{ name: 'narrow' }], hostnames: ['a.wide.test'], rules: toPlane('one') },
      ],
      ['NoMatchingParent', { parentRefs: [{ name: 'narrow', sectionName: 'absent' }], rules: toPlane('one') }],
    ];
    for (const [reason, spec] of refused) {
      const name = reason.toLowerCase();
      await createRoute(name, spec);
      await world.until(async () => (await accepted(name)) === reason);
    }
    await createRoute('lost', { parentRefs: [{ name: 'narrow' }], rules: toPlane('nobody') });
    await world.until(async () => (await accepted('lost')) === 'Accepted');
    expect((await world.find(TlsRoutes, 'lost'))?.status?.parents[0]?.conditions).toMatchObject([
      {},
      { type: 'ResolvedRefs', status: 'False', reason: 'BackendNotFound', message: 'Service default/nobody not found' },
    ]);
  });

  it('does not serve listeners that terminate TLS or belong to another implementation', async () => {
    await createGateway('opens', [
      listener({ tls: { mode: 'Terminate', certificateRefs: [{ name: 'x' }], options: { a: 'b' } }, port: 16_445 }),
    ]);
    await createGateway('foreign', [listener({ port: 16_446 })], 'cilium');
    await world.until(async () => (await world.find(Gateways, 'opens'))?.status?.listeners !== undefined);
    expect((await world.find(Gateways, 'opens'))?.status).toMatchObject({
      conditions: [{ status: 'False', reason: 'ListenersNotValid' }, { status: 'False' }],
      listeners: [{ conditions: [{ type: 'Accepted', status: 'False', reason: 'UnsupportedProtocol' }, {}] }],
    });
    expect((await world.find(Gateways, 'foreign'))?.status?.addresses).toBeUndefined();
  });
});

describe('an Ingress', () => {
  it('of the default class is routed by its host too', async () => {
    await world.client.create(
      Ingresses,
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name: 'i', namespace },
        spec: {
          ingressClassName: 'capstan',
          rules: [
            {
              host: 'ingress.example.test',
              http: {
                paths: [
                  { path: '/', pathType: 'Prefix', backend: { service: { name: 'one', port: { name: 'api' } } } },
                ],
              },
            },
          ],
        },
      },
      by,
    );
    await world.until(async () => (await world.find(Ingresses, 'i'))?.status?.loadBalancer?.ingress !== undefined);
    const { network } = world.host;
    expect(network.resolve('ingress.example.test')).toEqual([await world.address('0.2')]);
    expect(network.dial('ingress.example.test', 443).api?.servingCertificate?.()).toBe('one');
  });
});
