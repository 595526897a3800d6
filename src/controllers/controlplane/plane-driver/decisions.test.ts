import { describe, expect, it } from 'vitest';
import type { Secret } from '../../../api/index.ts';
import { hostedNaming, type PlannedAuthority, type PlannedKey } from '../../../hosting/index.ts';
import { type JsonObject, ManualClock, type UnstructuredObject } from '../../../machinery/index.ts';
import { createAuthority, createServiceAccountKeyPair } from '../../../pki/index.ts';
import type { EnsuredCredentials } from './certificates/ensure.ts';
import { rotate } from './certificates/rotate.ts';
import { planeStages } from './driver.ts';
import { addressLeftOpen, recordedEndpoint } from './endpoint.ts';
import { followed } from './in-cluster.ts';
import { mountedByUser } from './mounted.ts';
import { gatewayFacts } from './stages/observe.ts';
import { emptyState, type PlaneState, readState, stateData } from './state.ts';
import { hostedPlaneSpec } from './testing/plane-world.ts';
import type { PlaneStage } from './types.ts';

const hourMs = 3_600_000;

describe('the stored state of a plane', () => {
  const secret = (data: Record<string, string>): Secret => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {},
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  });

  it('is read as it was written', () => {
    const state: PlaneState = {
      rotations: {
        ca: { record: { phase: 'introduced', request: 'x', since: 7 }, next: { certificate: 'c', privateKey: 'k' } },
      },
      defragmentedMs: 5,
    };
    expect(readState(secret(stateData(state)))).toEqual(state);
  });

  it.each(['', 'no JSON', '[]', '{"rotations":3}'])('is empty for the text %j', (text) => {
    expect(readState(secret({ state: text }))).toEqual(emptyState);
  });
});

describe('rotations', () => {
  const sa: PlannedKey = {
    kind: 'key',
    name: 'sa',
    place: hostedNaming('c1').secrets.sa!,
    labels: {},
    external: false,
    algorithm: 'ECDSA-P256',
  };
  const ca: PlannedAuthority = {
    kind: 'authority',
    name: 'ca',
    place: hostedNaming('c1').secrets.ca!,
    labels: {},
    external: false,
    commonName: 'kubernetes',
    durationMs: 48 * hourMs,
    renewBeforeMs: 24 * hourMs,
    algorithm: 'ECDSA-P256',
  };

  it('keep the old service account key for a day', async () => {
    const clock = new ManualClock();
    const { publicKey, privateKey } = await createServiceAccountKeyPair();
    const credentials = {
      observed: new Map(),
      authorities: new Map(),
      asked: new Map(),
      renewed: [],
    } as Partial<EnsuredCredentials> as EnsuredCredentials;
    let state = emptyState;
    const phases: string[] = [];
    const step = async (): Promise<void> => {
      const outcome = await rotate({
        plan: [sa],
        state,
        credentials,
        requests: [{ what: 'sa', token: 'once' }],
        isRolledOut: true,
        holders: 3,
        clock,
        serviceAccountKey: { certificate: publicKey, privateKey },
      });
      ({ state } = outcome);
      phases.push(state.rotations.sa?.record.phase ?? '');
    };
    await step();
    await step();
    await step();
    expect(state.rotations.sa).toMatchObject({ old: publicKey, next: { privateKey: expect.any(String) } });
    await clock.advance(23 * hourMs);
    await step();
    await clock.advance(2 * hourMs);
    await step();
    await step();
    expect(phases).toEqual(['introduced', 'switched', 'switched', 'switched', 'stable', 'stable']);
    expect(state.rotations.sa).toEqual({ record: { phase: 'stable', request: 'once', since: clock.now() } });
  });

  it('start before an authority expires, and never while trust is rolled out', async () => {
    const clock = new ManualClock();
    const pair = await createAuthority({ commonName: 'kubernetes', clock, validityMs: 48 * hourMs });
    const end = clock.now() + 48 * hourMs;
    const credentials = {
      observed: new Map([['ca', { notAfter: end }]]),
      authorities: new Map([['ca', { pair, trust: pair.certificate }]]),
      asked: new Map(),
      renewed: [],
    } as unknown as EnsuredCredentials;
    const input = { plan: [ca], credentials, requests: [], holders: 0, clock, serviceAccountKey: undefined };
    const early = await rotate({ ...input, state: emptyState, isRolledOut: true });
    expect(early.state).toBe(emptyState);
    await clock.advance(25 * hourMs);
    const begun = await rotate({ ...input, state: emptyState, isRolledOut: true });
    expect(begun.state.rotations.ca?.record.phase).toBe('introduced');
    const held = await rotate({ ...input, state: begun.state, isRolledOut: false });
    expect(held.state).toBe(begun.state);
    expect(held.messages).toEqual(['ca: the new trust is being rolled out']);
  });
});

