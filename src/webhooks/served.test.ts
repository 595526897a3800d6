import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  CustomResourceDefinitions,
  MutatingWebhookConfigurations,
  Namespaces,
  ownDefinitions,
  Secrets,
  ValidatingWebhookConfigurations,
} from '../api/index.ts';
import { type Api, mergePatch, startTestServer, type TestServer } from '../apiserver/testing/index.ts';
import { asTyped, ManualClock, systemClock, systemRandom, type UnstructuredObject } from '../machinery/index.ts';
import { nullLogger } from '../runtime/index.ts';
import { type CertificateKeeper, startCertificateKeeper } from './certificate-keeper.ts';
import { trustBundle } from './certificates.ts';
import { customResourceDefinitionFor, mutatingConfiguration, validatingConfiguration } from './configurations.ts';
import { ReviewedKinds } from './reviewed-kinds.ts';
import { startWebhookServer, type WebhookServer } from './server.ts';

// Tests the kinds as CustomResourceDefinitions, with the webhooks over real sockets.

const definitions = ownDefinitions.filter(({ kind }) => ['KubeadmControlPlane', 'Cluster'].includes(kind));
const group = '/apis/controlplane.cluster.x-k8s.io';
const by = { fieldManager: 'test', force: true };
const secret = { namespace: 'capstan-system', name: 'certificates' };
const never = new AbortController().signal;

const controlPlane = (name: string, spec: object = {}): UnstructuredObject => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmControlPlane',
  metadata: { name, namespace: 'default' },
  spec: {
    version: '1.33.6',
    machineTemplate: {
      spec: {
        infrastructureRef: {
          apiGroup: 'infrastructure.cluster.x-k8s.io',
          kind: 'OpenStackMachineTemplate',
          name: 'cp',
        },
      },
    },
    ...spec,
  },
});

