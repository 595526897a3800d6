import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { ManualClock } from '../../machinery/index.ts';
import { createCsr } from '../../pki/index.ts';
import {
  type Answer,
  Api,
  applyPatch,
  at,
  configMap,
  crd,
  deployment,
  eventually,
  jsonPatch,
  mergePatch,
  onTargets,
  pod,
  startTestServer,
  strategicPatch,
  type Target,
  type TestServer,
  targets,
  widget,
} from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

onTargets(targets, (on, { real }) => {
  describe('the scale subresource', () => {
    it('of a built-in kind shows replicas and selector, and changes the replicas', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'deployments');
      const made = await api.create(path, deployment('d', { spec: { replicas: 2 } }));
      const { uid, creationTimestamp, resourceVersion } = made.object.metadata;
      const read = await api.get(`${path}/d/scale`);
      expect(read.status).toBe(200);
      expect(read.body).toMatchObject({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'd', uid, creationTimestamp },
        spec: { replicas: 2 },
        status: { replicas: 0, selector: 'app=d' },
      });
      if (!real) expect(at(read.body, 'metadata.resourceVersion')).toBe(resourceVersion);
      const patched = await api.patch(`${path}/d/scale`, mergePatch, { spec: { replicas: 5 } });
      expect(patched.body).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
      expect((await api.get(`${path}/d`)).body).toMatchObject({ spec: { replicas: 5 }, metadata: { generation: 2 } });
    });

    it('refuses negative replicas and an old revision', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'replicasets');
      await api.create(path, { ...deployment('r'), kind: 'ReplicaSet' });
      const negative = await api.patch(`${path}/r/scale`, mergePatch, { spec: { replicas: -1 } });
      expect(negative.status).toBe(422);
      expect(negative.body['message']).toBe(
        'Scale.autoscaling "r" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      );
      const scale = (await api.get(`${path}/r/scale`)).body;
      const old = { ...scale, metadata: { name: 'r', resourceVersion: '1' }, spec: { replicas: 3 } };
      expect((await api.put(`${path}/r/scale`, old)).status).toBe(409);
      expect((await api.get(`${path}/none/scale`)).status).toBe(404);
    });

    it('of a custom kind uses the paths of its definition', async () => {
      const target = on();
      const group = `${target.unique('scale')}.example.com`;
      const scale = {
        specReplicasPath: '.spec.replicas',
        statusReplicasPath: '.status.replicas',
        labelSelectorPath: '.status.selector',
      };
      await target.api.create(crds, crd({ group, version: { subresources: { status: {}, scale } } }));
      target.cleanUp(`${crds}/widgets.${group}`);
      const path = (await target.namespace()).of(`${group}/v1`, 'widgets');
      await eventually(async () => ((await target.api.get(path)).status === 200 ? true : undefined));
      await target.api.create(path, widget(group, 'w', { replicas: 1 }));
      await target.api.patch(`${path}/w/status`, mergePatch, { status: { replicas: 1, selector: 'app=w' } });
      expect((await target.api.get(`${path}/w/scale`)).body).toMatchObject({
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'w' },
        spec: { replicas: 1 },
        status: { replicas: 1, selector: 'app=w' },
      });
      const changed = await target.api.patch(`${path}/w/scale`, mergePatch, { spec: { replicas: 3 } });
      expect(changed.status).toBe(200);
      expect((await target.api.get(`${path}/w`)).body).toMatchObject({
        spec: { replicas: 3 },
        metadata: { generation: 2 },
      });
    });

    it('is answered 404 for a kind without it', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('configmaps');
      await api.create(path, configMap('c'));
      expect((await api.get(`${path}/c/scale`)).status).toBe(404);
    });
  });

  describe('pods', () => {
    it('on a node are marked with a grace period, and removed when it is set to zero', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      await api.create(path, pod('p', { spec: { nodeName: 'node-1', terminationGracePeriodSeconds: 20 } }));
      const marked = await api.delete(`${path}/p`);
      expect(marked.body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 20 } });
      const { deletionTimestamp } = marked.object.metadata;
      const shorter = await api.delete(`${path}/p`, { gracePeriodSeconds: 5 });
      expect(shorter.object.metadata.deletionGracePeriodSeconds).toBe(5);
      expect(Date.parse(shorter.object.metadata.deletionTimestamp!)).toBeLessThan(Date.parse(deletionTimestamp!));
      const longer = await api.delete(`${path}/p`, { gracePeriodSeconds: 50 });
      expect(longer.object.metadata.deletionGracePeriodSeconds).toBe(5);
      const gone = await api.delete(`${path}/p`, { gracePeriodSeconds: 0 });
      expect(gone.status).toBe(200);
      expect((await api.get(`${path}/p`)).status).toBe(404);
    });

    it('without a node are removed at once', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      await api.create(path, pod('p'));
      expect((await api.delete(`${path}/p`)).status).toBe(200);
      expect((await api.get(`${path}/p`)).status).toBe(404);
    });

    it('are bound to a node only once', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      await api.create(path, pod('p'));
      const binding = (name: string): object => ({
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p' },
        target: { apiVersion: 'v1', kind: 'Node', name },
      });
      const bound = await api.post(`${path}/p/binding`, binding('node-1'));
      expect(bound.status).toBe(201);
      expect(bound.body).toMatchObject({ kind: 'Status', status: 'Success' });
      const { body } = await api.get(`${path}/p`);
      expect(body).toMatchObject({ spec: { nodeName: 'node-1' } });
      expect(at(body, 'status.conditions')).toEqual(
        expect.arrayContaining([expect.objectContaining({ type: 'PodScheduled', status: 'True' })]),
      );
      const again = await api.post(`${path}/p/binding`, binding('node-2'));
      expect(again.status).toBe(409);
      expect(again.body['message']).toContain('pod p is already assigned to node "node-1"');
    });

    it('allow changes of few spec fields, such as the image', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      await api.create(path, pod('p'));
      const image = [{ op: 'replace', path: '/spec/containers/0/image', value: 'registry.example/main:2' }];
      expect((await api.patch(`${path}/p`, 'application/json-patch+json', image)).status).toBe(200);
      const answer = await api.patch(`${path}/p`, mergePatch, { spec: { hostNetwork: true } });
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain('spec: Forbidden: pod updates may not change fields other than');
    });
  });

  describe('the eviction of a pod', () => {
    const eviction = (name: string): object => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });
    const budget = (name: string): object => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } },
    });
    const running = async (target: Target): Promise<{ path: string; budgets: string; api: Api }> => {
      const ns = await target.namespace();
      const path = ns.core('pods');
      const { api } = target;
      await api.create(path, pod('p', { metadata: { labels: { app: 'guarded' } } }));
      await api.patch(`${path}/p/status`, mergePatch, {
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
      });
      return { path, budgets: ns.of('policy/v1', 'poddisruptionbudgets'), api };
    };

    it('deletes a pod without a disruption budget', async () => {
      const { path, api } = await running(on());
      const answer = await api.post(`${path}/p/eviction`, eviction('p'));
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success', code: 201 });
      expect((await api.get(`${path}/p`)).status).toBe(404);
      expect((await api.post(`${path}/p/eviction`, eviction('p'))).status).toBe(404);
    });

    it('is answered 429 while a budget allows no disruption', async () => {
      const { path, budgets, api } = await running(on());
      await api.post(budgets, budget('b'));
      // With a controller, the budget is computed: one pod, of which one must stay. Without a controller, it allows
      // nothing yet.
      const answer = await eventually(async () => {
        const tried = await api.post(`${path}/p/eviction?dryRun=All`, eviction('p'));
        return tried.status === 429 ? tried : undefined;
      });
      expect(answer.body).toMatchObject({
        reason: 'TooManyRequests',
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        details: {
          causes: [{ reason: 'DisruptionBudget', message: expect.stringMatching(/^The disruption budget b /) }],
        },
      });
    });

    it.skipIf(real)('reduces the number of disruptions that the budget allows', async () => {
      const { path, budgets, api } = await running(on());
      await api.post(budgets, budget('b'));
      await api.patch(`${budgets}/b/status`, mergePatch, {
        status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
      });
      expect((await api.post(`${path}/p/eviction`, eviction('p'))).status).toBe(201);
      const { body } = await api.get(`${budgets}/b`);
      expect(at(body, 'status')).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { p: expect.any(String) } });
    });

    it('is answered 500 when two budgets select the pod', async () => {
      const { path, budgets, api } = await running(on());
      await api.post(budgets, budget('a'));
      await api.post(budgets, budget('b'));
      const answer = await api.post(`${path}/p/eviction`, eviction('p'));
      expect(answer.status).toBe(500);
      expect(answer.body['message']).toContain('This pod has more than one PodDisruptionBudget');
    });
  });

  describe('certificate signing requests', () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const make = async (target: Target): Promise<string> => {
      const { csr } = await createCsr({ commonName: 'jane', organizations: ['team'] });
      const name = target.unique('rules');
      await target.api.create(path, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        spec: {
          request: Buffer.from(csr).toString('base64'),
          signerName: 'example.com/signer',
          usages: ['client auth'],
          username: 'smuggled',
        },
      } as never);
      target.cleanUp(`${path}/${name}`);
      return name;
    };

    it('record the user who created them, whatever the body contains', async () => {
      const name = await make(on());
      const { body } = await on().api.get(`${path}/${name}`);
      expect(at(body, 'spec.username')).toMatch(/admin$/);
      expect(at(body, 'spec.groups')).toEqual(['system:masters', 'system:authenticated']);
    });

    it('are approved or denied only through the approval subresource, and only once', async () => {
      const name = await make(on());
      const { api } = on();
      const { object } = await api.get(`${path}/${name}`);
      const condition = { type: 'Approved', status: 'True', reason: 'Fine', message: 'It is fine.' };
      const plain = await api.put(`${path}/${name}`, { ...object, status: { conditions: [condition] } });
      expect(at(plain.body, 'status.conditions')).toBeUndefined();
      const status = await api.put(`${path}/${name}/status`, { ...object, status: { conditions: [condition] } });
      expect(at(status.body, 'status.conditions')).toBeUndefined();
      const fresh = (await api.get(`${path}/${name}`)).object;
      const approved = await api.put(`${path}/${name}/approval`, { ...fresh, status: { conditions: [condition] } });
      expect(approved.status, approved.text).toBe(200);
      expect(at(approved.body, 'status.conditions')).toMatchObject([condition]);
      const denied = await api.put(`${path}/${name}/approval`, {
        ...approved.object,
        status: { conditions: [condition, { ...condition, type: 'Denied' }] },
      });
      expect(denied.status).toBe(422);
    });

    it('can be approved by patches too, which change nothing else', async () => {
      const name = await make(on());
      const { api } = on();
      const approval = `${path}/${name}/approval`;
      const condition = { type: 'Approved', status: 'True', reason: 'Fine', message: 'It is fine.' };
      const patch = { spec: { signerName: 'example.com/other' }, status: { conditions: [condition] } };
      const merged = await api.patch(approval, mergePatch, patch);
      expect(merged.status, merged.text).toBe(200);
      expect(merged.body).toMatchObject({
        spec: { signerName: 'example.com/signer' },
        status: { conditions: [condition] },
      });
      const added = { op: 'add', path: '/status/conditions/-', value: { type: 'Noted', status: 'True' } };
      const operated = await api.patch(approval, jsonPatch, [added]);
      expect(at(operated.body, 'status.conditions')).toMatchObject([condition, { type: 'Noted' }]);
      const forgetful = { status: { conditions: [{ type: 'Noted', status: 'True' }] } };
      const removed = await api.patch(approval, strategicPatch, forgetful);
      expect(removed.status).toBe(422);
      expect(removed.body['message']).toContain('updates may not remove a condition of type "Approved"');
      const applied = await api.patch(`${approval}?fieldManager=m`, applyPatch, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name },
        status: { conditions: [{ type: 'Applied', status: 'True' }] },
      });
      expect(applied.status, applied.text).toBe(200);
      expect(at(applied.body, 'status.conditions')).toHaveLength(3);
    });
  });

  describe('signers', () => {
    it('need the verbs approve and sign, and sign no certificate for system:masters', async () => {
      const { api, unique, cleanUp, connect } = on();
      const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
      const make = async (organizations: string[]): Promise<Answer> => {
        const { csr } = await createCsr({ commonName: 'jane', organizations });
        const answer = await api.post(path, {
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: { name: unique('rules') },
          spec: {
            request: Buffer.from(csr).toString('base64'),
            signerName: 'kubernetes.io/kube-apiserver-client',
            usages: ['client auth'],
          },
        });
        if (answer.status === 201) cleanUp(`${path}/${answer.object.metadata.name}`);
        return answer;
      };
      const master = await make(['system:masters']);
      expect(master.status).toBe(403);
      expect(master.body['message']).toContain(
        'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
      );

      const user = unique('approver');
      const rbac = '/apis/rbac.authorization.k8s.io/v1';
      const role = {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: user },
        rules: [
          {
            apiGroups: ['certificates.k8s.io'],
            resources: [
              'certificatesigningrequests',
              'certificatesigningrequests/approval',
              'certificatesigningrequests/status',
            ],
            verbs: ['get', 'update'],
          },
        ],
      };
      await api.create(`${rbac}/clusterroles`, role);
      cleanUp(`${rbac}/clusterroles/${user}`);
      await api.create(`${rbac}/clusterrolebindings`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: user },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: user },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
      } as never);
      cleanUp(`${rbac}/clusterrolebindings/${user}`);
      const approver = connect('h2', { 'impersonate-user': user });
      const made = (await make(['team'])).object;
      await eventually(async () =>
        (await approver.get(`${path}/${made.metadata.name}`)).status === 200 ? true : undefined,
      );
      const conditions = [{ type: 'Approved', status: 'True', reason: 'Fine', message: 'It is fine.' }];
      const refused = await approver.put(`${path}/${made.metadata.name}/approval`, { ...made, status: { conditions } });
      expect(refused.status).toBe(403);
      expect(refused.body['message']).toContain(
        'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
      );
      const failed = [{ type: 'Failed', status: 'True', reason: 'No', message: 'No.' }];
      const signed = await approver.put(`${path}/${made.metadata.name}/status`, {
        ...made,
        status: { conditions: failed },
      });
      expect(signed.status).toBe(403);
      expect(signed.body['message']).toContain('user not permitted to sign requests with signerName');
      await api.patch(`${rbac}/clusterroles/${user}`, mergePatch, {
        rules: [
          ...role.rules,
          {
            apiGroups: ['certificates.k8s.io'],
            resources: ['signers'],
            resourceNames: ['kubernetes.io/*'],
            verbs: ['approve'],
          },
        ],
      });
      const approved = await eventually(async () => {
        const answer = await approver.put(`${path}/${made.metadata.name}/approval`, {
          ...made,
          status: { conditions },
        });
        return answer.status === 200 ? answer : undefined;
      });
      expect(at(approved.body, 'status.conditions')).toMatchObject(conditions);
    });
  });

  describe('service accounts', () => {
    it('get working tokens with the requested lifetime and audience', async () => {
      const { api, namespace, endpoint } = on();
      const ns = await namespace();
      await api.create(ns.core('serviceaccounts'), { ...configMap('robot'), kind: 'ServiceAccount' });
      const ask = (spec: object): ReturnType<Api['post']> =>
        api.post(`${ns.core('serviceaccounts')}/robot/token`, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec,
        });
      const answer = await ask({ expirationSeconds: 600 });
      expect(answer.status).toBe(201);
      const token = String(at(answer.body, 'status.token'));
      const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
      expect(claims).toMatchObject({
        sub: `system:serviceaccount:${ns.name}:robot`,
        aud: ['https://kubernetes.default.svc'],
        'kubernetes.io': { namespace: ns.name, serviceaccount: { name: 'robot' } },
      });
      expect(claims.exp - claims.iat).toBe(600);
      const { host, port, ca } = endpoint;
      const robot = new Api({ host, port, ca, token });
      const whoami = await robot.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'SelfSubjectReview',
      });
      expect(at(whoami.body, 'status.userInfo')).toMatchObject({
        username: `system:serviceaccount:${ns.name}:robot`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${ns.name}`, 'system:authenticated'],
      });
      expect((await robot.get(ns.core('secrets'))).status).toBe(403);
      const short = await ask({ expirationSeconds: 10 });
      expect(short.status).toBe(422);
      const foreign = await ask({ audiences: ['elsewhere'] });
      const stranger = new Api({ host, port, ca, token: String(at(foreign.body, 'status.token')) });
      expect((await stranger.get('/api')).status).toBe(401);
      await api.delete(`${ns.core('serviceaccounts')}/robot`);
      await eventually(async () => ((await robot.get('/api')).status === 401 ? true : undefined));
      robot.close();
      stranger.close();
    });
  });

  describe('pod logs', () => {
    it('cannot be read for a pod without a node', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).core('pods');
      await api.create(path, pod('p'));
      const two = { containers: ['a', 'b'].map((name) => ({ name, image: 'registry.example/x:1' })) };
      await api.create(path, pod('q', { spec: two }));
      const unknown = await api.get(`${path}/p/log?container=other`);
      expect([unknown.status, unknown.body['message']]).toEqual([400, 'container other is not valid for pod p']);
      const which = await api.get(`${path}/q/log`);
      expect([which.status, which.body['message']]).toEqual([
        400,
        'a container name must be specified for pod q, choose one of: [a b]',
      ]);
    });
  });
});

describe('pod logs', () => {
  it('are streamed as plain text from the backend that runs the pods', async () => {
    const server = await startTestServer({
      podLogs: async function* (object, { container, tailLines, follow }) {
        yield `${object.metadata.name}/${container} tail=${tailLines} follow=${follow}\n`;
        yield 'done\n';
      },
    });
    const api = server.api();
    const path = '/api/v1/namespaces/default/pods';
    await api.create(path, pod('p', { spec: { nodeName: 'here' } }));
    const answer = await api.get(`${path}/p/log?tailLines=5&follow=true`);
    await server.stop();
    expect(answer.header('content-type')).toBe('text/plain');
    expect(answer.text).toBe('p/main tail=5 follow=true\ndone\n');
  });

  it('accept sinceTime as well as sinceSeconds', async () => {
    const nowMs = Math.floor(Date.now() / 1000) * 1000;
    const clock = new ManualClock(nowMs);
    const ago = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString();
    const server = await startTestServer({
      clock,
      podLogs: async function* (_, { sinceSeconds, sinceTime }) {
        yield String(sinceTime === undefined ? sinceSeconds : new Date(sinceTime).toISOString());
      },
    });
    const api = server.api();
    const path = '/api/v1/namespaces/default/pods';
    await api.create(path, pod('p', { spec: { nodeName: 'here' } }));
    const log = async (query: string): Promise<string> => {
      const answer = await api.get(`${path}/p/log?${query}`);
      return answer.status === 200 ? answer.text : `${answer.status} ${String(answer.body['message'])}`;
    };
    const said = [
      await log(`sinceTime=${ago(90)}`),
      await log(`sinceTime=${ago(-60)}`),
      await log('sinceSeconds=7'),
      await log(`sinceTime=${ago(90)}&sinceSeconds=7`),
      await log('sinceTime=yesterday'),
      await log('sinceSeconds=0'),
    ];
    await server.stop();
    expect(said).toEqual([
      ago(90),
      ago(-60),
      '7',
      expect.stringContaining('at most one of `sinceTime` or `sinceSeconds` may be specified'),
      expect.stringMatching(/^400 .*yesterday/),
      expect.stringMatching(/^422 .*sinceSeconds: Invalid value: 0: must be greater than 0/),
    ]);
  });
});

describe('WebSockets', () => {
  let server: TestServer;
  const path = '/api/v1/namespaces/default/pods/p';
  beforeAll(async () => {
    server = await startTestServer({
      podLogs: async function* () {
        yield 'one\n';
        yield 'twö\n';
      },
      podExecutor: async (_, { command, out, error, stdin }) => {
        out(`${command.join(' ')}\n`);
        for await (const piece of stdin ?? []) out(`read ${String(piece)}`);
        error('oh');
        return command[0] === 'fail' ? 3 : 0;
      },
    });
    await server.api().create('/api/v1/namespaces/default/pods', pod('p', { spec: { nodeName: 'here' } }));
    await server.api().create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'here' } });
  });
  afterAll(() => server.stop());

  /** Sends messages and returns all messages of the server until the connection closes, and the protocol. */
  function converse(url: string, protocol: string | undefined, ...said: (string | Buffer)[]): Promise<string[]> {
    const { host, port, ca, cert, key } = server.endpoint;
    const socket = new WebSocket(`wss://${host}:${port}${url}`, protocol ?? [], { ca, cert, key });
    return new Promise((resolve, reject) => {
      const heard: string[] = [];
      socket.on('open', () => {
        heard.push(socket.protocol);
        for (const message of said) socket.send(message);
      });
      socket.on('message', (data: Buffer, isBinary) => {
        // In binary messages, the channel is a number below any text character.
        const [first = 255] = data;
        const text = first < 4 ? `${first}${data.toString('utf8', 1)}` : data.toString('utf8');
        heard.push(`${isBinary ? 'b' : 't'}:${text}`);
      });
      socket.on('close', () => resolve(heard));
      socket.on('error', reject);
    });
  }

  it.each([
    [undefined, ['', 'b:one\n', 'b:twö\n']],
    ['binary.k8s.io', ['binary.k8s.io', 'b:one\n', 'b:twö\n']],
    ['base64.binary.k8s.io', ['base64.binary.k8s.io', 't:b25lCg==', 't:dHfDtgo=']],
  ])('carry logs with the protocol %s', async (protocol, heard) => {
    expect(await converse(`${path}/log`, protocol)).toEqual(heard);
  });

  const exec = `${path}/exec?stdout=true&stderr=true`;

  it.each([
    ['v5.channel.k8s.io', 'b:1echo\n', 'b:2oh', /^b:3\{.*"Success"/],
    ['v4.channel.k8s.io', 'b:1echo\n', 'b:2oh', /^b:3\{.*"Success"/],
    ['v4.base64.channel.k8s.io', 't:1ZWNobwo=', 't:2b2g=', /^t:3/],
  ])('carry commands and end with a Status: %s', async (protocol, out, error, outcome) => {
    const [spoken, ...heard] = await converse(`${exec}&command=echo`, protocol);
    expect([spoken, ...heard.slice(0, 2)]).toEqual([protocol, out, error]);
    expect(heard[2]).toMatch(outcome);
  });

  it.each([
    ['channel.k8s.io', 'b:1', 'b:2oh', /^b:3command terminated/],
    ['base64.channel.k8s.io', 't:1', 't:2b2g=', /^t:3/],
    [undefined, 'b:1', 'b:2oh', /^b:3command terminated/],
  ])(
    'carry commands in the oldest protocols, which send nothing on success: %s',
    async (protocol, out, error, words) => {
      const [spoken, ...heard] = await converse(`${exec}&command=echo`, protocol);
      expect(spoken).toBe(protocol ?? '');
      expect(heard).toEqual([expect.stringContaining(out), error]);
      const [, ...failed] = await converse(`${exec}&command=fail`, protocol);
      expect(failed[2]).toMatch(words);
    },
  );
});

describe('expiry of tokens', () => {
  it('a service account token is refused after it has expired', async () => {
    const clock = new ManualClock(Date.now());
    const server = await startTestServer({ clock });
    const api = server.api();
    const path = '/api/v1/namespaces/default/serviceaccounts';
    await api.create(path, { ...configMap('robot'), kind: 'ServiceAccount' });
    const answer = await api.post(`${path}/robot/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 600 },
    });
    const robot = server.anonymous({ token: String(at(answer.body, 'status.token')) });
    const before = (await robot.get('/api')).status;
    // Clocks of issuer and reader may differ by a minute.
    await clock.advance(661_000);
    const after = (await robot.get('/api')).status;
    await server.stop();
    expect([before, after]).toEqual([200, 401]);
  });
});
