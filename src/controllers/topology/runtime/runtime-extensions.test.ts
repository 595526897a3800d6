import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type ExtensionServer,
  extensionHooks,
  startExtensionServer,
} from '../../../../test/support/extension-server.ts';
import {
  type Cluster,
  type ExtensionConfig,
  ExtensionConfigs,
  type HookName,
  type HookRequests,
  Namespaces,
  Secrets,
  type Service,
  Services,
} from '../../../api/index.ts';
import { type JsonObject, type PeerPolicy, peerPolicy } from '../../../machinery/index.ts';
import { memoryLogger } from '../../../runtime/index.ts';
import { type HookCaller, HookError } from '../../shared/index.ts';
import { by, createWorld, type World } from '../../testing/world.ts';
import { setupRuntimeExtensions } from './setup.ts';

const signal = new AbortController().signal;
let served = 0;

interface Stage {
  world: World;
  server: ExtensionServer;
  hooks: HookCaller;
  name: string;
  cluster: Cluster;
  config(): Promise<ExtensionConfig>;
}

/** Starts a world with an extension server and its ExtensionConfig. */
async function stage(
  options: {
    server?: Parameters<typeof startExtensionServer>[0];
    spec?: Partial<ExtensionConfig['spec']>;
    annotations?: Record<string, string>;
    clientConfig?: (server: ExtensionServer) => ExtensionConfig['spec']['clientConfig'];
    peers?: PeerPolicy;
    isDiscovered?: boolean;
  } = {},
): Promise<Stage> {
  const server = await startExtensionServer(options.server);
  let hooks: HookCaller | undefined;
  const closes: (() => Promise<void>)[] = [];
  const { logger } = memoryLogger();
  const world = await createWorld({
    extend: (manager, { client, clock }) => {
      const made = setupRuntimeExtensions(manager, {
        client,
        clock,
        log: logger,
        ...(options.peers && { peers: options.peers }),
      });
      hooks = made.hooks;
      closes.push(made.close);
    },
  });
  const name = `ext-${++served}`;
  await world.client.create(
    ExtensionConfigs,
    {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata: { name, ...(options.annotations && { annotations: options.annotations }) },
      spec: {
        clientConfig: options.clientConfig?.(server) ?? { url: server.url, caBundle: server.caBundle },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': world.namespace } },
        ...options.spec,
      },
    },
    by,
  );
  const config = (): Promise<ExtensionConfig> => world.client.get(ExtensionConfigs, { name });
  stops.push(async () => {
    await world.client.delete(ExtensionConfigs, { name }).catch(() => {});
    await world.stop();
    for (const close of closes) await close();
    await server.stop();
  });
  if (options.isDiscovered !== false) await until(world, async () => discoveredOf(await config())?.status === 'True');
  const cluster: Cluster = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: {
      namespace: world.namespace,
      name: 'one',
      uid: 'u1',
      labels: { tier: 'gold' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', kept: 'yes' },
      managedFields: [],
    },
    spec: { paused: false },
    status: { phase: 'Provisioned' },
  };
  return { world, server, hooks: hooks!, name, cluster, config };
}

const stops: (() => Promise<void>)[] = [];
const stopAll = async (): Promise<void> => {
  for (const stop of stops.splice(0)) await stop();
};
afterEach(stopAll);

/** Waits in real time for sockets, and slowly advances simulated time for retries. */
async function until(world: World, condition: () => boolean | Promise<boolean>, stepMs = 50): Promise<void> {
  const holds = async (): Promise<boolean> => {
    if (await condition()) return true;
    await world.pass(stepMs);
    return false;
  };
  await vi.waitUntil(holds, { timeout: 15_000, interval: 5 });
}

const discoveredOf = ({ status }: ExtensionConfig) => status?.conditions?.find(({ type }) => type === 'Discovered');

