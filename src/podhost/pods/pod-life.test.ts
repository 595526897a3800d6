import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConfigMaps, type Pod, Pods, Secrets, Services } from '../../api/index.ts';
import type { SimulatedProgram } from '../../simkube/index.ts';
import { by, container, type HostWorld, hostWorld, isReady, namespace, untilStopped } from '../testing/host-world.ts';

let world: HostWorld;
beforeAll(async () => {
  world = await hostWorld();
});
afterEach(() => world.clear());
afterAll(() => world.stop());

const stays: SimulatedProgram = async ({ signal, log }) => {
  log('up');
  await untilStopped(signal);
  return 0;
};
const fails: SimulatedProgram = async ({ log }) => {
  log('something is wrong');
  return 3;
};
const succeeds: SimulatedProgram = async ({ pass, log }) => {
  await pass(1_000);
  log('done');
  return 0;
};
/** Logs its environment and keeps running. */
const reports: SimulatedProgram = async ({ argv, env, files, signal, log }) => {
  log(JSON.stringify({ argv, env }));
  for (const path of files.list('/etc/')) log(`${path}=${files.read(path)}`);
  await untilStopped(signal);
  return 0;
};

const state = (pod: Pod, name = 'main') =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].find(
    (status) => status.name === name,
  );
const reasons = async (name: string): Promise<string[]> => (await world.events(name)).map(({ reason }) => reason!);