describe('kinds with webhooks', () => {
  let server: TestServer;
  let api: Api;
  let keeper: CertificateKeeper;
  let webhooks: WebhookServer;
  const clock = new ManualClock(systemClock.now());

  const keep = (): Promise<CertificateKeeper> =>
    startCertificateKeeper(
      {
        client: server.local,
        clock,
        random: systemRandom,
        log: nullLogger,
        secret,
        hosts: ['127.0.0.1'],
        definitions,
        isOurs: () => true,
      },
      never,
    );
  const install = async (bundle?: string): Promise<void> => {
    const options = {
      endpoint: { url: `https://127.0.0.1:${webhooks.port}` },
      ...(bundle !== undefined && { bundle }),
    };
    for (const definition of definitions) {
      await server.local.apply(CustomResourceDefinitions, customResourceDefinitionFor(definition, options), by);
    }
    const all = { ...options, definitions };
    await server.local.apply(MutatingWebhookConfigurations, mutatingConfiguration(all), by);
    await server.local.apply(ValidatingWebhookConfigurations, validatingConfiguration(all), by);
  };
  const planes = (version: string): string => `${group}/${version}/namespaces/default/kubeadmcontrolplanes`;

  beforeAll(async () => {
    server = await startTestServer();
    api = server.api();
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: secret.namespace } };
    await server.local.create(Namespaces, namespace, by);
    keeper = await keep();
    webhooks = await startWebhookServer({
      host: '127.0.0.1',
      port: 0,
      clock: systemClock,
      random: systemRandom,
      log: nullLogger,
      kinds: new ReviewedKinds(definitions),
      certificate: keeper.current.serving,
      readLive: async (_definition, { name }) => asTyped((await api.get(`${planes('v1beta2')}/${name}`)).body),
    });
    await install();
  });
  afterAll(async () => {
    await webhooks?.close(1000);
    await server?.stop();
  });

  it('are not trusted before their authority is published, which happens once', async () => {
    const before = await api.post(planes('v1beta2'), controlPlane('early'));
    expect(before.status).toBe(500);
    await keeper.publish(never);
    expect(keeper.isPublished).toBe(true);
    const configuration = await server.local.get(MutatingWebhookConfigurations, { name: 'capstan-webhooks' });
    await keeper.publish(never);
    const again = await server.local.get(MutatingWebhookConfigurations, { name: 'capstan-webhooks' });
    expect(again.metadata.resourceVersion).toBe(configuration.metadata.resourceVersion);
  });

  it('are read again only when somebody changed them', async () => {
    const [{ plural }] = definitions as [(typeof definitions)[number]];
    const name = `${plural}.${definitions[0]?.group}`;
    const reads = vi.spyOn(server.local, 'get');
    const readDefinitions = (): string[] =>
      reads.mock.calls.flatMap(([resource, key]) => (resource === CustomResourceDefinitions ? [key.name] : []));
    try {
      await keeper.publish(never);
      reads.mockClear();
      await keeper.publish(never);
      expect(readDefinitions()).toEqual([]);
      const lost = { spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } } };
      await server.local.patch(CustomResourceDefinitions, { name }, 'merge', lost, { fieldManager: 'test' });
      await keeper.publish(never);
      expect(readDefinitions()).toEqual([name]);
    } finally {
      reads.mockRestore();
    }
    expect((await server.local.get(CustomResourceDefinitions, { name })).spec.conversion).toMatchObject({
      webhook: { clientConfig: { caBundle: Buffer.from(trustBundle(keeper.current)).toString('base64') } },
    });
  });

  it('get defaults, warnings and refusals with an explanation', async () => {
    const made = await api.post(planes('v1beta2'), controlPlane('cp', { replicas: 3 }));
    expect(made.body).toMatchObject({ spec: { version: 'v1.33.6', rollout: { strategy: { type: 'RollingUpdate' } } } });
    const even = await api.patch(`${planes('v1beta2')}/cp`, mergePatch, { spec: { replicas: 2 } });
    expect(even.status).toBe(422);
    expect(even.body['message']).toBe(
      'admission webhook "validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io" denied the request: KubeadmControlPlane.controlplane.cluster.x-k8s.io "cp" is invalid: spec.replicas: Forbidden: cannot be an even number when etcd is stacked',
    );
    expect(even.body).toMatchObject({ details: { causes: [{ field: 'spec.replicas' }] } });
  });

  it('are scaled by the rules of the object', async () => {
    const path = `${planes('v1beta2')}/cp/scale`;
    expect((await api.patch(path, mergePatch, { spec: { replicas: 4 } })).status).toBe(422);
    expect((await api.patch(path, mergePatch, { spec: { replicas: 5 } })).body).toMatchObject({
      spec: { replicas: 5 },
    });
  });

  it('are read and written in old versions without loss', async () => {
    const before = (await api.get(`${planes('v1beta2')}/cp`)).body;
    const old = await api.get(`${planes('v1beta1')}/cp`);
    expect(old.body).toMatchObject({ spec: { rolloutStrategy: { type: 'RollingUpdate' } } });
    await api.patch(`${planes('v1beta1')}/cp`, mergePatch, { metadata: { labels: { touched: 'yes' } } });
    const after = (await api.get(`${planes('v1beta2')}/cp`)).body;
    expect(after['spec']).toEqual(before['spec']);
    expect(after).toMatchObject({ metadata: { labels: { touched: 'yes' } } });
  });

  it('keep the authority when their manifests are applied again', async () => {
    await install();
    expect((await api.get(`${planes('v1beta1')}/cp`)).status).toBe(200);
    expect((await api.post(planes('v1beta2'), controlPlane('again'))).status).toBe(201);
  });

  it('have one authority for all replicas, whoever was first', async () => {
    const others = await Promise.all([keep(), keep(), keep()]);
    for (const other of others) expect(trustBundle(other.current)).toBe(trustBundle(keeper.current));
  });

  it('are served again after the Secret was lost or everything expired while stopped', async () => {
    const replace = async (): Promise<void> => {
      keeper = await keep();
      await keeper.publish(never);
      webhooks.setCertificate(keeper.current.serving);
      expect((await api.get(`${planes('v1beta1')}/cp`)).status).toBe(200);
    };
    await server.local.delete(Secrets, secret);
    await replace();
    const found = await server.local.get(Secrets, secret);
    await server.local.update(Secrets, { ...found, data: { ...found.data, 'tls.crt': 'bm90aGluZw==' } }, by);
    await replace();
  });

  it.each([
    ['a body that is no JSON', '/mutate', 'x', 400],
    ['a review of another kind', '/validate', '{"kind":"ConversionReview","apiVersion":"v1"}', 400],
    ['an unknown path', '/other', '{}', 404],
    ['a body that never ends', '/mutate', ' '.repeat(9 * 1024 * 1024), 413],
  ])('answer %s with the matching code', async (_what, path, body, code) => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = httpsRequest(
        { host: '127.0.0.1', port: webhooks.port, path, method: 'POST', ca: trustBundle(keeper.current) },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      asked.on('error', (error: NodeJS.ErrnoException) => {
        // The server may answer before it has read the whole body.
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error);
      });
      asked.end(body);
    });
    expect(status).toBe(code);
  });
});
