import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdmissionRule, RequestMatch } from '../admission/matching.ts';
import { type Answer, type Api, startTestServer, type TestServer } from '../testing/index.ts';
import { isProviderWebhook } from './provider-webhooks.ts';

const clusters = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters';
const configMaps = '/api/v1/namespaces/default/configmaps';

const cluster = (name: string): object => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name },
  spec: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackCluster', name: 'c' } },
});

describe('a webhook of a provider whose manager is not running', () => {
  let server: TestServer;
  let api: Api;

  beforeAll(async () => {
    server = await startTestServer({ ownKinds: true });
    api = server.api();
  });
  afterAll(() => server?.stop());

  /** Sends a write with one registered webhook whose Service does not exist. */
  async function postWith(
    webhook: { name: string; rules: [group: string, resource: string][] },
    path: string,
    object: object,
  ): Promise<Answer> {
    const collection = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    await api.create(collection, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: {
        name: 'capi',
        labels: { 'cluster.x-k8s.io/provider': 'cluster-api', 'clusterctl.cluster.x-k8s.io': '' },
      },
      webhooks: [
        {
          name: webhook.name,
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          clientConfig: { service: { namespace: 'capi-system', name: 'capi-webhook-service', path: '/validate' } },
          rules: webhook.rules.map(([group, resource]) => ({
            apiGroups: [group],
            resources: [resource],
            apiVersions: ['*'],
            operations: ['CREATE'],
          })),
        },
      ],
    } as never);
    const answer = await api.post(path, object);
    await api.delete(`${collection}/capi`);
    return answer;
  }

  it('is skipped with a warning for kinds that are validated here anyway', async () => {
    const provider = { name: 'validation.cluster.cluster.x-k8s.io' };
    const answer = await postWith({ ...provider, rules: [['cluster.x-k8s.io', 'clusters']] }, clusters, cluster('c'));
    expect(answer.status).toBe(201);
    expect(answer.warnings.join()).toMatch(/validation.cluster.cluster.x-k8s.io.+was not called/);
  });

  it.each<[string, [string, string][]]>([
    ['policy.example.com', [['cluster.x-k8s.io', 'clusters']]],
    ['clusters.policy.cluster.x-k8s.io', [['cluster.x-k8s.io', 'clusters']]],
    ['validation.machine.cluster.x-k8s.io', [['cluster.x-k8s.io', 'clusters']]],
    ['validation.cluster.cluster.x-k8s.io.example.com', [['cluster.x-k8s.io', 'clusters']]],
    ['validation.cluster.cluster.x-k8s.io', [['*', 'clusters']]],
    ['validation.cluster.cluster.x-k8s.io', [['cluster.x-k8s.io', '*']]],
    [
      'validation.cluster.cluster.x-k8s.io',
      [
        ['cluster.x-k8s.io', 'clusters'],
        ['', 'secrets'],
      ],
    ],
    ['vcluster.kb.io', [['cluster.x-k8s.io', 'clusters']]],
  ])('is called nevertheless when it is not a known one: %s for %j', async (name, rules) => {
    const answer = await postWith({ name, rules }, clusters, cluster('policed'));
    expect(answer.status).toBe(500);
    expect(answer.body['message']).toContain('service "capi-webhook-service" not found');
    expect((await api.get(`${clusters}/policed`)).status).toBe(404);
  });

  it('fails writes of every other kind according to its failure policy', async () => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } };
    const provider = { name: 'validation.cluster.cluster.x-k8s.io' };
    const answer = await postWith({ ...provider, rules: [['', 'configmaps']] }, configMaps, object);
    expect(answer.status).toBe(500);
    expect(answer.body['message']).toContain('service "capi-webhook-service" not found');
  });
});

describe('the webhooks of providers', () => {
  const rule = (group: string, resource: string): AdmissionRule => ({
    apiGroups: [group],
    resources: [resource],
    apiVersions: ['*'],
    operations: ['*'],
    scope: '*',
    resourceNames: [],
  });
  const capi = 'cluster.x-k8s.io';

  it.each([
    ['default.cluster.cluster.x-k8s.io', capi, 'cluster'],
    ['validation.machinedeployment.cluster.x-k8s.io', capi, 'machinedeployment'],
    ['validation.clusterresourceset.addons.cluster.x-k8s.io', `addons.${capi}`, 'clusterresourceset'],
    ['default.kubeadmconfig.bootstrap.cluster.x-k8s.io', `bootstrap.${capi}`, 'kubeadmconfig'],
    ['validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io', `controlplane.${capi}`, 'kubeadmcontrolplane'],
    [
      'validation-scale.kubeadmcontrolplane.controlplane.cluster.x-k8s.io',
      `controlplane.${capi}`,
      'kubeadmcontrolplane',
    ],
    ['validation.openstackcluster.infrastructure.cluster.x-k8s.io', `infrastructure.${capi}`, 'openstackcluster'],
    ['mutate-k0smotron-cluster-v1beta1.k0smotron.io', 'k0smotron.io', 'cluster'],
    ['validate-k0scontrolplane-v1beta1.k0smotron.io', `controlplane.${capi}`, 'k0scontrolplane'],
    ['mutate-k0sworkerconfig-v1beta1.k0smotron.io', `bootstrap.${capi}`, 'k0sworkerconfig'],
    ['mtenantcontrolplane.kb.io', 'kamaji.clastix.io', 'tenantcontrolplane'],
    ['vdatastore.kb.io', 'kamaji.clastix.io', 'datastore'],
    ['vhostedcontrolplane-v1alpha1.kb.io', `controlplane.${capi}`, 'hostedcontrolplane'],
    ['validation.clusterstack.clusterstack.x-k8s.io', 'clusterstack.x-k8s.io', 'clusterstack'],
    ['validation.clusterstackrelease.clusterstack.x-k8s.io', 'clusterstack.x-k8s.io', 'clusterstackrelease'],
  ])('are recognized: %s', (name, group, singular) => {
    const match = {
      rules: [rule(group, `${singular}s`), rule(group, `${singular}s/scale`)],
    } as Partial<RequestMatch> as RequestMatch;
    expect(isProviderWebhook({ name, match }, { group, singular, plural: `${singular}s` })).toBe(true);
  });
});
