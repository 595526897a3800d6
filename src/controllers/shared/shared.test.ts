import { describe, expect, it } from 'vitest';
import { memoryClient } from '../../runtime/testkit/index.ts';
import { shows } from './apply-once.ts';
import { failureDomainsOf } from './contract.ts';
import { definitionName, pluralOf } from './contract-names.ts';
import { createContractResolver } from './contract-resolver.ts';
import { withOwner } from './ownership.ts';
import { workloadConnection } from './workload/index.ts';

describe('plural names of kinds', () => {
  it.each([
    ['OpenStackMachine', 'openstackmachines'],
    ['Ipaddress', 'ipaddresses'],
    ['Policy', 'policies'],
    ['Gateway', 'gateways'],
    ['Box', 'boxes'],
  ])('the kind %s has the plural %s', (kind, plural) => {
    expect(pluralOf(kind)).toBe(plural);
    expect(definitionName('g', kind)).toBe(`${plural}.g`);
  });
});

describe('the contract of a kind', () => {
  const crds = {
    group: 'apiextensions.k8s.io',
    version: 'v1',
    kind: 'CustomResourceDefinition',
    plural: 'customresourcedefinitions',
    namespaced: false,
  };
  const world = (labels: Record<string, string>) => {
    const client = memoryClient();
    client.seed(crds, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.g', labels },
      spec: { scope: 'Namespaced' },
    } as never);
    return createContractResolver({ client, clock: client.clock });
  };
  it.each([
    [{ 'cluster.x-k8s.io/v1beta2': 'v1beta1_v1beta2' }, 'v1beta2', 'v1beta2'],
    [{ 'cluster.x-k8s.io/v1beta1': 'v1alpha6_v1beta1_v1alpha7' }, 'v1beta1', 'v1beta1'],
    [{ 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1' }, 'v1beta2', 'v1'],
  ])('follows the labels %o', async (labels, contract, version) => {
    expect(await world(labels).resolve('g', 'Thing')).toMatchObject({
      contract,
      resource: { version, plural: 'things' },
    });
  });
  it('is that of the version for a core kind with an unlabelled upstream definition', async () => {
    const client = memoryClient();
    client.seed(crds, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'machinedeployments.cluster.x-k8s.io' },
      spec: {
        scope: 'Namespaced',
        versions: [
          { name: 'v1beta1', served: true },
          { name: 'v1beta2', served: true },
        ],
      },
    } as never);
    const resolver = createContractResolver({ client, clock: client.clock });
    const found = await resolver.resolve('cluster.x-k8s.io', 'MachineDeployment');
    expect(found).toMatchObject({ contract: 'v1beta2', resource: { version: 'v1beta2' } });
  });
  it('is requested once for concurrent callers, and again when it was missing', async () => {
    const client = memoryClient();
    const resolver = createContractResolver({ client, clock: client.clock });
    const asked = (): number => client.requests.filter(({ verb }) => verb === 'get').length;
    const failed = await Promise.allSettled([resolver.resolve('g', 'Thing'), resolver.resolve('g', 'Thing')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(asked()).toBe(1);
    client.seed(crds, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.g', labels: { 'cluster.x-k8s.io/v1beta2': 'v1' } },
      spec: { scope: 'Namespaced' },
    } as never);
    const gone = AbortSignal.abort(new Error('nobody waits any more'));
    await expect(resolver.resolve('g', 'Thing', gone)).rejects.toThrow('nobody waits any more');
    await Promise.all([resolver.resolve('g', 'Thing'), resolver.resolve('g', 'Thing')]);
    expect(asked()).toBe(2);
  });
  it('is refused without a label or without a definition', async () => {
    await expect(world({}).resolve('g', 'Thing')).rejects.toMatchObject({
      notInstalled: false,
      message: expect.stringContaining('follows no contract'),
    });
    await expect(world({}).resolve('g', 'Other')).rejects.toMatchObject({
      notInstalled: true,
      message: expect.stringContaining('others.g'),
    });
  });
});

describe('failure domains', () => {
  const object = (failureDomains: unknown) => ({
    object: { apiVersion: 'x', kind: 'X', metadata: {}, status: { failureDomains } as never },
    contract: 'v1beta2' as const,
  });
  it.each([
    [{ b: { controlPlane: true }, a: {} }, [{ name: 'a' }, { name: 'b', controlPlane: true }]],
    [[{ name: 'z', attributes: { x: 'y' } }], [{ name: 'z', attributes: { x: 'y' } }]],
    [undefined, []],
  ])('are read from %j', (given, expected) => {
    expect(failureDomainsOf(object(given))).toEqual(expected);
  });
});

describe('owner references', () => {
  const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'c', uid: 'u2' };
  it('are added once, updated in version and uid, and otherwise kept', () => {
    expect(withOwner(undefined, owner)).toEqual([owner]);
    const stored = [{ ...owner, apiVersion: 'cluster.x-k8s.io/v1beta1', uid: 'u1', blockOwnerDeletion: true }];
    const next = withOwner(stored, owner);
    expect(next).toEqual([{ ...owner, blockOwnerDeletion: true }]);
    expect(withOwner(next, owner)).toBe(next);
  });
});

describe('whether a live object contains a spec', () => {
  it.each([
    [{ a: 1, b: 2 }, { a: 1 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ list: [{ k: 1, more: true }] }, { list: [{ k: 1 }] }, true],
    [{ list: [] }, { list: [{ k: 1 }] }, false],
    [{}, { empty: {} }, true],
  ])('%j contains %j: %s', (live, desired, expected) => {
    expect(shows(live, desired)).toBe(expected);
  });
});

describe('the kubeconfig of a workload cluster', () => {
  const kubeconfig = (user: object, cluster: object = {}) =>
    JSON.stringify({
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443/', ...cluster } }],
      users: [{ name: 'u', user }],
    });
  it('gives a connection', async () => {
    const connection = workloadConnection(kubeconfig({ token: 't' }), 'x');
    expect(connection.server).toBe('https://10.0.0.1:6443');
    expect(await connection.credentials.get()).toEqual({ token: 't' });
  });
  it.each([
    ['programs', kubeconfig({ exec: { command: 'sh' } }), /program/],
    ['files', kubeconfig({ tokenFile: '/etc/passwd' }), /files/],
    ['files of the cluster', kubeconfig({ token: 't' }, { 'certificate-authority': '/etc/passwd' }), /files/],
    [
      'half a certificate',
      kubeconfig({ 'client-key-data': Buffer.from('-----BEGIN X').toString('base64') }),
      /together/,
    ],
    ['no context', '{}', /current context/],
  ])('refuses %s', (_, text, message) => {
    expect(() => workloadConnection(text, 'x')).toThrow(message);
  });
});
