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

/** What opens the clouds of planes, for those who need it inside their workload clusters. */
export interface PlaneClouds {
  /** The credentials of the cloud a plane's workers are in; undefined when that is no OpenStack, or nobody wants them. */
  credentialsOf(request: PlaneRequest): Promise<CloudAnswer>;
  /** wake the planes whose credentials change, or the way to them */
  readonly watches: readonly Watch[];
  forget(plane: ObjectKey): void;
}

export type CloudAnswer = { readonly credentials?: CloudCredentials } | { readonly problem: string };

export function createPlaneClouds(): PlaneClouds {
  // a plane that was never looked at needs no waking: it is looked at when the program starts
  const planesBySource = new Map<string, Map<string, ObjectKey>>();
  const sourcesByPlane = new Map<string, readonly string[]>();
  // Secrets in caches are immutable: what one says stays true
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
        // also when it leads nowhere yet
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
        // these name the object at fault and the cure
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
      // the labels of a namespace decide which identities may be used in it
      watchMapped(Namespaces, (namespace) => usersOf(Namespaces, namespace), { predicates: [labelsChanged] }),
    ],
  };
}

/** One object on the way to credentials, as a key of a map. */
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

/** The identity the infrastructure of a plane's Cluster uses, if it is in an OpenStack. */
async function identityOf({ cluster, follower, context }: PlaneRequest): Promise<IdentityReference | undefined> {
  const reference = cluster?.spec.infrastructureRef;
  if (!follower || reference?.kind !== OpenStackClusters.kind || reference.apiGroup !== infrastructureGroup) {
    return undefined;
  }
  const { client, signal } = context;
  const found = await follower.get(reference, cluster?.metadata.namespace ?? '', { client, signal });
  return found && (at(found.object, 'spec', 'identityRef') as IdentityReference | undefined);
}
