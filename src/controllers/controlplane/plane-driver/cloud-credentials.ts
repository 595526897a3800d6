import {
  type IdentityReference,
  infrastructureGroup,
  Namespaces,
  OpenStackClusterIdentities,
  OpenStackClusters,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import { formatKey, type ObjectKey, objectKey } from '../../../client/index.ts';
import type { CloudCredentials } from '../../../hosting/index.ts';
import { deepEqual, ignoreNotFound, type KubeObject, type Resource } from '../../../machinery/index.ts';
import { CloudConfigError, cloudFromText } from '../../../openstack/index.ts';
import { generationChanged, labelsChanged, type Watch, watchMapped } from '../../../runtime/index.ts';
import {
  at,
  type CloudTexts,
  CredentialsError,
  cloudCaKey,
  cloudsYamlKey,
  cloudTexts,
  credentialSecretKey,
  credentialText,
  readSecret,
  valuesChanged,
} from '../../shared/index.ts';
import type { PlaneRequest } from './types.ts';

/** Cloud credentials for components inside the workload clusters of planes. */
export interface PlaneClouds {
  /** credentials of the OpenStack cloud of a plane's workers; undefined for other clouds or if disabled */
  credentialsOf(request: PlaneRequest): Promise<CloudAnswer>;
  /** enqueue planes whose credentials, or the references to them, change */
  readonly watches: readonly Watch[];
  forget(plane: ObjectKey): void;
}

export type CloudAnswer = { readonly credentials?: CloudCredentials } | { readonly problem: string };

export function createPlaneClouds(): PlaneClouds {
  // planes not yet reconciled are missing here, but every plane is reconciled at startup
  const planesBySource = new Map<string, Map<string, ObjectKey>>();
  const sourcesByPlane = new Map<string, readonly string[]>();
  // cached Secrets are immutable, so parsed content is memoized
  const texts = new WeakMap<Secret, Map<string, Promise<CloudTexts>>>();

  const forget = (plane: ObjectKey): void => {
    const id = formatKey(plane);
    for (const source of sourcesByPlane.get(id) ?? []) {
      const planes = planesBySource.get(source);
      planes?.delete(id);
      if (planes?.size === 0) planesBySource.delete(source);
    }
    sourcesByPlane.delete(id);
  };

  const remember = (plane: ObjectKey, sources: readonly string[]): void => {
    const id = formatKey(plane);
    if (deepEqual(sourcesByPlane.get(id), sources)) return;
    forget(plane);
    sourcesByPlane.set(id, sources);
    for (const source of sources) {
      const planes = planesBySource.get(source) ?? new Map<string, ObjectKey>();
      planesBySource.set(source, planes.set(id, plane));
    }
  };
  const usersOf = <T extends KubeObject>(resource: Resource<T>, object: T): ObjectKey[] => [
    ...(planesBySource.get(sourceOf(resource, objectKey(object)))?.values() ?? []),
  ];

  const textsOf = (identity: IdentityReference, key: ObjectKey, secret: Secret | undefined): Promise<CloudTexts> => {
    const known = secret && texts.get(secret);
    const id = JSON.stringify([identity.cloudName, identity.region ?? '']);
    const found = known?.get(id);
    if (found) return found;
    const made = readTexts(identity, key, secret);
    if (secret) texts.set(secret, (known ?? new Map()).set(id, made));
    return made;
  };

  return {
    forget,
    async credentialsOf(request) {
      const { owner, cloudSecrets = [], context } = request;
      const identity = cloudSecrets.length > 0 ? await identityOf(request) : undefined;
      if (!identity) {
        forget(objectKey(owner));
        return {};
      }
      const namespace = owner.metadata.namespace ?? '';
      const get = <T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> =>
        context.client.get(resource, key, { signal: context.signal }).catch(ignoreNotFound);
      const way =
        identity.type === 'ClusterIdentity'
          ? [sourceOf(OpenStackClusterIdentities, { name: identity.name }), sourceOf(Namespaces, { name: namespace })]
          : [];
      try {
        // also if the references lead nowhere yet
        remember(objectKey(owner), way);
        const key = await credentialSecretKey(
          {
            identity: (name) => get(OpenStackClusterIdentities, { name }),
            namespace: (name) => get(Namespaces, { name }),
          },
          identity,
          namespace,
        );
        remember(objectKey(owner), [...way, sourceOf(Secrets, key)]);
        const secret = await readSecret(context, key);
        return { credentials: { secrets: cloudSecrets, ...(await textsOf(identity, key, secret)) } };
      } catch (error) {
        // these errors name the faulty object and the remedy
        if (error instanceof CredentialsError || error instanceof CloudConfigError) return { problem: error.message };
        throw error;
      }
    },
    watches: [
      watchMapped(Secrets, (secret) => usersOf(Secrets, secret), {
        predicates: [valuesChanged([cloudsYamlKey, cloudCaKey])],
      }),
      watchMapped(OpenStackClusterIdentities, (identity) => usersOf(OpenStackClusterIdentities, identity), {
        predicates: [generationChanged],
      }),
      // namespace labels determine which identities may be used there
      watchMapped(Namespaces, (namespace) => usersOf(Namespaces, namespace), { predicates: [labelsChanged] }),
    ],
  };
}

/** Map key of an object that credentials depend on. */
function sourceOf(resource: Resource, key: ObjectKey): string {
  return `${resource.kind} ${formatKey(key)}`;
}

async function readTexts(
  { cloudName, region }: IdentityReference,
  key: ObjectKey,
  secret: Secret | undefined,
): Promise<CloudTexts> {
  const { cloudsYaml, source, ca } = credentialText(key, secret);
  return cloudTexts(await cloudFromText({ text: cloudsYaml, source, cloud: cloudName, region, ca }));
}

/** Returns the identityRef of the OpenStackCluster of a plane; undefined for other infrastructure. */
async function identityOf({ cluster, follower, context }: PlaneRequest): Promise<IdentityReference | undefined> {
  const reference = cluster?.spec.infrastructureRef;
  if (!follower || reference?.kind !== OpenStackClusters.kind || reference.apiGroup !== infrastructureGroup) {
    return undefined;
  }
  const { client, signal } = context;
  const found = await follower.get(reference, cluster?.metadata.namespace ?? '', { client, signal });
  return found && (at(found.object, 'spec', 'identityRef') as IdentityReference | undefined);
}
