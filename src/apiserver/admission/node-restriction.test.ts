import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CertificateSigningRequests,
  Leases,
  type Node,
  Nodes,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  ServiceAccounts,
} from '../../api/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';
import { createCsr, createServiceAccountKeyPair } from '../../pki/index.ts';
import { type Authorizer, alwaysAllowAuthorizer, noOpinion } from '../auth/index.ts';
import type { LocalClient } from '../local-client.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';

const by = { fieldManager: 'test' };
const namespace = 'default';
const asNode = (name: string): LocalClient =>
  server.server.localClient({ name: `system:node:${name}`, groups: ['system:nodes', 'system:authenticated'] });

/**
 * An authorizer that allows everything by verb, so that the tests reach admission. Checks by admission itself follow
 * the rules.
 */
const allowsAllVerbs: Authorizer = {
  ...alwaysAllowAuthorizer,
  authorize: (attributes) =>
    attributes.verb === 'request-serviceaccounts-token-audience'
      ? noOpinion
      : alwaysAllowAuthorizer.authorize(attributes),
};

let server: TestServer;
let n1: LocalClient;
let nodeUid: string;

beforeAll(async () => {
  const { privateKey } = await createServiceAccountKeyPair();
  server = await startTestServer({
    access: {
      mode: 'RBAC',
      nodes: true,
      authorizers: [allowsAllVerbs],
      serviceAccounts: { issuer: 'https://kubernetes.default.svc', signingKeyPem: privateKey },
    },
  });
  n1 = asNode('n1');
  nodeUid = (await server.local.create(Nodes, node('n1'), by)).metadata.uid!;
  await server.local.create(Nodes, node('n2'), by);
  await server.local.create(
    ServiceAccounts,
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'sa', namespace } },
    by,
  );
  const volumes = [{ name: 't', projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'vault' } }] } }];
  await server.local.create(Pods, pod('on1', { nodeName: 'n1', serviceAccountName: 'sa', volumes }), by);
  await server.local.create(Pods, pod('on2', { nodeName: 'n2' }), by);
  await server.local.create(
    PersistentVolumeClaims,
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'claim', namespace },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    by,
  );
});
afterAll(() => server.stop());

function node(name: string, more: object = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, ...more } } as Node;
}

function pod(name: string, spec: object = {}, metadata: object = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  } as Pod;
}

const owner = (more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  name: 'n1',
  uid: nodeUid,
  controller: true,
  ...more,
});
const mirror = (ownerReferences: object[], spec: object = { nodeName: 'n1' }): Pod =>
  pod('mirror', spec, { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences });

const createMirror = (...args: Parameters<typeof mirror>) => n1.create(Pods, mirror(...args), by);
const patchNode = (name: string, patch: object) => n1.patch(Nodes, { name }, 'merge', patch as never, by);
const patchStatus = (resource: Resource<KubeObject>, name: string, patch: object) => {
  const key = resource.namespaced ? { namespace, name } : { name };
  return n1.patch(resource, key, 'merge', patch as never, { ...by, subresource: 'status' });
};
const lease = (name: string, where: string): KubeObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, namespace: where },
});
const token = async (spec: object): Promise<unknown> =>
  n1.createSubresource(
    ServiceAccounts,
    { namespace, name: 'sa' },
    'token',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec } as KubeObject,
    by,
  );
const boundTo = async (name: string): Promise<object> => {
  const { uid } = (await server.local.get(Pods, { namespace, name })).metadata;
  return { apiVersion: 'v1', kind: 'Pod', name, uid };
};
const evict = (name: string): Promise<unknown> =>
  n1.createSubresource(
    Pods,
    { namespace, name },
    'eviction',
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } } as KubeObject,
    by,
  );
const askCertificate = async (commonName: string, signerName: string): Promise<unknown> => {
  const { csr } = await createCsr({ commonName, organizations: ['system:nodes'] });
  return n1.create(
    CertificateSigningRequests,
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'csr-' },
      spec: { request: Buffer.from(csr).toString('base64'), signerName, usages: ['client auth', 'digital signature'] },
    },
    by,
  );
};

const claims = PersistentVolumeClaims;
const pods = Pods;
const kubeletClient = 'kubernetes.io/kube-apiserver-client-kubelet';

