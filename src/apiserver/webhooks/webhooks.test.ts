import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../machinery/index.ts';
import {
  admissionAnswer,
  at,
  configMap,
  crd,
  crdVersion,
  eventually,
  mergePatch,
  type Namespace,
  onTargets,
  patchResponse,
  pod,
  startTestWebhook,
  type TestWebhook,
  targets,
  widget,
} from '../testing/index.ts';

const registrations = '/apis/admissionregistration.k8s.io/v1';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const allow = (review: JsonObject): JsonObject => admissionAnswer(review, { allowed: true });
const deny = (review: JsonObject, status: JsonObject = {}): JsonObject =>
  admissionAnswer(review, { allowed: false, status });
const addLabel = (name: string): JsonObject =>
  patchResponse([{ op: 'add', path: `/metadata/labels/${name}`, value: 'yes' }]);
const labelled = (name: string, more: object = {}): ReturnType<typeof configMap> =>
  configMap(name, { metadata: { labels: { kept: 'yes' }, ...more } });

onTargets(targets, (on) => {
  let hook: TestWebhook;
  beforeAll(async () => {
    hook = await startTestWebhook();
  });
  afterAll(() => hook.stop());

  interface Hooked {
    ns: Namespace;
    path: string;
    remove(): Promise<void>;
  }

  /** Registers webhooks for ConfigMaps of a new namespace, each at a path with its own name. */
  async function register(
    phase: 'Mutating' | 'Validating',
    webhooks: (Record<string, unknown> & { name: string })[],
    ns?: Namespace,
  ): Promise<Hooked> {
    const target = on();
    const space = ns ?? (await target.namespace());
    const collection = `${registrations}/${phase.toLowerCase()}webhookconfigurations`;
    const name = target.unique('rules');
    await target.api.create(collection, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${phase}WebhookConfiguration`,
      metadata: { name },
      webhooks: webhooks.map((webhook) => ({
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: `${hook.url}/${webhook.name.split('.')[0]}`, caBundle: hook.caBundle },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': space.name } },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        ...webhook,
      })),
    } as never);
    target.cleanUp(`${collection}/${name}`);
    // A real server applies the configuration shortly after and does not signal it.
    if (!target.ours) await new Promise((resolve) => setTimeout(resolve, 1500));
    return {
      ns: space,
      path: space.core('configmaps'),
      remove: async () => void (await target.api.delete(`${collection}/${name}`)),
    };
  }

  /** Only calls caused by the test: controllers of a real cluster create a CA bundle in every namespace. */
  const calls = (): TestWebhook['received'] =>
    hook.received.filter(({ review }) => at(review, 'request.name') !== 'kube-root-ca.crt');
  const called = (): string[] =>
    calls().map(
      ({ path, review }) => `${path.slice(1)} ${at(review, 'request.operation')} ${at(review, 'request.name')}`,
    );
  const requestOf = (index = 0): JsonObject => calls()[index]!.review['request'] as JsonObject;

  describe('a mutating webhook', () => {
    it('changes the stored object by a JSON patch', async () => {
      hook.answer((review) => admissionAnswer(review, addLabel('patched')));
      const { path, remove } = await register('Mutating', [{ name: 'one.example.com' }]);
      const made = await on().api.post(path, labelled('x'));
      expect(made.status).toBe(201);
      expect(made.object.metadata.labels).toEqual({ kept: 'yes', patched: 'yes' });
      expect((await on().api.get(`${path}/x`)).object.metadata.labels).toEqual({ kept: 'yes', patched: 'yes' });
      await remove();
    });

    it('receives user, operation and object of the request', async () => {
      hook.answer(allow);
      const { path, ns, remove } = await register('Mutating', [{ name: 'one.example.com', timeoutSeconds: 7 }]);
      await on().api.post(`${path}?fieldManager=maker`, labelled('x'));
      await on().api.patch(`${path}/x?fieldManager=changer`, mergePatch, { data: { a: '1' } });
      await on().api.delete(`${path}/x`, { propagationPolicy: 'Background' });
      expect(called()).toEqual(['one CREATE x', 'one UPDATE x', 'one DELETE x']);
      expect(calls()[0]).toMatchObject({
        query: 'timeout=7s',
        review: { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' },
      });
      const [create, update, remove_] = [requestOf(0), requestOf(1), requestOf(2)];
      expect(create).toMatchObject({
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: { group: '', version: 'v1', kind: 'ConfigMap' },
        resource: { group: '', version: 'v1', resource: 'configmaps' },
        requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
        requestResource: { group: '', version: 'v1', resource: 'configmaps' },
        name: 'x',
        namespace: ns.name,
        operation: 'CREATE',
        userInfo: { username: expect.stringContaining('admin'), groups: ['system:masters', 'system:authenticated'] },
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { name: 'x', namespace: ns.name, labels: { kept: 'yes' } },
        },
        oldObject: null,
        dryRun: false,
        options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'maker' },
      });
      expect(update).toMatchObject({
        object: { data: { a: '1' } },
        oldObject: { metadata: { name: 'x' } },
        options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'changer' },
      });
      expect(update['oldObject']).not.toHaveProperty('data');
      expect(remove_).toMatchObject({
        object: null,
        oldObject: { data: { a: '1' } },
        options: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', propagationPolicy: 'Background' },
      });
      await remove();
    });

    it('may refuse the request', async () => {
      hook.answer((review) => deny(review, { message: 'not on Sundays', code: 403, reason: 'Forbidden' }));
      const { path, remove } = await register('Mutating', [{ name: 'one.example.com' }]);
      const answer = await on().api.post(path, labelled('x'));
      expect(answer.status).toBe(403);
      expect(answer.body['message']).toBe('admission webhook "one.example.com" denied the request: not on Sundays');
      await remove();
    });

    it('fails the write with 422 when its patch makes the object invalid', async () => {
      hook.answer((review) =>
        admissionAnswer(review, patchResponse([{ op: 'add', path: '/metadata/labels/bad', value: 'not a label!' }])),
      );
      const { path, remove } = await register('Mutating', [{ name: 'one.example.com' }]);
      const answer = await on().api.post(path, labelled('x'));
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain('metadata.labels: Invalid value: "not a label!"');
      await remove();
    });

    it('fails the write with 500 when its patch cannot be applied', async () => {
      hook.answer((review) => admissionAnswer(review, patchResponse([{ op: 'remove', path: '/data/none' }])));
      const { path, remove } = await register('Mutating', [{ name: 'one.example.com' }]);
      expect((await on().api.post(path, labelled('x'))).status).toBe(500);
      await remove();
    });

    it('sees changes of earlier webhooks, and of later ones on reinvocation with IfNeeded', async () => {
      hook.answer((review, path) => admissionAnswer(review, addLabel(path.slice(1))));
      const { path, remove } = await register('Mutating', [
        { name: 'first.example.com', reinvocationPolicy: 'IfNeeded' },
        { name: 'second.example.com', reinvocationPolicy: 'Never' },
        { name: 'third.example.com', reinvocationPolicy: 'IfNeeded' },
      ]);
      const made = await on().api.post(path, labelled('x'));
      expect(made.object.metadata.labels).toEqual({ kept: 'yes', first: 'yes', second: 'yes', third: 'yes' });
      expect(calls().map(({ path: url }) => url.slice(1))).toEqual(['first', 'second', 'third', 'first']);
      expect(at(requestOf(1), 'object.metadata.labels')).toEqual({ kept: 'yes', first: 'yes' });
      expect(at(requestOf(3), 'object.metadata.labels')).toEqual({
        kept: 'yes',
        first: 'yes',
        second: 'yes',
        third: 'yes',
      });
      await remove();
    });

    it('is called once when later webhooks change nothing', async () => {
      hook.answer(allow);
      const { path, remove } = await register('Mutating', [
        { name: 'first.example.com', reinvocationPolicy: 'IfNeeded' },
        { name: 'second.example.com' },
      ]);
      await on().api.post(path, labelled('x'));
      expect(called()).toEqual(['first CREATE x', 'second CREATE x']);
      await remove();
    });

    it('runs on a dry run and is told about it', async () => {
      hook.answer((review) => admissionAnswer(review, addLabel('patched')));
      const { path, remove } = await register('Mutating', [{ name: 'one.example.com', sideEffects: 'NoneOnDryRun' }]);
      const answer = await on().api.post(`${path}?dryRun=All`, labelled('x'));
      expect(answer.object.metadata.labels).toEqual({ kept: 'yes', patched: 'yes' });
      expect(requestOf()).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
      await remove();
    });
  });

  describe('a validating webhook', () => {
    it('sees the object as it will be stored, and may refuse it with its own message and code', async () => {
      hook.answer((review, path) => {
        if (path === '/mutate') return admissionAnswer(review, addLabel('patched'));
        return deny(review, { message: 'no', reason: 'TooManyRequests', code: 429 });
      });
      const first = await register('Mutating', [{ name: 'mutate.example.com' }]);
      const second = await register('Validating', [{ name: 'check.example.com' }], first.ns);
      const answer = await on().api.post(first.path, labelled('x'));
      expect(answer.status).toBe(429);
      expect(answer.body).toMatchObject({
        reason: 'TooManyRequests',
        message: 'admission webhook "check.example.com" denied the request: no',
      });
      expect(at(requestOf(1), 'object.metadata.labels')).toEqual({ kept: 'yes', patched: 'yes' });
      expect((await on().api.get(`${first.path}/x`)).status).toBe(404);
      await Promise.all([first.remove(), second.remove()]);
    });

    it('refuses with "without explanation" when it gives no reason', async () => {
      hook.answer((review) => deny(review));
      const { path, remove } = await register('Validating', [{ name: 'check.example.com' }]);
      const answer = await on().api.post(path, labelled('x'));
      expect(answer.status).toBe(400);
      expect(answer.body['message']).toBe(
        'admission webhook "check.example.com" denied the request without explanation',
      );
      await remove();
    });

    it('may return warnings', async () => {
      hook.answer((review) => admissionAnswer(review, { allowed: true, warnings: ['mind the gap'] }));
      const { path, remove } = await register('Validating', [{ name: 'check.example.com' }]);
      expect((await on().api.post(path, labelled('x'))).warnings).toEqual(['299 - "mind the gap"']);
      await remove();
    });

    it('may prevent deletion', async () => {
      hook.answer((review) =>
        at(review, 'request.operation') === 'DELETE' ? deny(review, { message: 'stay', code: 403 }) : allow(review),
      );
      const { path, remove } = await register('Validating', [{ name: 'check.example.com' }]);
      await on().api.create(path, labelled('x'));
      expect((await on().api.delete(`${path}/x`)).status).toBe(403);
      expect((await on().api.delete(path)).status).toBe(403);
      await remove();
      if (!on().ours) await new Promise((resolve) => setTimeout(resolve, 1500));
      expect((await on().api.delete(`${path}/x`)).status).toBe(200);
    });
  });

  describe('the failurePolicy of a webhook', () => {
    it.each([
      ['is refused by the server', () => ({ httpStatus: 503 })],
      [
        'answers for another request',
        (review: JsonObject) => allow({ request: { ...(review['request'] as JsonObject), uid: 'other' } }),
      ],
      ['answers with something else', () => ({ kind: 'Surprise', apiVersion: 'v1' })],
    ])('Fail fails the write when the webhook %s, and Ignore lets it pass', async (_, answer) => {
      hook.answer(answer);
      const { path, remove } = await register('Validating', [{ name: 'check.example.com', failurePolicy: 'Fail' }]);
      const failed = await on().api.post(path, labelled('x'));
      expect(failed.status).toBe(500);
      expect(failed.body).toMatchObject({
        reason: 'InternalError',
        message: expect.stringMatching(/^Internal error occurred: failed calling webhook "check\.example\.com": /),
      });
      await remove();
      const ignoring = await register('Validating', [{ name: 'check.example.com', failurePolicy: 'Ignore' }]);
      expect((await on().api.post(ignoring.path, labelled('x'))).status).toBe(201);
      expect(calls().length).toBeGreaterThanOrEqual(2);
      await ignoring.remove();
      if (on().ours) on().ours!.unexpected.length = 0;
    });

    it('applies to a webhook that does not answer in time', async () => {
      hook.answer(() => 'never');
      const { path, remove } = await register('Validating', [{ name: 'check.example.com', timeoutSeconds: 1 }]);
      const answer = await on().api.post(path, labelled('x'));
      expect(answer.status).toBe(500);
      expect(answer.body['message']).toContain('context deadline exceeded');
      await remove();
    });

    it('applies to a webhook with an untrusted certificate', async () => {
      hook.answer(allow);
      const { path, remove } = await register('Validating', [
        { name: 'check.example.com', clientConfig: { url: `${hook.url}/check` } },
      ]);
      const answer = await on().api.post(path, labelled('x'));
      expect(answer.status).toBe(500);
      expect(answer.body['message']).toContain('failed calling webhook "check.example.com"');
      expect(calls()).toEqual([]);
      await remove();
    });
  });

  describe('the matching of webhooks', () => {
    it('uses operation, resource and subresource', async () => {
      hook.answer(allow);
      const rule = (operations: string[], resources: string[]): object => ({
        operations,
        apiGroups: [''],
        apiVersions: ['v1'],
        resources,
      });
      const { path, ns, remove } = await register('Validating', [
        { name: 'creates.example.com', rules: [rule(['CREATE'], ['configmaps'])] },
        { name: 'updates.example.com', rules: [rule(['UPDATE'], ['*'])] },
        { name: 'statuses.example.com', rules: [rule(['*'], ['*/status'])] },
        { name: 'elsewhere.example.com', rules: [rule(['*'], ['secrets'])] },
      ]);
      await on().api.create(path, labelled('x'));
      await on().api.patch(`${path}/x`, mergePatch, { data: { a: '1' } });
      await on().api.delete(`${path}/x`);
      const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      const claims = ns.core('persistentvolumeclaims');
      await on().api.create(claims, { ...configMap('c'), kind: 'PersistentVolumeClaim', spec: claim });
      await on().api.patch(`${claims}/c/status`, mergePatch, { status: { phase: 'Lost' } });
      const ours = called().filter((line) => / [xc]$/.test(line));
      expect(ours).toEqual(expect.arrayContaining(['creates CREATE x', 'updates UPDATE x', 'statuses UPDATE c']));
      expect(ours.filter((line) => line.startsWith('elsewhere') || line === 'updates UPDATE c')).toEqual([]);
      expect(ours.filter((line) => line.endsWith('DELETE x'))).toEqual([]);
      const status = calls().find(({ path: url }) => url === '/statuses')!;
      expect(status.review['request']).toMatchObject({ subResource: 'status', requestSubResource: 'status' });
      await remove();
    });

    it('uses labels of the namespace and of the old or new object', async () => {
      hook.answer(allow);
      const { path, remove } = await register('Validating', [
        { name: 'labelled.example.com', objectSelector: { matchLabels: { watched: 'yes' } } },
      ]);
      const other = (await on().namespace()).core('configmaps');
      await on().api.create(path, configMap('plain'));
      await on().api.create(path, configMap('watched', { metadata: { labels: { watched: 'yes' } } }));
      await on().api.create(other, configMap('other', { metadata: { labels: { watched: 'yes' } } }));
      await on().api.patch(`${path}/watched`, mergePatch, { metadata: { labels: { watched: null } } });
      await on().api.patch(`${path}/watched`, mergePatch, { data: { a: '1' } });
      expect(called()).toEqual(['labelled CREATE watched', 'labelled UPDATE watched']);
      await remove();
    });

    it('skips a webhook with a false condition, and fails when a condition cannot be evaluated', async () => {
      hook.answer(allow);
      const { path, remove } = await register('Validating', [
        {
          name: 'conditional.example.com',
          failurePolicy: 'Fail',
          matchConditions: [
            { name: 'not-deletes', expression: 'request.operation != "DELETE"' },
            { name: 'marked', expression: 'object.data.mark == "yes"' },
          ],
        },
      ]);
      const { api } = on();
      expect((await api.post(path, configMap('no', { data: { mark: 'no' } }))).status).toBe(201);
      expect((await api.post(path, configMap('yes', { data: { mark: 'yes' } }))).status).toBe(201);
      const failed = await api.post(path, configMap('none'));
      expect(failed.status).toBe(403);
      expect(failed.body['message']).toBe(
        'configmaps "none" is forbidden: expression \'object.data.mark == "yes"\' resulted in error: no such key: data',
      );
      expect((await api.delete(`${path}/no`)).status).toBe(200);
      expect(called()).toEqual(['conditional CREATE yes']);
      await remove();
      const ignoring = await register('Validating', [
        {
          name: 'conditional.example.com',
          failurePolicy: 'Ignore',
          matchConditions: [{ name: 'marked', expression: 'object.data.mark == "yes"' }],
        },
      ]);
      hook.answer((review) => deny(review));
      expect((await api.post(ignoring.path, configMap('none'))).status).toBe(201);
      await ignoring.remove();
    });

    it('allows conditions that ask about permissions, and refuses conditions that do not compile', async () => {
      hook.answer((review) => deny(review));
      const expression = '!authorizer.requestResource.check("break-glass").allowed()';
      const { path, remove } = await register('Validating', [
        { name: 'glass.example.com', matchConditions: [{ name: 'no-master', expression }] },
      ]);
      expect((await on().api.post(path, configMap('by-a-master'))).status).toBe(201);
      await remove();
      const broken = on().api.post(`${registrations}/validatingwebhookconfigurations`, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: on().unique('broken') },
        webhooks: [
          {
            name: 'broken.example.com',
            admissionReviewVersions: ['v1'],
            sideEffects: 'None',
            clientConfig: { url: 'https://127.0.0.1/' },
            matchConditions: [{ name: 'c', expression: 'object.metadata.name' }],
          },
        ],
      });
      expect((await broken).status).toBe(422);
      expect((await broken).body['message']).toContain(
        'webhooks[0].matchConditions[0].expression: Invalid value: "object.metadata.name": must evaluate to bool but got dyn',
      );
    });

    it('matches subresources too, such as pods/eviction', async () => {
      const target = on();
      const ns = await target.namespace();
      await target.api.create(ns.core('serviceaccounts'), {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'runner' },
      });
      await target.api.create(ns.core('pods'), pod('p', { spec: { serviceAccountName: 'runner' } }));
      hook.answer((review) => deny(review, { message: 'not now' }));
      const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'] }];
      const { remove } = await register('Validating', [{ name: 'evictions.example.com', rules }], ns);
      const answer = await target.api.post(`${ns.core('pods')}/p/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'p' },
      });
      expect(answer.body['message']).toContain('admission webhook "evictions.example.com" denied the request: not now');
      expect(hook.received.at(-1)?.review).toMatchObject({
        request: {
          kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
          resource: { group: '', version: 'v1', resource: 'pods' },
          subResource: 'eviction',
          operation: 'CREATE',
          object: { kind: 'Eviction', metadata: { name: 'p' } },
        },
      });
      expect((await target.api.get(`${ns.core('pods')}/p`)).status).toBe(200);
      await remove();
    });

    it('matches any version with Equivalent, converting the object, or only the exact one with Exact', async () => {
      const target = on();
      hook.answer((review, path) =>
        path === '/equivalent'
          ? admissionAnswer(review, patchResponse([{ op: 'add', path: '/spec/size', value: 'patched' }]))
          : allow(review),
      );
      const group = `${target.unique('hooks')}.example.com`;
      await target.api.create(crds, crd({ group, versions: [crdVersion('v1'), crdVersion('v2', { storage: false })] }));
      target.cleanUp(`${crds}/widgets.${group}`);
      const ns = await target.namespace();
      const collection = ns.of(`${group}/v2`, 'widgets');
      await eventually(async () => ((await target.api.get(collection)).status === 200 ? true : undefined));
      const rules = [{ operations: ['*'], apiGroups: [group], apiVersions: ['v1'], resources: ['widgets'] }];
      const { remove } = await register(
        'Mutating',
        [
          { name: 'equivalent.example.com', matchPolicy: 'Equivalent', rules },
          { name: 'exact.example.com', matchPolicy: 'Exact', rules },
        ],
        ns,
      );
      const made = await target.api.post(collection, widget(group, 'w', { replicas: 1 }, {}, 'v2'));
      expect(made.status, made.text).toBe(201);
      expect(made.body).toMatchObject({ apiVersion: `${group}/v2`, spec: { replicas: 1, size: 'patched' } });
      expect(called()).toEqual(['equivalent CREATE w']);
      expect(requestOf()).toMatchObject({
        kind: { group, version: 'v1', kind: 'Widget' },
        resource: { group, version: 'v1', resource: 'widgets' },
        requestKind: { group, version: 'v2', kind: 'Widget' },
        requestResource: { group, version: 'v2', resource: 'widgets' },
        object: { apiVersion: `${group}/v1`, spec: { replicas: 1 } },
      });
      await remove();
    });

    it('skips webhook configurations, so that they can be repaired', async () => {
      const target = on();
      if (!target.ours) return;
      hook.answer((review) => deny(review));
      const { remove } = await register('Validating', [
        {
          name: 'everything.example.com',
          namespaceSelector: {},
          rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }],
        },
      ]);
      expect((await target.api.post('/api/v1/namespaces/default/configmaps', configMap('x'))).status).toBe(400);
      await remove();
      expect((await target.api.post('/api/v1/namespaces/default/configmaps', configMap('x'))).status).toBe(201);
    });
  });

  it('a webhook is called through the Service it names', async () => {
    const target = on();
    if (!target.ours) return;
    const services = '/api/v1/namespaces/default/services';
    const service = (name: string, spec: object): object => ({ ...configMap(name), kind: 'Service', spec });
    await target.api.post(services, service('hook', { type: 'ExternalName', externalName: 'localhost' }));
    await target.api.post(services, service('nobody', { ports: [{ port: 443 }] }));
    hook.answer((review) => admissionAnswer(review, addLabel('served')));
    const byService = (name: string, port: number): object => ({
      name: `${name}.example.com`,
      clientConfig: { service: { namespace: 'default', name, path: '/by-service', port }, caBundle: hook.caBundle },
      objectSelector: { matchLabels: { by: name } },
    });
    const { path, remove } = await register('Mutating', [
      byService('hook', Number(new URL(hook.url).port)),
      byService('nobody', 443),
      byService('nowhere', 443),
    ] as never);
    const made = await target.api.post(path, configMap('x', { metadata: { labels: { by: 'hook' } } }));
    expect(made.object.metadata.labels).toEqual({ by: 'hook', served: 'yes' });
    expect(calls()[0]!.path).toBe('/by-service');
    const failure = async (by: string): Promise<unknown> => {
      const failed = await target.api.post(path, configMap('y', { metadata: { labels: { by } } }));
      expect(failed.status).toBe(500);
      return failed.body['message'];
    };
    expect(await failure('nobody')).toContain('no endpoints available for service "nobody"');
    expect(await failure('nowhere')).toContain('service "nowhere" not found');
    await remove();
  });
});
