import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { openSandbox, type Sandbox } from '../../support/sandbox.ts';

const missing = await missingKubectl();
const suite = missing === undefined ? 'Pods of the embedded API' : `Pods of the embedded API (${missing})`;

const app = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'nginx:1.27',
            ports: [{ containerPort: 80 }],
            readinessProbe: { httpGet: { port: 80 }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};

const database = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'db' },
  spec: {
    serviceName: 'db',
    replicas: 1,
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' } },
      spec: {
        containers: [{ name: 'db', image: 'database:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] }],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  },
};

/** Common kubectl use against the embedded API as an ordinary Kubernetes. */
describe.skipIf(missing !== undefined)(suite, () => {
  let capstan: CapstanProcess;
  let s: Sandbox;
  beforeAll(async () => {
    capstan = await startCapstan({ pods: 'simulated' });
    s = await openSandbox({ name: 'capstan', kubeconfig: capstan.kubeconfig, stop: async () => {} });
  });
  afterAll(async () => {
    await s?.close();
    await capstan?.stop();
  });
  const address = (): Promise<string> => s.ok`get service web -o ${'jsonpath={.status.loadBalancer.ingress[0].ip}'}`;
  const page = async (): Promise<string> => (await fetch(`http://${await address()}:18085/`)).text();

  it('a Deployment rolls out and answers at the address of its load balancer', async () => {
    await s.with(app).ok`apply -f -`;
    await s.ok`expose deployment web --type=LoadBalancer --port=18085 --target-port=80`;
    await s.ok`rollout status deployment web --timeout=60s`;
    await s.ok`wait service web --for=${'jsonpath={.status.loadBalancer.ingress}'} --timeout=30s`;
    await eventually(async () => expect(await page()).toMatch(/^web-\S+: simulated container of image nginx:1.27$/m));
  });

  it('logs are read, followed and refused as in other clusters', async () => {
    expect(await s.ok`logs deployment/web`).toContain('simulated container of image nginx:1.27 started');
    const follow = s.start`logs -f deployment/web`;
    await follow.until((out) => out.includes('started'), 'the first line');
    const [pod = ''] = (await s.ok`get pods -l app=web -o name`).trim().split('\n');
    expect(await s.fails`logs ${pod} --previous`).toMatch(/previous terminated container "web" in pod ".*" not found/);
  });

  it('a Deployment scales, and a new image is rolled out without a gap', async () => {
    await s.ok`scale deployment web --replicas=3`;
    await s.ok`rollout status deployment web --timeout=60s`;
    expect(await s.ok`get deployment web -o ${'jsonpath={.status.readyReplicas}'}`).toBe('3');
    await s.ok`set image deployment/web web=nginx:1.28`;
    await s.ok`rollout status deployment web --timeout=60s`;
    await eventually(async () => expect(await page()).toContain('nginx:1.28'));
  });

  it('commands without a shell end and reach Services by name', async () => {
    const run = (name: string, command: string[]): object => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command }] },
    });
    // Typical tests of charts.
    await s.with(run('test-connection', ['wget', 'web:18085'])).ok`apply -f -`;
    await s.with(run('wrong-port', ['wget', 'web:1'])).ok`apply -f -`;
    await s.with(run('clock', ['date', '+%Y'])).ok`apply -f -`;
    await s.with(run('sum', ['expr', '6', '*', '7'])).ok`apply -f -`;
    for (const name of ['test-connection', 'clock', 'sum']) {
      await s.ok`wait pod ${name} --for=${'jsonpath={.status.phase}=Succeeded'} --timeout=30s`;
    }
    await s.ok`wait pod wrong-port --for=${'jsonpath={.status.phase}=Failed'} --timeout=30s`;
    expect(await s.ok`logs test-connection`).toContain("'index.html' saved");
    expect(await s.ok`logs clock`).toMatch(/^\d{4}\n$/);
    expect(await s.ok`logs sum`).toBe('42\n');
    expect(await s.ok`logs sum --since-time=${'2001-01-01T00:00:00Z'}`).toBe('42\n');
    expect(await s.ok`logs sum --since-time=${'2999-01-01T00:00:00Z'}`).toBe('');
    await s.ok`delete pod test-connection wrong-port clock sum`;
  });

  it('an image that starts a shell ends at once, unless its input is kept open', async () => {
    await s.ok`run ends --image=busybox --restart=Never`;
    await s.ok`run stays --image=busybox --restart=Never --stdin --attach=false`;
    await s.ok`wait pod ends --for=${'jsonpath={.status.phase}=Succeeded'} --timeout=30s`;
    await s.ok`wait pod stays --for=condition=Ready --timeout=30s`;
    await s.ok`delete pod ends stays`;
  });

  it('a port of a Pod is forwarded', async () => {
    const forward = s.start`port-forward deployment/web ${':80'}`;
    await forward.until((out) => /127\.0\.0\.1:\d+/.test(out), 'the local port');
    const local = /127\.0\.0\.1:(\d+)/.exec(forward.stdout())?.[1];
    expect(await (await fetch(`http://127.0.0.1:${local}/`)).text()).toContain('simulated container');
  });

  it('exec runs a command in a container, with its output and its exit code', async () => {
    const shell = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'shell' },
      spec: {
        containers: [{ name: 'shell', image: 'quay.io/k0sproject/k0s:v1.33.4-k0s.0', command: ['sleep', '3600'] }],
      },
    };
    await s.with(shell).ok`apply -f -`;
    await s.ok`wait pod shell --for=condition=Ready --timeout=30s`;
    expect(await s.ok`exec shell -- sh -c ${'echo one; echo two'}`).toBe('one\ntwo\n');
    expect((await s.run`exec shell -- sh -c ${'exit 3'}`).code).toBe(3);
  });

  it.each(['true', 'false'])('exec reads typed input over WebSockets: %s', async (overWebSockets) => {
    const typing = s.with('name=capstan\necho hello $name\nexit 4\n');
    const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: overWebSockets };
    expect(await typing.run`exec -i shell -- sh`).toMatchObject({ code: 4, stdout: 'hello capstan\n' });
    expect(await s.under(env).ok`exec shell -- sh -c ${'echo $HOSTNAME'}`).toBe('shell\n');
  });

  it('cp refuses to copy files and says so', async () => {
    const file = await s.file('copied', 'text');
    expect(await s.fails`cp ${file} shell:/tmp/copied`).toContain('exit code 1');
    expect(await s.fails`exec shell -- tar xf -`).toContain('exit code 1');
    await s.ok`delete pod shell --now`;
  });

  it('attach shows what a container prints', async () => {
    const talker = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'talker' },
      spec: {
        containers: [
          {
            name: 'talker',
            image: 'quay.io/k0sproject/k0s:v1.33.4-k0s.0',
            command: ['sh', '-c', 'for i in $(seq 1 600); do echo tick $i; sleep 1; done'],
          },
        ],
      },
    };
    await s.with(talker).ok`apply -f -`;
    await s.ok`wait pod talker --for=condition=Ready --timeout=30s`;
    const attached = s.start`attach talker`;
    await attached.until((out) => /tick \d+\n/.test(out), 'a line of the container');
    await s.ok`delete pod talker --now`;
  });

  it('a Pod that cannot run says why', async () => {
    await s.ok`run odd --image=registry.invalid/nothing:1`;
    await s.ok`wait pod odd --for=${'jsonpath={.status.containerStatuses[0].state.waiting.reason}=ErrImagePull'} --timeout=20s`;
    expect(await s.ok`describe pod odd`).toContain('no such host');
    await s.ok`delete pod odd`;
  });

  it('a StatefulSet has its volume, and all of it is back after the program was killed', async () => {
    await s.with(database).ok`apply -f -`;
    await s.ok`rollout status statefulset db --timeout=60s`;
    const before = await s.json`pod db-0`;
    const claim = await s.ok`get pvc data-db-0 -o ${'jsonpath={.status.phase} {.spec.volumeName}'}`;
    expect(claim).toMatch(/^Bound pvc-/);
    const balancer = await address();
    const said = await s.ok`logs db-0`;
    capstan = await capstan.restart('SIGKILL');
    await s.ok`wait pod db-0 --for=${'jsonpath={.status.containerStatuses[0].restartCount}=1'} --timeout=30s`;
    await s.ok`wait pod --all --for=condition=Ready --timeout=30s`;
    expect((await s.json`pod db-0`).metadata.uid).toBe(before.metadata.uid);
    expect(await s.ok`get pvc data-db-0 -o ${'jsonpath={.status.phase} {.spec.volumeName}'}`).toBe(claim);
    expect(await address()).toBe(balancer);
    expect(await s.ok`logs db-0 --previous`).toBe(said);
    await eventually(async () => expect(await page()).toContain('nginx:1.28'));
  });

  it('all objects are deleted', async () => {
    await s.ok`delete statefulset/db deployment/web service/web pvc/data-db-0 --timeout=60s`;
    await s.ok`wait pod --all --for=delete --timeout=60s`;
    await eventually(async () => expect(await s.ok`get pv -o name`).toBe(''));
  });
});
