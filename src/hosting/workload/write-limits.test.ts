import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  builtinDefinitions,
  builtinSchema,
  ConfigMaps,
  Leases,
  Namespaces,
  protobufRegistry,
  ValidatingAdmissionPolicies,
  ValidatingAdmissionPolicyBindings,
} from '../../api/index.ts';
import { controllerBackedPlugins, createApiServer, openObjectStore } from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import { errorMessage, type KubeObject, ManualClock, type Resource, seededRandom } from '../../machinery/index.ts';
import { memoryEngine } from '../../store/index.ts';
import type { WriteLimits } from '../spec.ts';
import { kamajiPlaneSpec } from '../testing/specs.ts';
import { writeLimitObjects } from './write-limits.ts';

const none: WriteLimits = { blocksCreation: false, blocksUpdate: false, blocksDeletion: false };
const objectsOf = (limits: Partial<WriteLimits>, version = 'v1.33.0') =>
  writeLimitObjects(kamajiPlaneSpec({ version, writeLimits: { ...none, ...limits } }));
const by = { fieldManager: 'test' };

describe('limits of writes on a real API server of Capstan', () => {
  let master: Client;
  let user: Client;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const clock = new ManualClock();
    const store = await openObjectStore({ engine: memoryEngine(), clock });
    const server = await createApiServer({
      store,
      clock,
      random: seededRandom(1),
      definitions: builtinDefinitions,
      admissionPlugins: { disable: controllerBackedPlugins },
      metaSchema: builtinSchema,
      protobuf: protobufRegistry,
      access: { mode: 'AlwaysAllow' },
    });
    master = server.localClient();
    user = server.localClient({ name: 'kubernetes-admin', groups: ['kubeadm:cluster-admins', 'system:authenticated'] });
    close = async () => {
      await server.stop(0);
      await store.close();
    };
    for (const name of ['tenant', 'kube-system', 'kube-node-lease']) {
      const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await master.apply(Namespaces, object, { ...by, force: true });
    }
    for (const { object } of objectsOf({ blocksCreation: true, blocksUpdate: true })) {
      const resource: Resource<KubeObject> =
        object.kind === 'ValidatingAdmissionPolicy' ? ValidatingAdmissionPolicies : ValidatingAdmissionPolicyBindings;
      await master.apply(resource, object, { ...by, force: true });
    }
  });
  afterAll(() => close());

  const configMap = (namespace: string, name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name },
  });
  const refusal = (attempt: Promise<unknown>): Promise<string> => attempt.then(() => 'done', errorMessage);
  const forbidden = /refused by spec\.writePermissions of TenantControlPlane /;

  it('block those who use the cluster', async () => {
    expect(await refusal(user.create(ConfigMaps, configMap('tenant', 'a'), by))).toMatch(forbidden);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'another' } };
    expect(await refusal(user.create(Namespaces, namespace, by))).toMatch(forbidden);
  });

  it('spare the operator, system accounts and operations that are not blocked', async () => {
    expect(await refusal(master.create(ConfigMaps, configMap('tenant', 'b'), by))).toBe('done');
    expect(await refusal(user.create(ConfigMaps, configMap('kube-system', 'c'), by))).toBe('done');
    const key = { namespace: 'tenant', name: 'b' };
    expect(await refusal(user.patch(ConfigMaps, key, 'merge', { data: { a: 'b' } }, by))).toMatch(forbidden);
    expect(await refusal(user.delete(ConfigMaps, key))).toBe('done');
  });

  it('keep nodes alive and let no new ones join', async () => {
    const lease = (name: string) => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-node-lease', name },
      spec: { holderIdentity: name },
    });
    await master.create(Leases, lease('old'), by);
    const renewal = { spec: { leaseDurationSeconds: 40 } };
    const key = { namespace: 'kube-node-lease', name: 'old' };
    expect(await refusal(user.patch(Leases, key, 'merge', renewal, by))).toBe('done');
    expect(await refusal(user.create(Leases, lease('new'), by))).toMatch(forbidden);
  });
});

it('lifted write limits are deleted, bindings first, and none are made before admission policies exist', () => {
  expect(objectsOf({}).map(({ mode, object }) => [mode, object.kind, object.metadata.name])).toEqual([
    ['gone', 'ValidatingAdmissionPolicyBinding', 'kamaji-write-permissions'],
    ['gone', 'ValidatingAdmissionPolicy', 'kamaji-write-permissions'],
    ['gone', 'ValidatingAdmissionPolicyBinding', 'kamaji-write-permissions-leases'],
    ['gone', 'ValidatingAdmissionPolicy', 'kamaji-write-permissions-leases'],
  ]);
  expect(objectsOf({ blocksUpdate: true }).map(({ mode }) => mode)).toEqual(['own', 'own', 'gone', 'gone']);
  expect(objectsOf({ blocksCreation: true }, 'v1.29.4')).toEqual([]);
  expect(writeLimitObjects(kamajiPlaneSpec({ version: 'v1.33.0' }))).toEqual([]);
});
