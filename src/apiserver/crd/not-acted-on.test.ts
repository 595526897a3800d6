import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startTestServer, type TestServer } from '../testing/index.ts';

const warning = (text: string): string => `299 - "${text}"`;
describe('a kind that no controller acts on', () => {
  let server: TestServer;
  let api: Api;

  beforeAll(async () => {
    server = await startTestServer({ ownKinds: true });
    api = server.api();
  });
  afterAll(() => server?.stop());

  it('returns the warning text of the annotation on a custom definition', async () => {
    const group = 'things.example.com';
    await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `pools.${group}`, annotations: { 'capstan.dev/write-warning': 'nothing happens' } },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: 'Pool', plural: 'pools' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    const path = `/apis/${group}/v1/namespaces/default/pools`;
    await expect.poll(async () => (await api.get(path)).status).toBe(200);
    const answer = await api.post(path, { apiVersion: `${group}/v1`, kind: 'Pool', metadata: { name: 'a' } });
    expect([answer.status, answer.warnings]).toEqual([201, [warning('nothing happens')]]);
  });
});