describe('discovery of runtime extensions', () => {
  test('lists every handler with its defaults, and forgets deleted extensions', async () => {
    const { server, name, config, hooks, cluster } = await stage({
      server: { handlers: { UpdateMachine: { timeoutSeconds: 30, failurePolicy: 'Ignore' } } },
    });
    const { status, metadata } = await config();
    // Cluster API's controllers check this before they call an extension
    expect(discoveredOf({ status } as ExtensionConfig)?.observedGeneration).toBe(metadata.generation);
    const handlers = status?.handlers ?? [];
    expect(handlers.map((handler) => handler.requestHook.hook).sort()).toEqual(Object.keys(extensionHooks).sort());
    expect(handlers.find((handler) => handler.requestHook.hook === 'BeforeClusterCreate')).toEqual({
      name: `before-cluster-create.${name}`,
      requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterCreate' },
      timeoutSeconds: 10,
      failurePolicy: 'Fail',
    });
    expect(handlers.find((handler) => handler.requestHook.hook === 'UpdateMachine')).toMatchObject({
      timeoutSeconds: 30,
      failurePolicy: 'Ignore',
    });
    expect(server.discoveries()).toBe(1);
    expect(hooks.isListenedTo('BeforeClusterCreate', cluster)).toBe(true);
    expect(hooks.isListenedTo('BeforeClusterCreate', { metadata: { namespace: 'default', name: 'x' } })).toBe(false);
  });

  test('reports a server that is down, retries it, and keeps its handlers when it goes down later', async () => {
    const { server, world, config, hooks, cluster } = await stage({
      isDiscovered: false,
      clientConfig: (made) => ({ url: made.url, caBundle: made.caBundle }),
    });
    await until(world, async () => discoveredOf(await config()) !== undefined);
    await server.stop();
    await world.client.patch(
      ExtensionConfigs,
      { name: (await config()).metadata.name! },
      'merge',
      { spec: { settings: { a: 'b' } } },
      by,
    );
    await until(world, async () => discoveredOf(await config())?.status === 'False');
    expect(discoveredOf(await config())).toMatchObject({ reason: 'NotDiscovered' });
    expect(discoveredOf(await config())?.message).toMatch(
      /^Error in discovery: https:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/,
    );
    expect((await config()).status?.handlers).toHaveLength(16);
    const result = await hooks.call('BeforeClusterCreate', cluster, { cluster }, signal);
    expect(result).toMatchObject({ status: 'failed' });
    await server.start();
    await until(world, async () => discoveredOf(await config())?.status === 'True');
  });

  test.each<[string, JsonObject, string]>([
    ['no status', { handlers: [] }, 'status must be Success or Failure, not absent'],
    ['a failure', { status: 'Failure', message: 'not today' }, 'failed: not today'],
    ['handlers that are no list', { status: 'Success', handlers: 'x' }, 'handlers must be a list'],
    [
      'wrong handlers',
      {
        status: 'Success',
        handlers: [
          { name: 'A_b', requestHook: { apiVersion: 'x/v1', hook: 'Dance' }, timeoutSeconds: 31 },
          { name: 'b', requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'UpdateMachine' } },
          { name: 'b', requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'UpdateMachine' } },
        ],
      },
      'handler A_b timeoutSeconds 31 must be between 0 and 30; handler A_b requestHook x/v1/Dance is not known; duplicate name for handler b found',
    ],
    ['no JSON', { status: 200, text: '<html>' }, 'the answer is not JSON'],
    ['a redirect', { status: 302, text: 'go away' }, 'the server answered 302: go away'],
  ])('refuses an answer with %s with a readable message', async (_, answer, expected) => {
    const { world, config } = await stage({
      isDiscovered: false,
      clientConfig: (server) => {
        server.answer('Discovery', answer);
        return { url: server.url, caBundle: server.caBundle };
      },
    });
    await until(world, async () => discoveredOf(await config())?.status === 'False');
    expect(discoveredOf(await config())?.message).toContain(expected);
    expect((await config()).status?.handlers ?? []).toEqual([]);
  });

  test('refuses a server certificate of another authority', async () => {
    const other = await startExtensionServer();
    const { world, config, server } = await stage({
      isDiscovered: false,
      clientConfig: (made) => ({ url: made.url, caBundle: other.caBundle }),
    });
    await other.stop();
    await until(world, async () => discoveredOf(await config())?.status === 'False');
    expect(discoveredOf(await config())?.message).toMatch(/certificate/);
    expect(server.discoveries()).toBe(0);
  });

  test.each(['127.0.0.1', 'localhost'])('does not contact a server at %s when the operator denies it', async (host) => {
    const { world, config, server } = await stage({
      isDiscovered: false,
      clientConfig: (made) => ({ url: `https://${host}:${made.port}`, caBundle: made.caBundle }),
      peers: peerPolicy({ deny: ['127.0.0.0/8', '::1'], allow: [] }),
    });
    await until(world, async () => discoveredOf(await config())?.status === 'False');
    expect(discoveredOf(await config())?.message).toContain('must not be connected to from here');
    expect(server.discoveries()).toBe(0);
  });

  test('reads the authority from the annotated Secret, also when it changes', async () => {
    const { world, server, config, name } = await stage({
      isDiscovered: false,
      annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'default/hooks-tls' },
      clientConfig: (made) => ({ url: made.url }),
    });
    await until(world, async () => discoveredOf(await config())?.status === 'False');
    expect(discoveredOf(await config())?.message).toContain('Secret default/hooks-tls');
    const annotations = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `${world.namespace}/hooks-tls` };
    await world.client.patch(ExtensionConfigs, { name }, 'merge', { metadata: { annotations } }, by);
    await world.client.create(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: world.namespace, name: 'hooks-tls' },
        data: { 'ca.crt': Buffer.from('a password').toString('base64') },
      },
      by,
    );
    await until(world, async () => discoveredOf(await config())?.message?.includes('has no certificate') === true);
    expect((await config()).spec.clientConfig.caBundle).toBeUndefined();
    const key = { namespace: world.namespace, name: 'hooks-tls' };
    await world.client.patch(Secrets, key, 'merge', { data: { 'ca.crt': server.caBundle } }, by);
    await until(world, async () => discoveredOf(await config())?.status === 'True');
    expect((await config()).spec.clientConfig.caBundle).toBe(server.caBundle);
  });

  test('finds a server through its Service, and requires a certificate for the Service name', async () => {
    const { world, config, server, name } = await stage({
      isDiscovered: false,
      server: { names: ['hooks.default.svc'] },
      clientConfig: (made) => ({
        service: { namespace: 'default', name: 'missing', port: made.port, path: '/below' },
        caBundle: made.caBundle,
      }),
    });
    await until(world, async () => discoveredOf(await config())?.status === 'False');
    expect(discoveredOf(await config())?.message).toContain('"missing" not found');
    const pointTo = (service: string) =>
      world.client.patch(
        ExtensionConfigs,
        { name },
        'merge',
        { spec: { clientConfig: { service: { name: service } } } },
        by,
      );
    for (const serviceName of ['hooks', 'others']) {
      const service: Service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { namespace: 'default', name: serviceName },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      };
      await world.client.create(Services, service, by);
    }
    await pointTo('others');
    await until(world, async () => discoveredOf(await config())?.message?.includes('others.default.svc') === true);
    expect(server.discoveries()).toBe(0);
    await pointTo('hooks');
    await until(world, async () => discoveredOf(await config())?.status === 'True');
  });
});

