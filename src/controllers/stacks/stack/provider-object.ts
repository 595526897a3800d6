import type { ClusterStack } from '../../../api/index.ts';
import {
  CapstanError,
  ignoreNotFound,
  isJsonObject,
  isNotFound,
  type JsonObject,
  parseApiVersion,
  type Resource,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { shows } from '../../shared/index.ts';
import { stackFieldManager } from '../names.ts';

export interface ProviderObjectReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
}

/** The provider template of a ClusterStack is unusable. */
export class ProviderTemplateError extends CapstanError {
  readonly reason: 'ProviderTemplateNotFound' | 'FailedToCreateOrUpdate';

  constructor(reason: ProviderTemplateError['reason'], message: string) {
    super('CAP_STACK_RELEASE', message);
    this.name = 'ProviderTemplateError';
    this.reason = reason;
  }
}

const suffix = 'Template';

/** Provider kinds follow the regular plural rule. */
export const providerResource = (apiVersion: string, kind: string): Resource<UnstructuredObject> => ({
  ...parseApiVersion(apiVersion),
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced: true,
});

/** Ensures the provider object of a release: the template's content with the labels of the ClusterStack. */
export async function keepProviderObject(
  { client, signal }: ReconcileContext,
  { metadata, spec }: ClusterStack,
  release: string,
): Promise<ProviderObjectReference> {
  const { apiVersion = '', kind = '', name = '', namespace } = spec.providerRef ?? {};
  const own = metadata.namespace ?? '';
  // security: templates of other namespaces are refused
  if (namespace !== undefined && namespace !== '' && namespace !== own) {
    throw new ProviderTemplateError(
      'ProviderTemplateNotFound',
      `spec.providerRef.namespace is ${namespace}; the template has to be in the namespace of the ClusterStack`,
    );
  }
  let template: UnstructuredObject;
  try {
    template = await client.get(providerResource(apiVersion, kind), { namespace: own, name }, { signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new ProviderTemplateError('ProviderTemplateNotFound', `there is no ${kind} ${name} in ${apiVersion}`);
  }
  const inner = isJsonObject(template['spec']) ? template['spec']['template'] : undefined;
  if (!isJsonObject(inner)) {
    throw new ProviderTemplateError('FailedToCreateOrUpdate', `${kind} ${name} has no spec.template`);
  }
  const made = kind.slice(0, -suffix.length);
  const resource = providerResource(apiVersion, made);
  const object: UnstructuredObject = {
    apiVersion,
    kind: made,
    metadata: {
      name: release,
      namespace: own,
      ...(metadata.labels && { labels: metadata.labels }),
    },
    spec: (inner['spec'] as JsonObject | undefined) ?? {},
  };
  const live = await client.get(resource, { namespace: own, name: release }, { signal }).catch(ignoreNotFound);
  if (live === undefined || !shows(live, object)) {
    await client.apply(resource, object, { fieldManager: stackFieldManager, force: true, signal });
  }
  return { apiVersion, kind: made, namespace: own, name: release };
}
