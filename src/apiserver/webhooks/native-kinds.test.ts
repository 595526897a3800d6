import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startTestServer, type TestServer } from '../testing/index.ts';

const clusters = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters';
const configMaps = '/api/v1/namespaces/default/configmaps';

describe('a webhook whose manager nobody runs', () => {
  let server: TestServer;
  let api: Api;

  beforeAll(async () => {
    server = await startTestServer({ ownKinds: true });
    api = server.api();
    const service = { namespace: 'capi-system', name: 'capi-webhook-service', path: '/validate' };
    const rule = (apiGroups: string[], resources: string[]): object => ({
      apiGroups,
      resources,
      apiVersions: ['*'],
      operations: ['CREATE'],
    });
    await api.create('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'capi' },
      webhooks: [
        {
          name: 'validation.cluster.cluster.x-k8s.io',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { service },
          rules: [rule(['cluster.x-k8s.io'], ['clusters']), rule([''], ['configmaps'])],
        },
      ],
    } as never);
  });
  afterAll(() => server?.stop());

  it('does not stand in the way of a kind that is checked here anyway, and the user is told', async () => {
    const answer = await api.post(clusters, {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'c' },
      spec: {
        infrastructureRef: {
          apiGroup: 'infrastructure.cluster.x-k8s.io',
          kind: 'OpenStackCluster',
          name: 'c',
        },
      },
    });
    expect(answer.status).toBe(201);
    expect(answer.warnings.join()).toMatch(/validation.cluster.cluster.x-k8s.io.+was not asked/);
  });

  it('fails the writes of every other kind, as its policy says', async () => {
    const answer = await api.post(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
    expect(answer.status).toBe(500);
    expect(answer.body['message']).toContain('service "capi-webhook-service" not found');
  });
});