describe('calls of runtime extensions', () => {
  let on: Stage;
  const mine: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    on = await stage({ spec: { settings: { from: 'config', both: 'config' } } });
    mine.push(...stops.splice(0));
  });
  afterAll(async () => {
    for (const stop of mine) await stop();
  });
  const handler = (hook: HookName): string => `${extensionHooks[hook]}.${on.name}`;

  test('every blocking hook reaches its handler in the wire format', async () => {
    const { hooks, server, cluster } = on;
    const steps = [{ version: 'v1.33.0' }];
    const upgrade = {
      cluster,
      fromKubernetesVersion: 'v1.32.0',
      toKubernetesVersion: 'v1.33.0',
      controlPlaneUpgrades: steps,
      workersUpgrades: steps,
    };
    const after = { cluster, kubernetesVersion: 'v1.33.0', controlPlaneUpgrades: steps };
    const machine = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', metadata: { name: 'm' }, spec: {} };
    const requests: Partial<HookRequests> = {
      BeforeClusterCreate: { cluster },
      AfterControlPlaneInitialized: { cluster },
      BeforeClusterUpgrade: upgrade,
      BeforeControlPlaneUpgrade: upgrade,
      AfterControlPlaneUpgrade: after,
      BeforeWorkersUpgrade: upgrade,
      AfterWorkersUpgrade: after,
      AfterClusterUpgrade: { cluster, kubernetesVersion: 'v1.33.0' },
      BeforeClusterDelete: { cluster },
      UpdateMachine: { desired: { machine: machine as never } },
    };
    for (const [hook, request] of Object.entries(requests)) {
      const before = server.calls.length;
      const result = await hooks.call(hook as 'BeforeClusterCreate', cluster, request as never, signal);
      expect([hook, result]).toEqual([hook, { status: 'go-on' }]);
      expect(server.calls.slice(before).map((call) => [call.hook, call.handler])).toEqual([
        [hook, extensionHooks[hook]],
      ]);
      const { request: sent, path } = server.calls.at(-1)!;
      expect(sent).toMatchObject({
        apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1',
        kind: `${hook}Request`,
        settings: { from: 'config', both: 'config' },
      });
      expect(path).toBe(
        `/hooks.runtime.cluster.x-k8s.io/v1alpha1/${hook.toLowerCase()}/${extensionHooks[hook]}?timeout=10s`,
      );
    }
    const upgradeSent = server.calls.find(({ hook }) => hook === 'BeforeClusterUpgrade')!.request;
    expect(upgradeSent['cluster']).toEqual({
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: {
        namespace: cluster.metadata.namespace,
        name: 'one',
        uid: 'u1',
        labels: { tier: 'gold' },
        annotations: { kept: 'yes' },
      },
      spec: { paused: false },
    });
    expect(upgradeSent).toMatchObject({ fromKubernetesVersion: 'v1.32.0', workersUpgrades: steps });
  });

  test('questions go to one handler, with class settings over extension settings', async () => {
    const { hooks, server, cluster } = on;
    server.answer('GeneratePatches', {
      status: 'Success',
      items: [{ uid: 'a', patchType: 'JSONPatch', patch: Buffer.from('[]').toString('base64') }],
    });
    const answer = await hooks.ask(
      'GeneratePatches',
      handler('GeneratePatches'),
      cluster,
      { variables: [{ name: 'flavor', value: 'm1' }], items: [] },
      { signal, settings: { both: 'class' } },
    );
    expect(answer).toEqual({ items: [{ uid: 'a', patchType: 'JSONPatch', patch: 'W10=' }] });
    expect(server.calls.at(-1)?.request).toMatchObject({
      kind: 'GeneratePatchesRequest',
      settings: { from: 'config', both: 'class' },
      variables: [{ name: 'flavor', value: 'm1' }],
      items: [],
    });
    server.answer('GenerateUpgradePlan', { status: 'Success', controlPlaneUpgrades: [{ version: 'v1.33.0' }] });
    const plan = await hooks.ask(
      'GenerateUpgradePlan',
      handler('GenerateUpgradePlan'),
      cluster,
      { cluster, fromControlPlaneKubernetesVersion: 'v1.32.0', toKubernetesVersion: 'v1.33.0' },
      { signal },
    );
    expect(plan).toEqual({ controlPlaneUpgrades: [{ version: 'v1.33.0' }], workersUpgrades: [] });
    const flavor = { name: 'flavor', required: true, schema: { openAPIV3Schema: { type: 'string' } } };
    server.answer('DiscoverVariables', { status: 'Success', variables: [flavor] });
    const variables = await hooks.ask('DiscoverVariables', handler('DiscoverVariables'), cluster, {}, { signal });
    expect(variables).toEqual({ variables: [flavor] });
    server.answer('CanUpdateMachine', {
      status: 'Success',
      machinePatch: { patchType: 'JSONMergePatch', patch: 'e30=' },
    });
    const machine = { machine: { metadata: { name: 'm' } } as never };
    const can = await hooks.ask(
      'CanUpdateMachine',
      handler('CanUpdateMachine'),
      cluster,
      { current: machine, desired: machine },
      { signal },
    );
    expect(can).toEqual({ machinePatch: { patchType: 'JSONMergePatch', patch: 'e30=' } });
    expect(hooks.handlers('CanUpdateMachineSet', cluster)).toEqual([handler('CanUpdateMachineSet')]);
  });

  test.each<[string, JsonObject, string]>([
    ['a failure', { status: 'Failure', message: 'no quota' }, 'failed: no quota'],
    [
      'an unknown status',
      { status: 'Maybe' },
      'answered what cannot be understood: status must be Success or Failure, not "Maybe"',
    ],
    [
      'a wait that is no number',
      { status: 'Success', retryAfterSeconds: 'soon' },
      'retryAfterSeconds must be a whole number, not "soon"',
    ],
    [
      'a negative wait',
      { status: 'Success', retryAfterSeconds: -1 },
      'retryAfterSeconds must be a whole number, not -1',
    ],
    ['an error of the server', { status: 500, text: 'oops' }, 'cannot be asked: https://127.0.0.1'],
  ])('%s is a failure that names the handler', async (_, answer, expected) => {
    const { hooks, server, cluster } = on;
    server.answer('BeforeClusterDelete', answer);
    const result = await hooks.call('BeforeClusterDelete', cluster, { cluster }, signal);
    expect(result.status).toBe('failed');
    expect((result as { message: string }).message).toContain(
      `handler ${handler('BeforeClusterDelete')} of hook BeforeClusterDelete`,
    );
    expect((result as { message: string }).message).toContain(expected);
  });

  test('a handler that asks to wait is shown and not called before that time', async () => {
    const { hooks, server, cluster, world } = on;
    server.answer('BeforeClusterCreate', {
      status: 'Success',
      retryAfterSeconds: 20,
      message: 'waiting for an address',
    });
    const before = server.calls.length;
    const ask = () => hooks.call('BeforeClusterCreate', cluster, { cluster }, signal);
    const waits = { status: 'wait', message: `${handler('BeforeClusterCreate')}: waiting for an address` };
    expect(await ask()).toMatchObject({ ...waits, retryAfterSeconds: 20 });
    await world.pass(19_000);
    expect(await ask()).toMatchObject({ ...waits, retryAfterSeconds: 1 });
    expect(server.calls.length - before).toBe(1);
    server.answer('BeforeClusterCreate', { status: 'Success' });
    await world.pass(1_000);
    expect(await ask()).toEqual({ status: 'go-on' });
  });

  test('a handler that is unknown, of another hook or of another namespace is refused', async () => {
    const { hooks, cluster } = on;
    const ask = (hook: 'ValidateTopology', name: string, subject = cluster) =>
      hooks.ask(hook, name, subject, { items: [] }, { signal });
    await expect(ask('ValidateTopology', 'nobody.ext')).rejects.toThrow(HookError);
    await expect(ask('ValidateTopology', 'nobody.ext')).rejects.toThrow('is not known');
    await expect(ask('ValidateTopology', handler('UpdateMachine'))).rejects.toThrow('it answers UpdateMachine');
    const elsewhere = { ...cluster, metadata: { ...cluster.metadata, namespace: 'default' } };
    await expect(ask('ValidateTopology', handler('ValidateTopology'), elsewhere)).rejects.toThrow(
      'does not select namespace default',
    );
  });
});

