import {
  type IdentityReference,
  Namespaces,
  type OpenStackCluster,
  OpenStackClusterIdentities,
  type OpenStackFloatingIPPool,
  type OpenStackServer,
  Secrets,
} from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { credentialSecretKey, credentialText } from '../controllers/index.ts';
import { errorMessage, isNotFound } from '../machinery/index.ts';
import { type CloudConfig, cloudFromText, connect, type OpenStack } from '../openstack/index.ts';

/** An object whose identityRef gives access to a cloud. */
export type CloudUser = OpenStackCluster | OpenStackServer | OpenStackFloatingIPPool;

/** One project of one cloud, and the objects with resources in it. */
export interface CloudInUse {
  readonly cloud: OpenStack;
  /** for messages: `project demo at https://…` */
  readonly title: string;
  /** undefined if the credentials have no project */
  readonly projectId: string | undefined;
  readonly users: readonly CloudUser[];
}

export interface CloudsInUse {
  readonly clouds: readonly CloudInUse[];
  /** objects whose cloud cannot be opened, with the reasons */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

/** Opens the clouds of all objects, each project only once even if several credentials lead to it. */
export async function openCloudsInUse(
  client: Client,
  users: readonly CloudUser[],
  { env, signal }: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<CloudsInUse> {
  const problems: string[] = [];
  const byIdentity = new Map<string, CloudUser[]>();
  for (const user of users) {
    const key = identityKey(user.spec.identityRef, user.metadata.namespace ?? '');
    byIdentity.set(key, [...(byIdentity.get(key) ?? []), user]);
  }
  const byProject = new Map<string, CloudInUse & { users: CloudUser[] }>();
  for (const group of byIdentity.values()) {
    const [first] = group;
    if (!first) continue;
    try {
      const config = await configOf(client, first, signal);
      const cloud = connect(config, { env });
      const { project } = await cloud.identity.whoami({ signal }).catch(async (error: unknown) => {
        await cloud.close();
        throw error;
      });
      const key = JSON.stringify([config.authUrl, config.region, project?.id]);
      const known = byProject.get(key);
      if (known) {
        known.users.push(...group);
        await cloud.close();
      } else {
        const title = titleOf(config, project?.name);
        byProject.set(key, { cloud, title, projectId: project?.id, users: [...group] });
      }
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${first.kind} ${first.metadata.namespace}/${first.metadata.name}: ${errorMessage(error)}`);
    }
  }
  const clouds = [...byProject.values()];
  return {
    clouds,
    problems,
    close: async () => void (await Promise.all(clouds.map(({ cloud }) => cloud.close()))),
  };
}

/** Formats the name of a project for messages. */
export function titleOf(config: CloudConfig, project: string | undefined): string {
  const region = config.region === undefined ? '' : `, region ${config.region}`;
  return `${project === undefined ? 'no project' : `project ${project}`} at ${config.authUrl}${region}`;
}

function identityKey({ type, name, cloudName, region }: IdentityReference, namespace: string): string {
  return JSON.stringify([type === 'ClusterIdentity' ? '' : namespace, type, name, cloudName, region]);
}

async function configOf(client: Client, { spec, metadata }: CloudUser, signal: AbortSignal): Promise<CloudConfig> {
  const { identityRef } = spec;
  const namespace = metadata.namespace ?? '';
  const orNone = async <T>(found: Promise<T>): Promise<T | undefined> => {
    try {
      return await found;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  const lookup = {
    identity: (name: string) => orNone(client.get(OpenStackClusterIdentities, { name }, { signal })),
    namespace: (name: string) => orNone(client.get(Namespaces, { name }, { signal })),
  };
  const key = await credentialSecretKey(lookup, identityRef, namespace);
  const { cloudsYaml, ca, source } = credentialText(key, await orNone(client.get(Secrets, key, { signal })));
  return await cloudFromText({
    text: cloudsYaml,
    source,
    cloud: identityRef.cloudName,
    region: identityRef.region,
    ca,
  });
}
