import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asTyped, type KubeObject } from '../../machinery/index.ts';
import { type Answer, startTestServer, type TestServer } from '../testing/index.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ admissionPlugins: { disable: ['StorageObjectInUseProtection'] } });
});
afterAll(() => server.stop());

const core = (plural: string, namespace = 'default'): string => `/api/v1/namespaces/${namespace}/${plural}`;
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

async function createAccount(name: string, more: object = {}): Promise<void> {
  await server.api().create(core('serviceaccounts'), {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name },
    ...more,
  } as KubeObject);
}

let pods = 0;
function createPod(spec: object, more: { annotations?: object; namespace?: string } = {}): Promise<Answer> {
  const { annotations, namespace = 'default' } = more;
  return server.api().post(core('pods', namespace), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `p${pods++}`, ...(annotations && { annotations }) },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });
}

interface PodSpec {
  serviceAccount?: string;
  serviceAccountName?: string;
  imagePullSecrets?: object[];
  volumes?: { name: string }[];
  containers: { volumeMounts?: { name: string; mountPath: string }[] }[];
}

async function admitted(...args: Parameters<typeof createPod>): Promise<PodSpec> {
  const answer = await createPod(...args);
  expect(answer.status, answer.text).toBe(201);
  return asTyped<PodSpec>(answer.body['spec']!);
}

describe('the service account of a pod', () => {
  beforeAll(async () => {
    await createAccount('default');
    await createAccount('puller', { imagePullSecrets: [{ name: 'pull' }], automountServiceAccountToken: false });
    await createAccount('strict', {
      metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'mine' }],
    });
  });

  it('is the default account, with its token mounted into every container', async () => {
    const spec = await admitted({
      initContainers: [{ name: 'i', image: 'i' }],
      containers: [
        { name: 'a', image: 'i' },
        { name: 'b', image: 'i', volumeMounts: [{ name: 'own', mountPath }] },
      ],
      volumes: [{ name: 'own', emptyDir: {} }],
    });
    expect(spec).toMatchObject({ serviceAccount: 'default', serviceAccountName: 'default' });
    const { name } = spec.volumes![1]!;
    expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
    expect(spec.volumes![1]).toEqual({
      name,
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
      },
    });
    expect(spec.containers[0]!.volumeMounts).toEqual([{ name, readOnly: true, mountPath }]);
    expect(spec.containers[1]!.volumeMounts).toEqual([{ name: 'own', mountPath }]);
  });

  it.each([
    ['the pod', { automountServiceAccountToken: false }],
    ['the account', { serviceAccountName: 'puller' }],
  ])('mounts no token when %s does not want it', async (_who, spec) => {
    expect((await admitted(spec)).volumes).toBeUndefined();
  });

  it('mounts the token when the pod asks for it although the account does not', async () => {
    const spec = await admitted({ serviceAccountName: 'puller', automountServiceAccountToken: true });
    expect(spec.volumes).toHaveLength(1);
  });

  it('uses a token volume that the pod brings itself', async () => {
    const spec = await admitted({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] });
    expect(spec.volumes).toEqual([{ name: 'kube-api-access-mine', emptyDir: {} }]);
    expect(spec.containers[0]!.volumeMounts).toMatchObject([{ name: 'kube-api-access-mine' }]);
  });

  it('adds its pull secrets to pods that name none', async () => {
    expect(await admitted({ serviceAccountName: 'puller' })).toMatchObject({ imagePullSecrets: [{ name: 'pull' }] });
    const own = { serviceAccountName: 'puller', imagePullSecrets: [{ name: 'own' }] };
    expect(await admitted(own)).toMatchObject({ imagePullSecrets: [{ name: 'own' }] });
  });

  const secretVolume = { volumes: [{ name: 's', secret: { secretName: 'x' } }] };
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
  const secretEnv = { env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }] };
  const unreferenced = 'is not allowed because service account strict does not reference that';

  it.each<[Record<string, unknown>, Parameters<typeof createPod>[1], string]>([
    [
      { serviceAccountName: 'none' },
      {},
      'error looking up service account default/none: serviceaccount "none" not found',
    ],
    [{ serviceAccountName: 'strict', ...secretVolume }, {}, `volume with secret.secretName="x" ${unreferenced} secret`],
    [
      { serviceAccountName: 'strict', containers: [{ name: 'c', image: 'i', ...secretEnv }] },
      {},
      `container c with envVar E referencing secret.secretName="x" ${unreferenced} secret`,
    ],
    [
      {
        serviceAccountName: 'strict',
        initContainers: [{ name: 'n', image: 'i', envFrom: [{ secretRef: { name: 'x' } }] }],
      },
      {},
      `init container n with envFrom referencing secret.secretName="x" ${unreferenced} secret`,
    ],
    [
      { serviceAccountName: 'strict', imagePullSecrets: [{ name: 'x' }] },
      {},
      `imagePullSecrets[0].name="x" ${unreferenced} imagePullSecret`,
    ],
    [{ serviceAccountName: 'default', nodeName: 'n' }, mirror, 'a mirror pod may not reference service accounts'],
    [{ ...secretVolume, nodeName: 'n' }, mirror, 'a mirror pod may not reference secrets'],
    [
      { nodeName: 'n', volumes: [{ name: 't', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      mirror,
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('refuses a pod with %j', async (spec, more, message) => {
    const answer = await createPod(spec, more);
    expect(answer.status).toBe(403);
    expect(answer.body['message']).toMatch(/^pods "p\d+" is forbidden: /);
    expect(answer.body['message']).toContain(message);
  });

  it('allows a pod to use the secrets that a strict account references', async () => {
    await admitted({ serviceAccountName: 'strict', volumes: [{ name: 's', secret: { secretName: 'mine' } }] });
  });

  it('is not set on mirrors of static pods', async () => {
    const spec = await admitted({ nodeName: 'n' }, mirror);
    expect(spec.serviceAccountName).toBeUndefined();
    expect(spec.volumes).toBeUndefined();
  });

  it('is waited for while it is about to be created', async () => {
    const api = server.api();
    await api.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } });
    const pod = createPod({}, { namespace: 'fresh' });
    await api.create(core('serviceaccounts', 'fresh'), {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'default' },
    });
    expect((await pod).status).toBe(201);
  });

  it('is reported as not found with 403 when nobody creates it in time', async () => {
    const api = server.api();
    await api.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bare' } });
    const answer = await createPod({}, { namespace: 'bare' });
    expect(answer.status).toBe(403);
    expect(answer.body['message']).toContain(
      'error looking up service account bare/default: serviceaccount "default" not found',
    );
  });
});
