import { describe, expect, it } from 'vitest';
import { protobufRegistry } from '../../api/index.ts';
import { decodeKubernetesProtobuf, encodeKubernetesProtobuf, type UnstructuredObject } from '../../machinery/index.ts';
import { createCsr } from '../../pki/index.ts';
import {
  at,
  configMap,
  crd,
  deployment,
  onTargets,
  pod,
  type Sent,
  type Target,
  targets,
  widget,
} from '../testing/index.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';
const clientGoAccept = `${protobuf},application/json`;
const asProtobuf = { 'content-type': protobuf, accept: clientGoAccept };
const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function encode(object: object): Uint8Array {
  return encodeKubernetesProtobuf(object as UnstructuredObject, protobufRegistry);
}

function decode(bytes: Uint8Array): UnstructuredObject {
  return decodeKubernetesProtobuf(bytes, protobufRegistry).object;
}

interface Sample {
  object: Sent;
  /** path of the collection in the group, if it is not the lower-case plural */
  plural: string;
  cluster?: true;
}

const sample = (apiVersion: string, kind: string, plural: string, rest: object, cluster?: true): Sample => ({
  object: { apiVersion, kind, metadata: { name: 'sample' }, ...rest } as Sent,
  plural,
  ...(cluster && { cluster }),
});
const rbac = 'rbac.authorization.k8s.io/v1';
const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
const roleRef = (kind: string): object => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'view' });
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }];
const involved = (namespace: string): object => ({ kind: 'Pod', namespace, name: 'p', apiVersion: 'v1', uid: 'u-1' });

function samples(namespace: string): Sample[] {
  return [
    sample('v1', 'Namespace', 'namespaces', {}, true),
    sample('v1', 'ConfigMap', 'configmaps', { data: { a: '1' }, binaryData: { b: 'AAEC' } }),
    sample('v1', 'Secret', 'secrets', { type: 'Opaque', data: { a: 'c2VjcmV0' } }),
    sample('v1', 'ServiceAccount', 'serviceaccounts', { automountServiceAccountToken: false }),
    sample('v1', 'Event', 'events', {
      involvedObject: involved(namespace),
      reason: 'Started',
      message: 'It began.',
      type: 'Normal',
      count: 3,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:01Z',
      source: { component: 'test' },
    }),
    sample('events.k8s.io/v1', 'Event', 'events', {
      metadata: { name: 'sample-new' },
      eventTime: '2026-01-01T00:00:00.123456Z',
      reportingController: 'example.com/test',
      reportingInstance: 'test-0',
      action: 'Starting',
      reason: 'Started',
      regarding: involved(namespace),
      note: 'It began.',
      type: 'Normal',
    }),
    sample('coordination.k8s.io/v1', 'Lease', 'leases', {
      spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.500000Z' },
    }),
    sample('v1', 'Node', 'nodes', { spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] } }, true),
    { ...sample('v1', 'Pod', 'pods', {}), object: pod('sample', { spec: { automountServiceAccountToken: false } }) },
    sample('v1', 'Service', 'services', { spec: { clusterIP: 'None', ports: [{ port: 80, targetPort: 'http' }] } }),
    sample(rbac, 'Role', 'roles', { rules }),
    sample(rbac, 'ClusterRole', 'clusterroles', { rules }, true),
    sample(rbac, 'RoleBinding', 'rolebindings', { roleRef: roleRef('ClusterRole'), subjects }),
    sample(rbac, 'ClusterRoleBinding', 'clusterrolebindings', { roleRef: roleRef('ClusterRole'), subjects }, true),
    { ...sample('apps/v1', 'Deployment', 'deployments', {}), object: deployment('sample') },
  ];
}

