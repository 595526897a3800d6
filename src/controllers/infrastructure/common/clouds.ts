import type { IdentityReference } from '../../../api/index.ts';
import type { Client, InformerFactory, ObjectKey } from '../../../client/index.ts';
import type { Clock, Random } from '../../../machinery/index.ts';
import {
  type CloudConfig,
  CloudConfigError,
  cloudFromText,
  isOpenStackError,
  type Observer,
  type ObserverPool,
  type OpenStack,
  type SessionPool,
} from '../../../openstack/index.ts';
import type { ExternalSource } from '../../../runtime/index.ts';
import { CredentialsError } from '../../shared/index.ts';
import { authenticationFailedReason } from './conditions.ts';
import { type CredentialOptions, createCredentials, type UsedCredentials } from './credentials.ts';
import { CloudFault, causeOf } from './outcomes.ts';
import { type CloudView, createCloudView } from './view.ts';

/** Access to one project of a cloud with an object's credentials. */
export interface CloudAccess {
  readonly openstack: OpenStack;
  readonly observer: Observer;
  /** cached knowledge about the project */
  readonly view: CloudView;
  readonly projectId: string;
  /** name of the cloud in clouds.yaml */
  readonly cloudName: string;
  readonly region: string | undefined;
  /** source of the credentials, for example `Secret default/cloud-config` */
  readonly source: string;
  /**
   * For credentials that several namespaces share: only objects created until then may come from upstream's provider.
   * Absent for credentials of one namespace.
   */
  readonly begunUntil?: number;
}

/** Opens clouds from credentials. Equal credentials share session, lists and cache. */
export interface Clouds {
  /** throws a CloudFault with reason OpenStackAuthenticationFailed if the credentials are unusable */
  access(identity: IdentityReference, namespace: string, options?: CredentialOptions): Promise<CloudAccess>;
  /** enqueues the objects of an identity (by index value, see `identityIndexValue`) when its credentials change */
  rotationSource(keysOf: (identity: string) => readonly ObjectKey[]): ExternalSource;
  /** keeps the credentials current; runs next to the controllers */
  run(signal: AbortSignal): Promise<void>;
}

export interface CloudsOptions {
  /** client of the management API */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly sessions: SessionPool;
  readonly observers: ObserverPool;
  /** provides Secrets, shared with other controllers */
  readonly cache: Pick<InformerFactory, 'informer'>;
  readonly namespace?: string | undefined;
  /** credentials that an earlier run in this process used */
  readonly used?: UsedCredentials | undefined;
}

/** Limit of cached clouds.yaml parses; one is cheap, but not on every one of a thousand reconciles. */
const maxConfigs = 2_000;

export function createClouds(options: CloudsOptions): Clouds {
  const { sessions, observers, clock } = options;
  const credentials = createCredentials(options);
  const configs = new Map<string, Promise<CloudConfig>>();
  const views = new WeakMap<Observer, CloudView>();

  const configOf = async (
    identity: IdentityReference,
    namespace: string,
    options: CredentialOptions,
  ): Promise<{ config: CloudConfig; source: string }> => {
    const text = await credentials.read(identity, namespace, options);
    const { cloudName, region } = identity;
    const key = JSON.stringify([text.version, text.source, cloudName, region ?? '']);
    let parsed = configs.get(key);
    if (!parsed) {
      if (configs.size >= maxConfigs) configs.clear();
      parsed = cloudFromText({
        text: text.cloudsYaml,
        source: text.source,
        cloud: cloudName,
        ...(region !== undefined && { region }),
        ...(text.ca !== undefined && { ca: text.ca }),
      });
      configs.set(key, parsed);
      parsed.catch(() => configs.delete(key));
    }
    return { config: await parsed, source: text.source };
  };

  return {
    async access(identity, namespace, options = {}) {
      try {
        const { config, source } = await configOf(identity, namespace, options);
        const openstack = sessions.connect(config);
        const projectId = await openstack.projectId(options.signal);
        if (projectId === '') {
          throw new CredentialsError(
            `${source}, cloud "${identity.cloudName}": the credentials are for no project; give project_name or project_id in its auth`,
          );
        }
        const observer = observers.observer(openstack);
        let view = views.get(observer);
        if (!view) {
          view = createCloudView(openstack, observer, clock);
          views.set(observer, view);
        }
        const begunUntil = await credentials.begunUntil(identity, options.signal);
        return {
          openstack,
          observer,
          view,
          projectId,
          cloudName: identity.cloudName,
          region: config.region,
          source,
          ...(begunUntil !== undefined && { begunUntil }),
        };
      } catch (error) {
        throw unusable(error, identity, namespace);
      }
    },
    rotationSource: (keysOf) => ({
      start({ enqueue, signal }) {
        const end = credentials.onChange((identity) => {
          for (const key of keysOf(identity)) enqueue(key);
        });
        signal.addEventListener('abort', end, { once: true });
      },
    }),
    run: (signal) => credentials.run(signal),
  };
}

/** Explains which credentials do not work, why, and the remedy. */
function unusable(error: unknown, identity: IdentityReference, namespace: string): unknown {
  // these messages contain the source already
  if (error instanceof CredentialsError || error instanceof CloudConfigError) {
    return new CloudFault(authenticationFailedReason, error.message, { cause: error });
  }
  if (!isOpenStackError(error)) return error;
  const where =
    identity.type === 'ClusterIdentity'
      ? `OpenStackClusterIdentity ${identity.name}`
      : `Secret ${namespace}/${identity.name}`;
  const cause = causeOf(error);
  // the client's message may contain the source already
  const message = cause.includes(where) ? cause : `${where}, cloud "${identity.cloudName}": ${cause}`;
  return new CloudFault(authenticationFailedReason, message, { retryMs: error.retryAfterMs, cause: error });
}
