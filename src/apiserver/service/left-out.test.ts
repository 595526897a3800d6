import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startTestServer, type TestServer } from '../testing/index.ts';

const path = '/apis/controlplane.cluster.x-k8s.io/v1beta2/namespaces/default/kubeadmcontrolplanes';
const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackMachineTemplate', name: 'cp' };

describe('a replacement of one of our kinds', () => {
  let server: TestServer;
  let api: Api;
  beforeAll(async () => {
    server = await startTestServer({ ownKinds: true });
    api = server.api();
  });
  afterAll(() => server?.stop());

  it('keeps the replica count when the replacement leaves it out', async () => {
    const object = (resourceVersion?: string, replicas?: number) => ({
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmControlPlane',
      metadata: { name: 'cp', namespace: 'default', ...(resourceVersion !== undefined && { resourceVersion }) },
      spec: {
        version: 'v1.33.6',
        machineTemplate: { spec: { infrastructureRef } },
        ...(replicas !== undefined && { replicas }),
      },
    });
    const made = await api.post(path, object(undefined, 3));
    expect(made.status).toBe(201);
    const { resourceVersion } = made.body['metadata'] as { resourceVersion: string };
    const replaced = await api.put(`${path}/cp`, object(resourceVersion));
    expect(replaced.body).toMatchObject({ spec: { replicas: 3 } });
  });
});