test('a stalled handler is aborted at its timeout, and its extension is not called for a while', async () => {
  const { hooks, server, cluster, world } = await stage({
    server: { handlers: { BeforeClusterDelete: { timeoutSeconds: 3 } } },
  });
  server.answer('BeforeClusterDelete', 'stall');
  const first = hooks.call('BeforeClusterDelete', cluster, { cluster }, signal);
  await until(world, () => server.calls.length === 1, 0);
  await world.pass(3_000);
  expect(await first).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('no answer within 3 seconds'),
  });
  expect(await hooks.call('BeforeClusterDelete', cluster, { cluster }, signal)).toMatchObject({ status: 'failed' });
  expect(server.calls).toHaveLength(1);
  server.answer('BeforeClusterDelete', { status: 'Success' });
  await world.pass(10_000);
  expect(await hooks.call('BeforeClusterDelete', cluster, { cluster }, signal)).toEqual({ status: 'go-on' });
});

test('failure policy Ignore applies to unreachable servers, not to refusals', async () => {
  const { hooks, server, cluster } = await stage({
    server: { handlers: { BeforeClusterDelete: { failurePolicy: 'Ignore' } } },
  });
  const ask = () => hooks.call('BeforeClusterDelete', cluster, { cluster }, signal);
  server.answer('BeforeClusterDelete', { status: 503, text: '' });
  expect(await ask()).toEqual({ status: 'go-on' });
  server.answer('BeforeClusterDelete', { status: 'Failure', message: 'never' });
  expect(await ask()).toMatchObject({ status: 'failed' });
  await server.stop();
  expect(await ask()).toEqual({ status: 'go-on' });
});

test('extensions are called only when their namespace selector matches', async () => {
  const { hooks, world, cluster, name } = await stage({
    spec: { namespaceSelector: { matchLabels: { hooks: 'yes' } } },
  });
  expect(hooks.isListenedTo('BeforeClusterCreate', cluster)).toBe(false);
  await world.client.patch(
    Namespaces,
    { name: world.namespace },
    'merge',
    { metadata: { labels: { hooks: 'yes' } } },
    by,
  );
  await until(world, () => hooks.isListenedTo('BeforeClusterCreate', cluster));
  await world.client.delete(ExtensionConfigs, { name });
  await until(world, () => !hooks.isListenedTo('BeforeClusterCreate', cluster));
});