describe('a Pod', () => {
  it.each([
    ['$(NONE)/x', 'missing value for NONE'],
    ['$(ROOT)', 'error SubPath `/tmp` must not be an absolute path'],
    ['$(UP)/x', "unable to provision SubPath `../x`: must not contain '..'"],
  ])('does not start with the volume sub path %s', async (subPathExpr, message) => {
    world.use({ app: stays });
    const env = [
      { name: 'ROOT', value: '/tmp' },
      { name: 'UP', value: '..' },
    ];
    const volumeMounts = [{ name: 'v', mountPath: '/v', subPathExpr }];
    await world.createPod('p', {
      containers: [container({ env, volumeMounts })],
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    const pod = await world.podUntil('p', (one) => state(one)?.state?.waiting?.message !== undefined);
    expect(state(pod)?.state?.waiting).toEqual({ reason: 'CreateContainerConfigError', message });
  });

  it('has variables of all keys, even those no shell could use', async () => {
    world.use({ app: reports });
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace }, data: { '1-x': 'one' } };
    await world.client.create(ConfigMaps, map, by);
    await world.createPod('p', { containers: [container({ envFrom: [{ configMapRef: { name: 'm' } }] })] });
    await world.podUntil('p', isReady);
    expect(JSON.parse((await world.log('p')).split('\n')[0]!)).toMatchObject({ env: { '1-x': 'one' } });
  });

  it('stays failed when somebody else writes that it failed', async () => {
    world.use({ app: stays });
    await world.createPod('p', { containers: [container()] });
    await world.podUntil('p', isReady);
    const failed = { status: { phase: 'Failed', reason: 'Evicted', message: 'enough' } };
    await world.client.patch(Pods, { namespace, name: 'p' }, 'merge', failed, { ...by, subresource: 'status' });
    const pod = await world.podUntil('p', (one) => state(one)?.state?.terminated !== undefined);
    expect(pod.status).toMatchObject({ phase: 'Failed', reason: 'Evicted', message: 'enough', observedGeneration: 1 });
    await world.pass(600_000);
    expect((await world.pod('p')).status?.phase).toBe('Failed');
  });

  it('is given to the node, started, and reported ready as a kubelet does', async () => {
    world.use({ app: stays });
    await world.createPod('p', { containers: [container()] });
    const pod = await world.podUntil('p', isReady);
    expect(pod.spec.nodeName).toBe(world.nodeName);
    expect(pod.status).toMatchObject({
      phase: 'Running',
      hostIP: '127.65.0.1',
      podIP: expect.stringMatching(/^10\.244\.0\.\d+$/),
      containerStatuses: [
        { name: 'main', ready: true, started: true, restartCount: 0, state: { running: {} }, lastState: {} },
      ],
    });
    expect(await reasons('p')).toEqual(['Scheduled', 'Pulled', 'Created', 'Started']);
    expect(await world.log('p')).toBe('up\n');
    const { resourceVersion } = pod.metadata;
    await world.pass(600_000);
    expect((await world.pod('p')).metadata.resourceVersion).toBe(resourceVersion);
  });

  it('has its status written only for news: its node, its address, that it runs, that it answers', async () => {
    world.use({ app: stays, fine: async () => 0 });
    const stop = new AbortController();
    const told: string[] = [];
    const watching = (async () => {
      for await (const { object } of world.client.watch(Pods, { namespace, signal: stop.signal })) {
        const { spec, status } = object as Pod;
        const isPlaced = spec.nodeName !== undefined;
        told.push([isPlaced, status?.podIP !== undefined, status?.phase, isReady(object as Pod)].join(' '));
      }
    })();
    const probe = { exec: { command: ['fine'] }, periodSeconds: 1 };
    await world.createPod('p', { containers: [{ ...container(), startupProbe: probe, readinessProbe: probe }] });
    await world.podUntil('p', isReady);
    await world.pass(1_000);
    stop.abort();
    await watching.catch(() => {});
    expect(told).toEqual([
      'false false Pending false',
      'true false Pending false',
      'true true Pending false',
      'true true Running false',
      'true true Running true',
    ]);
  });

  it('stays pending and says why when no node fits', async () => {
    await world.createPod('p', { containers: [container()], nodeSelector: { disk: 'ssd' } });
    const pod = await world.podUntil('p', ({ status }) => (status?.conditions?.length ?? 0) > 0);
    expect(pod.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }]);
  });

  it.each([
    ['FallbackToLogsOnError', 'something is wrong\n'],
    ['File', undefined],
  ])('shows the end of the log of a failed container with the policy %s: %j', async (policy, message) => {
    world.use({ app: fails });
    await world.createPod('p', { containers: [{ ...container(), terminationMessagePolicy: policy }] });
    const pod = await world.podUntil('p', (found) => state(found)?.lastState?.terminated !== undefined);
    expect(state(pod)?.lastState?.terminated?.message).toBe(message);
  });

  it.each([undefined, '/tmp/why'])('shows the termination message of its container: in %s', async (path) => {
    const leaves: SimulatedProgram = async (process) => {
      process.files.write(path ?? '/dev/termination-log', 'all is done');
      return 0;
    };
    world.use({ app: leaves });
    const spec = { ...container(), ...(path !== undefined && { terminationMessagePath: path }) };
    await world.createPod('p', { restartPolicy: 'Never', containers: [spec] });
    const pod = await world.podUntil('p', ({ status }) => status?.phase === 'Succeeded');
    expect(state(pod)?.state?.terminated?.message).toBe('all is done');
  });

  it('has the Services of its namespace in its environment, unless it wants none', async () => {
    const seen: Record<string, string>[] = [];
    const looks: SimulatedProgram = async (process) => {
      seen.push({ ...process.env });
      return 0;
    };
    world.use({ app: looks });
    const service = await world.client.create(
      Services,
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'side', namespace: 'default' },
        spec: { ports: [{ port: 80 }] },
      },
      by,
    );
    for (const enableServiceLinks of [true, false]) {
      const name = `links-${enableServiceLinks}`;
      await world.createPod(name, { restartPolicy: 'Never', enableServiceLinks, containers: [container()] });
      await world.podUntil(name, ({ status }) => status?.phase === 'Succeeded');
    }
    const [linked, lone] = seen;
    expect(linked).toMatchObject({ SIDE_SERVICE_HOST: service.spec.clusterIP, SIDE_PORT_80_TCP_PORT: '80' });
    expect(lone).not.toHaveProperty('SIDE_SERVICE_HOST');
    await world.client.delete(Services, { namespace: 'default', name: 'side' });
  });

  it('restarts a failed container at once, then with growing pauses', async () => {
    world.use({ app: fails });
    await world.createPod('p', { containers: [container()] });
    const begun = world.clock.now();
    const waits: number[] = [];
    for (const count of [1, 2, 3, 4]) {
      await world.podUntil('p', (pod) => state(pod)?.restartCount === count, 900_000);
      waits.push(Math.round((world.clock.now() - begun) / 1000));
    }
    expect(waits).toEqual([0, 10, 30, 71]);
    const pod = await world.podUntil('p', (found) => state(found)?.state?.waiting?.reason === 'CrashLoopBackOff');
    expect(state(pod)).toMatchObject({
      ready: false,
      state: {
        waiting: { message: expect.stringMatching(/^back-off 1m20s restarting failed container=main pod=p_default/) },
      },
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
    });
    expect(pod.status?.phase).toBe('Running');
    expect(await reasons('p')).toContain('BackOff');
    expect(await world.log('p')).toBe('something is wrong\n');
  });

  it.each([
    ['Never', succeeds, 'Succeeded', 'PodCompleted'],
    ['Never', fails, 'Failed', 'PodFailed'],
    ['OnFailure', succeeds, 'Succeeded', 'PodCompleted'],
  ])('with restart policy %s ends as %o', async (restartPolicy, program, phase, reason) => {
    world.use({ app: program as SimulatedProgram });
    await world.createPod('p', { restartPolicy, containers: [container()] });
    const pod = await world.podUntil('p', ({ status }) => status?.phase === phase);
    expect(pod.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False', reason });
    await world.pass(3_600_000);
    expect(state(await world.pod('p'))?.restartCount).toBe(0);
    await world.client.delete(Pods, { namespace, name: 'p' });
    await world.until(async () => (await world.find(Pods, 'p')) === undefined);
  });

  it('runs init containers one after the other, and sidecars along with what follows them', async () => {
    const order: string[] = [];
    const noted =
      (name: string, program: SimulatedProgram): SimulatedProgram =>
      async (process) => {
        order.push(`${name} begins`);
        const code = await program(process);
        order.push(`${name} ends`);
        return code;
      };
    world.use({
      first: noted('first', succeeds),
      proxy: noted('proxy', stays),
      second: noted('second', succeeds),
      app: noted('app', succeeds),
    });
    await world.createPod('p', {
      restartPolicy: 'Never',
      initContainers: [
        { name: 'first', image: 'first:1' },
        { name: 'proxy', image: 'proxy:1', restartPolicy: 'Always' },
        { name: 'second', image: 'second:1' },
      ],
      containers: [container()],
    });
    const early = await world.podUntil('p', (pod) => state(pod, 'first')?.state?.running !== undefined);
    expect(state(early)?.state).toEqual({ waiting: { reason: 'PodInitializing' } });
    expect(early.status?.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
      status: 'False',
      message: 'containers with incomplete status: [first proxy second]',
    });
    await world.podUntil('p', ({ status }) => status?.phase === 'Succeeded');
    expect(order).toEqual([
      'first begins',
      'first ends',
      'proxy begins',
      'second begins',
      'second ends',
      'app begins',
      'app ends',
      'proxy ends',
    ]);
  });

  it('gets its environment from all sources, and its command line expanded', async () => {
    world.use({ app: reports });
    const meta = (name: string) => ({ name, namespace });
    await world.client.create(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('m'), data: { color: 'blue', SIZE: '3' } },
      by,
    );
    await world.client.create(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata: meta('s'), stringData: { key: 'hidden' } },
      by,
    );
    await world.createPod(
      'p',
      {
        containers: [
          container({
            command: ['app'],
            args: ['--name=$(ME)', '--none=$(NOBODY)', '--dollar=$$(ME)'],
            envFrom: [{ prefix: 'MAP_', configMapRef: { name: 'm' } }],
            env: [
              { name: 'ME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              { name: 'LABEL', valueFrom: { fieldRef: { fieldPath: "metadata.labels['tier']" } } },
              { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
              { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
              { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'm', key: 'color' } } },
              { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'key' } } },
              { name: 'MAYBE', valueFrom: { secretKeyRef: { name: 'absent', key: 'key', optional: true } } },
              { name: 'BOTH', value: '$(ME)-$(COLOR)' },
            ],
            resources: { limits: { cpu: '250m' } },
          }),
        ],
      },
      { labels: { tier: 'front' } },
    );
    await world.podUntil('p', isReady);
    const { argv, env } = JSON.parse((await world.log('p')).split('\n')[0]!);
    expect(argv).toEqual(['app', '--name=p', '--none=$(NOBODY)', '--dollar=$(ME)']);
    expect(env).toMatchObject({
      MAP_color: 'blue',
      MAP_SIZE: '3',
      ME: 'p',
      LABEL: 'front',
      IP: expect.stringMatching(/^10\.244\.0\.\d+$/),
      CPU: '250',
      COLOR: 'blue',
      KEY: 'hidden',
      BOTH: 'p-blue',
      HOSTNAME: 'p',
    });
    expect(env).not.toHaveProperty('MAYBE');
  });

  it('waits for a missing key, names it, and starts when it comes', async () => {
    world.use({ app: stays });
    const metadata = { name: 'm', namespace };
    await world.client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: {} }, by);
    await world.createPod('p', {
      containers: [container({ env: [{ name: 'X', valueFrom: { configMapKeyRef: { name: 'm', key: 'x' } } }] })],
    });
    const pod = await world.podUntil('p', (found) => state(found)?.state?.waiting?.message !== undefined);
    expect(state(pod)?.state?.waiting).toEqual({
      reason: 'CreateContainerConfigError',
      message: "couldn't find key x in ConfigMap default/m",
    });
    await world.client.patch(ConfigMaps, metadata, 'merge', { data: { x: '1' } }, by);
    await world.podUntil('p', isReady, 1_000);
  });

  it('waits for a Secret it mounts and sees later changes without a restart', async () => {
    const seen: string[] = [];
    const rereads: SimulatedProgram = async ({ files, pass }) => {
      for (;;) {
        const text = files.read('/etc/keys/tls.crt') ?? '-';
        if (seen.at(-1) !== text) seen.push(text);
        await pass(1_000);
      }
    };
    world.use({ app: rereads });
    await world.createPod('p', {
      volumes: [{ name: 'keys', secret: { secretName: 's' } }],
      containers: [container({ volumeMounts: [{ name: 'keys', mountPath: '/etc/keys' }] })],
    });
    await world.until(async () => (await reasons('p')).includes('FailedMount'));
    expect((await world.events('p')).find(({ reason }) => reason === 'FailedMount')?.message).toBe(
      'MountVolume.SetUp failed for volume "keys" : secret "s" not found',
    );
    expect(state(await world.pod('p'))?.state?.waiting?.reason).toBe('ContainerCreating');
    const metadata = { name: 's', namespace };
    await world.client.create(
      Secrets,
      { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { 'tls.crt': 'one' } },
      by,
    );
    await world.podUntil('p', isReady, 1_000);
    await world.client.patch(Secrets, metadata, 'merge', { stringData: { 'tls.crt': 'two' } }, by);
    await world.pass(2_000);
    expect(seen).toEqual(['one', 'two']);
    expect(state(await world.pod('p'))?.restartCount).toBe(0);
  });

  it('sees projected volumes, items, sub paths and the downward API as files', async () => {
    world.use({ app: reports });
    const metadata = { name: 'm', namespace };
    await world.client.create(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'a.yaml': 'A', 'b.yaml': 'B' } },
      by,
    );
    await world.createPod(
      'p',
      {
        volumes: [
          {
            name: 'all',
            projected: {
              sources: [
                { configMap: { name: 'm', items: [{ key: 'a.yaml', path: 'sub/a' }] } },
                { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
              ],
            },
          },
          { name: 'one', configMap: { name: 'm' } },
        ],
        containers: [
          container({
            volumeMounts: [
              { name: 'all', mountPath: '/etc/all' },
              { name: 'one', mountPath: '/etc/b.yaml', subPath: 'b.yaml' },
            ],
          }),
        ],
      },
      { labels: { x: '1' } },
    );
    await world.podUntil('p', isReady);
    expect((await world.log('p')).trim().split('\n').slice(1)).toEqual([
      '/etc/all/labels=x="1"',
      '/etc/all/sub/a=A',
      '/etc/b.yaml=B',
    ]);
  });

  it.each([
    ['UPPER/case:1', 'InvalidImageName', /invalid reference format/],
    ['registry.invalid/x:1', 'ErrImagePull', /no such host/],
    ['registry.k8s.io/kube-apiserver:v9.9.9', 'ErrImagePull', /not found/],
  ])('with image %s waits with %s', async (image, reason, message) => {
    await world.createPod('p', { containers: [container({ image })] });
    const pod = await world.podUntil('p', (found) => state(found)?.state?.waiting?.reason === reason);
    expect(state(pod)?.state?.waiting?.message).toMatch(message);
    if (reason === 'ErrImagePull') {
      await world.podUntil('p', (found) => state(found)?.state?.waiting?.reason === 'ImagePullBackOff');
    }
    expect((await world.pod('p')).status?.phase).toBe('Pending');
  });

  it('is ended gracefully when deleted, and killed when it takes too long', async () => {
    const stubborn: SimulatedProgram = () => new Promise(() => {});
    world.use({ app: stubborn });
    await world.createPod('p', { terminationGracePeriodSeconds: 20, containers: [container()] });
    await world.podUntil('p', isReady);
    await world.client.delete(Pods, { namespace, name: 'p' });
    await world.pass(19_000);
    expect((await world.pod('p')).metadata.deletionTimestamp).toBeDefined();
    await world.pass(1_000);
    await world.until(async () => (await world.find(Pods, 'p')) === undefined, 1_000);
    expect(await reasons('p')).toContain('Killing');
  });

  it('shows the tail of its logs and those of its former run', async () => {
    let runs = 0;
    const counts: SimulatedProgram = async ({ log, signal }) => {
      runs++;
      for (const line of [1, 2, 3]) log(`run ${runs} line ${line}`);
      if (runs === 1) return 1;
      await untilStopped(signal);
      return 0;
    };
    world.use({ app: counts });
    await world.createPod('p', { containers: [container()] });
    await world.podUntil('p', (pod) => isReady(pod) && state(pod)?.restartCount === 1);
    expect(await world.log('p', { tailLines: 1 })).toBe('run 2 line 3\n');
    expect(await world.log('p', { previous: true, tailLines: 2 })).toBe('run 1 line 2\nrun 1 line 3\n');
  });

  it('runs again with one more restart after the host was restarted', async () => {
    world.use({ app: stays, prepares: succeeds });
    await world.createPod('p', { initContainers: [{ name: 'i', image: 'prepares:1' }], containers: [container()] });
    const before = await world.podUntil('p', isReady);
    await world.restart();
    const after = await world.podUntil('p', (pod) => isReady(pod) && state(pod)?.restartCount === 1);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(after.status?.podIP).toBe(before.status?.podIP);
    expect(state(after)?.lastState).toMatchObject({ terminated: { exitCode: 255, reason: 'Unknown' } });
    expect(state(after, 'i')).toMatchObject({ restartCount: 1, state: { terminated: { exitCode: 0 } } });
  });

  it('is lost with its host when it must not be restarted', async () => {
    world.use({ app: stays });
    await world.createPod('p', { restartPolicy: 'Never', containers: [container()] });
    await world.podUntil('p', isReady);
    await world.restart();
    const pod = await world.podUntil('p', ({ status }) => status?.phase === 'Failed');
    expect(state(pod)?.state?.terminated).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
  });

  it('is replaced by another of its name only when nothing of it is left', async () => {
    let running = 0;
    let most = 0;
    const counted: SimulatedProgram = async ({ signal }) => {
      most = Math.max(most, ++running);
      await untilStopped(signal);
      running--;
      return 0;
    };
    world.use({ app: counted });
    await world.createPod('p', { containers: [container()] });
    const first = await world.podUntil('p', isReady);
    await world.client.delete(Pods, { namespace, name: 'p' }, { gracePeriodSeconds: 0 });
    await world.createPod('p', { containers: [container()] });
    const second = await world.podUntil('p', isReady);
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect([running, most]).toEqual([1, 1]);
  });
});