describe('the Gateway of a plane', () => {
  const gateway = (...listeners: object[]): UnstructuredObject =>
    ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: {},
      spec: { listeners },
      status: { addresses: [{ value: '192.0.2.1' }, {}] },
    }) as UnstructuredObject;
  const passing = { name: 'tls', protocol: 'TLS', port: 8443, tls: { mode: 'Passthrough' } };
  const wanted = { namespace: 'gateways', name: 'g' };

  it('is used through its TLS passthrough listener with a wildcard', () => {
    const facts = gatewayFacts(
      gateway({ name: 'http', protocol: 'HTTP', port: 80 }, { ...passing, hostname: '*.example.org' }),
      wanted,
    );
    expect(facts).toEqual({ addresses: ['192.0.2.1'], domain: 'example.org', listener: 'tls', port: 8443 });
  });

  it.each([
    ['has no listener', []],
    ['opens TLS itself', [{ ...passing, tls: { mode: 'Terminate' }, hostname: '*.example.org' }]],
    ['has no wildcard', [{ ...passing, hostname: 'one.example.org' }]],
  ])('is reported when it %s', (_, listeners) => {
    expect(gatewayFacts(gateway(...listeners), wanted).problem).toMatch(
      /^Gateway gateways\/g has no listener with protocol TLS/,
    );
  });

  it('may serve a custom host name that matches its listener', () => {
    const object = gateway({ ...passing, hostname: '*.example.org' });
    expect(gatewayFacts(object, { ...wanted, hostname: 'api.example.org' }).problem).toBeUndefined();
    expect(gatewayFacts(object, { ...wanted, hostname: 'api.example.com' }).problem).toContain('api.example.com');
    expect(gatewayFacts(object, { ...wanted, sectionName: 'other' }).problem).toBeDefined();
  });
});

describe('an object made once', () => {
  const deployment = (image: string, replicas: number) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'coredns', namespace: 'kube-system', labels: { a: 'b' } },
    spec: { replicas, template: { spec: { containers: [{ name: 'coredns', image, args: ['-conf'] }] } } },
  });
  const paths = [['spec', 'template', 'spec', 'containers', 'coredns', 'image']];

  it('is updated only in the named fields', () => {
    const changed = followed(deployment('v1', 5), deployment('v2', 2), paths);
    expect(changed).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'coredns', namespace: 'kube-system' },
      spec: { template: { spec: { containers: [{ name: 'coredns', image: 'v2' }] } } },
    });
    expect(followed(deployment('v2', 5), deployment('v2', 2), paths)).toBeUndefined();
    expect(followed(deployment('v1', 5), deployment('v2', 2), [])).toBeUndefined();
  });
});

describe('the inputs of a plane', () => {
  const owner = { apiVersion: 'x/v1', kind: 'X', metadata: { name: 'c1', uid: 'u' } } as UnstructuredObject;

  it('include Secrets and ConfigMaps that users mount', () => {
    const desired = hostedPlaneSpec(owner, 'ns');
    const mounted = mountedByUser({
      ...desired,
      components: {
        apiServer: {
          volumes: [
            { name: 'a', secret: { secretName: 'one' } },
            { name: 'b', configMap: { name: 'two' } },
            { name: 'c', projected: { sources: [{ secret: { name: 'three' } }] } },
          ],
        },
      },
      pods: { containers: [{ name: 'x', envFrom: [{ secretRef: { name: 'four' } }] }] },
    });
    expect(mounted).toEqual(['four', 'one', 'three', 'two']);
  });

  it('include a recorded endpoint only when host and port are set', () => {
    const cluster = (controlPlaneEndpoint: { host?: string; port?: number }) =>
      ({ spec: { controlPlaneEndpoint } }) as Parameters<typeof recordedEndpoint>[0];
    expect(recordedEndpoint(cluster({ host: 'a', port: 1 }))).toEqual({ host: 'a', port: 1 });
    expect(recordedEndpoint(cluster({ host: 'a', port: 0 }))).toBeUndefined();
    expect(recordedEndpoint(cluster({ host: '', port: 1 }))).toBeUndefined();
    expect(recordedEndpoint(undefined)).toBeUndefined();
  });

  it.each<[string, JsonObject, string, JsonObject]>([
    [
      'the new field',
      { apiServer: { enableFloatingIP: false, fixedIP: '' } },
      '192.0.2.1',
      { apiServer: { fixedIP: '192.0.2.1' } },
    ],
    [
      'the old field',
      { disableAPIServerFloatingIP: true, apiServerFixedIP: '' },
      '192.0.2.1',
      { apiServerFixedIP: '192.0.2.1' },
    ],
    ['no field for a name', { apiServer: { enableFloatingIP: false, fixedIP: '' } }, 'api.example.org', {}],
    ['no field that has a value', { apiServer: { enableFloatingIP: false, fixedIP: '10.0.0.5' } }, '192.0.2.1', {}],
    ['no field that nobody mentioned', { apiServer: { enableFloatingIP: false } }, '192.0.2.1', {}],
    ['no field beside a floating address', { apiServer: { fixedIP: '' } }, '192.0.2.1', {}],
  ])('fill in an address that was left open: %s', (_, spec, host, expected) => {
    expect(addressLeftOpen({ apiVersion: 'x/v1', kind: 'X', metadata: {}, spec }, host)).toEqual(expected);
  });
});

describe('the reported stages of a plane', () => {
  it('are listed in the order of the steps, each once', () => {
    expect(planeStages).toEqual([
      'version',
      'exposure',
      'endpoint',
      'certificates',
      'etcd',
      'restore',
      'kubeconfig',
      'routes',
      'arguments',
      'workloads',
      'backup',
      'functional',
      'inCluster',
      'cloudCredentials',
      'rotation',
    ] satisfies PlaneStage[]);
  });
});
