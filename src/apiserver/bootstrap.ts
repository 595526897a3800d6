import {
  clone,
  isAlreadyExists,
  type KubeObject,
  parseApiVersion,
  type UnstructuredObject,
} from '../machinery/index.ts';
import { bootstrapPolicy, loopbackUser } from './auth/index.ts';
import type { ResourceApi } from './service/resource-api.ts';
import type { Caller } from './service/types.ts';
import { objectKey } from './storage/keys.ts';

const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const settings = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' } as const;

/** The objects every Kubernetes has from its first moment. Present ones are left as they are. */
export async function ensureBootstrapObjects(api: ResourceApi, extra: readonly KubeObject[] = []): Promise<void> {
  const caller: Caller = {
    user: loopbackUser,
    userAgent: 'kube-apiserver',
    signal: new AbortController().signal,
    warn: () => {},
  };
  const ensure = async (object: KubeObject): Promise<void> => {
    const { group, version } = parseApiVersion(object.apiVersion);
    const resource = [...api.context.registry.all()].find(
      ({ definition }) => definition.group === group && definition.kind === object.kind,
    );
    const served = resource && api.context.registry.find(group, version, resource.definition.plural);
    if (!served) return;
    const { namespace, name } = object.metadata;
    if (api.context.store.head(objectKey(served.resource.keySpace, namespace, name ?? ''))) return;
    try {
      // A create takes its body over; these objects serve every server of the process.
      const body = { value: clone(object) as UnstructuredObject, duplicateFields: [] };
      await api.create({ ...served, namespace }, body, caller, settings);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };
  await Promise.all(
    systemNamespaces.map((name) => ensure({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  );
  await Promise.all([...bootstrapPolicy(), ...priorityClasses, ...extra].map(ensure));
}

const priorityClasses: KubeObject[] = [
  ['system-cluster-critical', 2_000_000_000, 'For pods the whole cluster depends on.'] as const,
  ['system-node-critical', 2_000_001_000, 'For pods a node cannot work without.'] as const,
].map(([name, value, description]) => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  description,
}));