const resourceAttributes = { namespace: 'default', verb: 'get', resource: 'pods' };
const reviews: [apiVersion: string, kind: string, plural: string, rest: object, expected: object][] = [
  [
    'authorization.k8s.io/v1',
    'SelfSubjectAccessReview',
    'selfsubjectaccessreviews',
    { spec: { resourceAttributes } },
    { status: { allowed: true } },
  ],
  [
    'authorization.k8s.io/v1',
    'SubjectAccessReview',
    'subjectaccessreviews',
    { spec: { resourceAttributes, user: 'nobody-in-particular' } },
    { status: { allowed: false } },
  ],
  [
    'authorization.k8s.io/v1',
    'SelfSubjectRulesReview',
    'selfsubjectrulesreviews',
    { spec: { namespace: 'default' } },
    { status: { incomplete: false } },
  ],
  [
    'authentication.k8s.io/v1',
    'SelfSubjectReview',
    'selfsubjectreviews',
    {},
    { status: { userInfo: { groups: expect.arrayContaining(['system:masters']) } } },
  ],
  [
    'authentication.k8s.io/v1',
    'TokenReview',
    'tokenreviews',
    { spec: { token: 'no-such-token' } },
    { status: { error: expect.any(String) } },
  ],
];

onTargets(targets, (on, { real }) => {
  const group = (): string => `${prefix}.example.com`;
  let prefix = '';

  /** Creates a custom kind; returns the path of its collection in a new namespace. */
  async function widgets(target: Target): Promise<string> {
    prefix = target.unique('nego');
    await target.api.create(crds, crd({ group: group() }));
    target.cleanUp(`${crds}/widgets.${group()}`);
    const path = (await target.namespace()).of(`${group()}/v1`, 'widgets');
    while ((await target.api.get(path)).status !== 200);
    return path;
  }

  describe('protobuf bodies', () => {
    it('are decoded for every built-in kind that clients send in protobuf', async () => {
      const { api, namespace, cleanUp, unique } = on();
      const ns = await namespace();
      for (const { object, plural, cluster } of samples(ns.name)) {
        const name = cluster ? unique('sample') : object.metadata.name!;
        object.metadata = { ...object.metadata, name };
        const root = object.apiVersion === 'v1' ? '/api/v1' : `/apis/${object.apiVersion}`;
        const path = cluster ? `${root}/${plural}` : `${root}/namespaces/${ns.name}/${plural}`;
        if (cluster) cleanUp(`${path}/${name}`);
        const answer = await api.post(path, encode(object), asProtobuf);
        expect(answer.status, `${object.kind}: ${answer.text}`).toBe(201);
        const stored = (await api.get(`${path}/${name}`)).body;
        expect(stored, object.kind).toMatchObject({ ...object, metadata: { name } });
      }
    });

    it.each(reviews)('%s %s is decoded and answered', async (apiVersion, kind, plural, rest, expected) => {
      const body = encode({ apiVersion, kind, metadata: {}, ...rest });
      const answer = await on().api.post(`/apis/${apiVersion}/${plural}`, body, {
        'content-type': protobuf,
        accept: 'application/json',
      });
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ apiVersion, kind, ...expected });
    });

    it('TokenRequest, CertificateSigningRequest and Scale are decoded', async () => {
      const { api, namespace, cleanUp, unique } = on();
      const ns = await namespace();
      await api.create(ns.core('serviceaccounts'), sample('v1', 'ServiceAccount', '', {}).object);
      const json = { 'content-type': protobuf, accept: 'application/json' };
      const token = await api.post(
        `${ns.core('serviceaccounts')}/sample/token`,
        encode({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 700 } }),
        json,
      );
      expect(token.status).toBe(201);
      expect(at(token.body, 'status.token')).toMatch(/^ey/);
      const { csr } = await createCsr({ commonName: 'jane' });
      const signing = await api.post(
        '/apis/certificates.k8s.io/v1/certificatesigningrequests',
        encode({
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: { name: unique('sample') },
          spec: {
            request: Buffer.from(csr).toString('base64'),
            signerName: 'example.com/test',
            usages: ['client auth'],
          },
        }),
        json,
      );
      expect(signing.status, signing.text).toBe(201);
      cleanUp(`/apis/certificates.k8s.io/v1/certificatesigningrequests/${signing.object.metadata.name}`);
      const deployments = ns.of('apps/v1', 'deployments');
      await api.create(deployments, deployment('scaled'));
      const scale = await api.put(
        `${deployments}/scaled/scale`,
        encode({
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: { name: 'scaled', namespace: ns.name },
          spec: { replicas: 4 },
        }),
        json,
      );
      expect(scale.status, scale.text).toBe(200);
      expect(scale.body).toMatchObject({ kind: 'Scale', spec: { replicas: 4 } });
    });

    it('DeleteOptions in protobuf are obeyed', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('configmaps'), configMap('kept'));
      const options = encode({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'another' } });
      const answer = await api.delete(`${ns.core('configmaps')}/kept`, options, asProtobuf);
      expect(answer.status).toBe(409);
      const policy = encode({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' });
      const held = await api.delete(`${ns.core('configmaps')}/kept`, policy, {
        'content-type': protobuf,
        accept: 'application/json',
      });
      expect(held.body).toMatchObject({ metadata: { finalizers: ['foregroundDeletion'] } });
    });

    // kube-apiserver closes the connection in this case.
    it.skipIf(real)('are answered 415 for a kind without a protobuf table', async () => {
      const path = await widgets(on());
      const text = (field: number, value: string): Buffer =>
        Buffer.concat([Buffer.from([(field << 3) | 2, value.length]), Buffer.from(value)]);
      const typeMeta = Buffer.concat([text(1, `${group()}/v1`), text(2, 'Widget')]).toString('latin1');
      const body = Buffer.concat([Buffer.from('k8s\0'), text(1, typeMeta), text(2, '')]);
      const answer = await on().api.post(path, body, { 'content-type': protobuf, accept: 'application/json' });
      expect(answer.status).toBe(415);
      expect(answer.body).toMatchObject({ kind: 'Status', reason: 'UnsupportedMediaType' });
    });

    it('are answered 400 when they are not protobuf', async () => {
      const answer = await on().api.post('/api/v1/namespaces', 'not protobuf', asProtobuf);
      expect(answer.status).toBe(400);
    });
  });

  describe('the Content-Type of a request', () => {
    it('is answered 415 with the supported types when it is unknown', async () => {
      const answer = await on().api.post('/api/v1/namespaces', 'x', { 'content-type': 'text/plain' });
      expect(answer.status).toBe(415);
      expect(answer.body).toMatchObject({
        reason: 'UnsupportedMediaType',
        message: expect.stringContaining('application/json, application/yaml, application/vnd.kubernetes.protobuf'),
      });
    });

    it('may be left out when the body is JSON', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const answer = await api.post(ns.core('configmaps'), configMap('untyped'), { 'content-type': '' });
      expect(answer.status).toBe(201);
    });
  });

  describe('the Accept header', () => {
    it.each([
      ['*/*', 'application/json'],
      ['', 'application/json'],
      ['application/json', 'application/json'],
      ['text/html,application/json', 'application/json'],
      ['application/yaml', 'application/yaml'],
      ['application/json;q=0.5,application/yaml', 'application/yaml'],
    ])('%j is answered with the type %s', async (accept, type) => {
      const answer = await on().api.get('/api/v1/namespaces/default', { accept });
      expect(answer.status).toBe(200);
      expect(answer.header('content-type')).toBe(type);
    });

    it('of client-go, protobuf or JSON, is answered with one of the two', async () => {
      const answer = await on().api.get('/api/v1/namespaces/default', { accept: clientGoAccept });
      const type = answer.header('content-type');
      const object = type === protobuf ? decode(answer.bytes) : answer.object;
      expect(object.metadata.name).toBe('default');
    });

    it('of protobuf alone is answered in protobuf for built-in kinds', async () => {
      const one = await on().api.get('/api/v1/namespaces/default', { accept: protobuf });
      expect(one.header('content-type')).toBe(protobuf);
      expect(decode(one.bytes)).toMatchObject({ kind: 'Namespace', metadata: { name: 'default' } });
      const list = await on().api.get('/api/v1/namespaces', { accept: protobuf });
      const names = (decode(list.bytes)['items'] as UnstructuredObject[]).map(({ metadata }) => metadata.name);
      expect(names).toContain('kube-system');
    });

    it('is respected for an empty list too', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('secrets');
      const list = await api.get(path, { accept: protobuf });
      expect(list.header('content-type')).toBe(protobuf);
      expect(decode(list.bytes)).toMatchObject({ kind: 'SecretList' });
      const yaml = await api.get(path, { accept: 'application/yaml' });
      expect(yaml.header('content-type')).toBe('application/yaml');
      expect(yaml.text).toContain('kind: SecretList');
    });

    it('of protobuf alone is answered 406 for custom kinds', async () => {
      const path = await widgets(on());
      await on().api.create(path, widget(group(), 'one'));
      for (const url of [path, `${path}/one`]) {
        const answer = await on().api.get(url, { accept: protobuf });
        expect(answer.status, url).toBe(406);
      }
    });

    it.each(['text/html', 'application/cbor', 'image/png'])('of %s alone is answered 406', async (accept) => {
      const answer = await on().api.get('/api/v1/namespaces/default', { accept });
      expect(answer.status).toBe(406);
      expect(answer.body).toMatchObject({
        kind: 'Status',
        reason: 'NotAcceptable',
        message: `406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, ${protobuf}`,
      });
    });

    it('that cannot be met refuses a write with 406 before anything is stored', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const answer = await api.post(ns.core('configmaps'), configMap('unseen'), { accept: 'text/html' });
      expect(answer.status).toBe(406);
      expect((await api.get(`${ns.core('configmaps')}/unseen`)).status).toBe(404);
    });

    it('of JSON alone gets errors in JSON', async () => {
      const answer = await on().api.get('/api/v1/namespaces/no-such', { accept: 'application/json' });
      expect(answer.header('content-type')).toBe('application/json');
    });
  });

  describe('PartialObjectMetadata', () => {
    it('contains only the metadata of one object', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(
        ns.core('configmaps'),
        configMap('full', { data: { a: '1' }, metadata: { labels: { x: 'y' } } }),
      );
      const { body } = await api.get(`${ns.core('configmaps')}/full`, { accept: partial });
      expect(body).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'full', labels: { x: 'y' } },
      });
      expect(body).not.toHaveProperty('data');
    });

    it('of a list is a PartialObjectMetadataList', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('configmaps'), configMap('full', { data: { a: '1' } }));
      const { body } = await api.get(ns.core('configmaps'), { accept: partialList });
      expect(body).toMatchObject({
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
      });
      const items = body['items'] as UnstructuredObject[];
      const item = items.find(({ metadata }) => metadata.name === 'full');
      expect(item).toBeDefined();
      expect(item).not.toHaveProperty('data');
    });

    it('is sent in watch events when it is accepted', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('secrets'), sample('v1', 'Secret', '', { data: { a: 'AA==' } }).object);
      const watch = await api.watch(`${ns.core('secrets')}?watch=1`, { accept: partial });
      const [event] = await watch.take(1);
      watch.close();
      expect(event).toMatchObject({
        type: 'ADDED',
        object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'sample' } },
      });
      expect(event!.object).not.toHaveProperty('data');
    });

    it('is the answer to a write when it is accepted', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const answer = await api.post(ns.core('configmaps'), configMap('made', { data: { a: '1' } }), {
        accept: partial,
      });
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'made' } });
    });
  });
});