describe('NodeRestriction', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    ['create another node', () => n1.create(Nodes, node('n3'), by), 'node "n1" is not allowed to modify node "n3"'],
    [
      'create itself with labels of the operators',
      () => asNode('n4').create(Nodes, node('n4', { labels: { 'node-restriction.kubernetes.io/a': 'b' } }), by),
      'node "n4" is not allowed to set the following labels: node-restriction.kubernetes.io/a',
    ],
    [
      'change labels of Kubernetes',
      () => patchNode('n1', { metadata: { labels: { 'kubernetes.io/role': 'x', 'a.k8s.io/b': 'c' } } }),
      'nodes "n1" is forbidden: is not allowed to modify labels: a.k8s.io/b, kubernetes.io/role',
    ],
    [
      'change its taints',
      () => patchNode('n1', { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
      'node "n1" is not allowed to modify taints',
    ],
    [
      'change its owners',
      () => patchNode('n1', { metadata: { ownerReferences: [owner({ name: 'x' })] } }),
      'node "n1" is not allowed to modify ownerReferences',
    ],
    ['change another node', () => patchNode('n2', { metadata: {} }), 'node "n1" is not allowed to modify node "n2"'],
    [
      'create pods',
      () => n1.create(Pods, pod('p', { nodeName: 'n1' }), by),
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ],
    [
      'create mirrors on other nodes',
      () => createMirror([owner()], { nodeName: 'n2' }),
      'node "n1" can only create pods with spec.nodeName set to itself',
    ],
    ['create mirrors nobody owns', () => createMirror([]), 'with an owner reference set to itself'],
    [
      'create mirrors of several owners',
      () => createMirror([owner(), owner({ name: 'x' })]),
      'with a single owner reference set to itself',
    ],
    [
      'create mirrors it does not control',
      () => createMirror([owner({ controller: false })]),
      'with a controller owner reference set to itself',
    ],
    [
      'hold itself by its mirrors',
      () => createMirror([owner({ blockOwnerDeletion: true })]),
      'must not set blockOwnerDeletion',
    ],
    ['pretend to be an older node', () => createMirror([owner({ uid: 'x' })]), 'node n1 UID mismatch: expected x got'],
    [
      'create mirrors that need the API',
      () =>
        createMirror([owner()], {
          nodeName: 'n1',
          volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
        }),
      'node "n1" can not create pods that reference persistentvolumeclaims',
    ],
    [
      'change pods',
      () => n1.patch(Pods, { namespace, name: 'on1' }, 'merge', { metadata: { labels: { a: 'b' } } }, by),
      'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
    ],
    [
      'report about pods of others',
      () => patchStatus(pods, 'on2', { status: { phase: 'Running' } }),
      'can only update pod status for pods with spec.nodeName set to itself',
    ],
    [
      'change labels by reporting',
      () => patchStatus(pods, 'on1', { metadata: { labels: { a: 'b' } } }),
      'node "n1" cannot update labels through pod status',
    ],
    [
      'delete pods of others',
      () => n1.delete(Pods, { namespace, name: 'on2' }),
      'node "n1" can only delete pods with spec.nodeName set to itself',
    ],
    ['evict pods of others', () => evict('on2'), 'node n1 can only evict pods with spec.nodeName set to itself'],
    [
      'change claims',
      () => n1.patch(claims, { namespace, name: 'claim' }, 'merge', { metadata: { labels: { a: 'b' } } }, by),
      'may only update PVC status',
    ],
    [
      'bind claims',
      () => patchStatus(claims, 'claim', { status: { phase: 'Bound' } }),
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions',
    ],
    [
      'hold leases elsewhere',
      () => n1.create(Leases, lease('n1', namespace), by),
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      'hold the lease of another node',
      () => n1.create(Leases, lease('n2', 'kube-node-lease'), by),
      'can only access node lease with the same name as the requesting node',
    ],
    ['have tokens for nobody', () => token({}), 'node requested token not bound to a pod'],
    [
      'have tokens for pods without a uid',
      () => token({ boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'on1' } }),
      'node requested token with a pod binding without a uid',
    ],
    [
      'have tokens for pods of others',
      async () => token({ boundObjectRef: await boundTo('on2') }),
      'node requested token bound to a pod scheduled on a different node',
    ],
    [
      'have tokens for audiences its pods do not talk to',
      async () => token({ boundObjectRef: await boundTo('on1'), audiences: ['other'] }),
      'audience "other" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
    ],
    [
      'have certificates of other nodes',
      () => askCertificate('system:node:n2', kubeletClient),
      'can only create a node CSR with CN=system:node:n1',
    ],
  ])('refuses a node that tries to: %s', async (_what, attempt, message) => {
    await expect(attempt()).rejects.toMatchObject({ code: 403, message: expect.stringContaining(message) as string });
  });

  it('refuses a user whose name names no node', async () => {
    await expect(asNode('').create(Nodes, node('x'), by)).rejects.toThrow(
      'could not determine node from user "system:node:"',
    );
  });
});

describe('NodeRestriction for the node itself', () => {
  it.each<[string, () => Promise<unknown>]>([
    [
      'label itself as kubelets do',
      () => patchNode('n1', { metadata: { labels: { 'kubernetes.io/os': 'linux', own: 'x' } } }),
    ],
    ['report about its pods', () => patchStatus(pods, 'on1', { status: { phase: 'Running' } })],
    [
      'mirror its static pods',
      () => createMirror([owner()], { nodeName: 'n1', volumes: [{ name: 'v', emptyDir: {} }] }),
    ],
    ['hold its own lease', () => n1.create(Leases, lease('n1', 'kube-node-lease'), by)],
    ['grow claims', () => patchStatus(claims, 'claim', { status: { capacity: { storage: '2Gi' } } })],
    ['have tokens its pods ask for', async () => token({ boundObjectRef: await boundTo('on1'), audiences: ['vault'] })],
    ['renew its certificate', () => askCertificate('system:node:n1', kubeletClient)],
    ['delete its pods', () => n1.delete(Pods, { namespace, name: 'on1' }, { gracePeriodSeconds: 0 })],
  ])('allows a node to %s', async (_what, attempt) => {
    await attempt();
  });
});
