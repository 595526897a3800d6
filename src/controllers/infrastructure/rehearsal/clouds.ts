import type { IdentityReference } from '../../../api/index.ts';
import {
  createObserverPool,
  type OpenStack,
  type RehearsedCloud,
  rehearse,
  type SessionPool,
} from '../../../openstack/index.ts';
import type { RehearsedObjects } from '../../shared/index.ts';
import { type CloudAccess, createClouds } from '../common/clouds.ts';
import { rehearsedAccess } from './access.ts';

/** Rehearsed clouds, one per project, shared by clusters so that quota used by one is gone for the next. */
export interface RehearsedClouds {
  /** throws a CloudFault if the credentials in the objects are unusable */
  access(objects: RehearsedObjects, identity: IdentityReference, namespace: string): Promise<CloudAccess>;
  /** clouds that were accessed */
  readonly used: readonly RehearsedCloud[];
}

export interface RehearsedCloudsOptions {
  readonly sessions: SessionPool;
  /** replaces the clouds that the objects name */
  readonly instead?: OpenStack;
}

export function createRehearsedClouds({ sessions, instead }: RehearsedCloudsOptions): RehearsedClouds {
  const byProject = new Map<string, Promise<RehearsedCloud>>();
  const used: RehearsedCloud[] = [];

  const rehearsedOf = (openstack: OpenStack, projectId: string): Promise<RehearsedCloud> => {
    const { authUrl, region } = openstack.config;
    const key = JSON.stringify([authUrl, region ?? '', projectId]);
    const known =
      byProject.get(key) ??
      rehearse(openstack).then((cloud) => {
        used.push(cloud);
        return cloud;
      });
    byProject.set(key, known);
    return known;
  };
  return {
    used,
    async access(objects, identity, namespace) {
      const { cloudName } = identity;
      if (instead) {
        const cloud = await rehearsedOf(instead, await instead.projectId());
        return rehearsedAccess(cloud, { cloudName, source: 'clouds.yaml' });
      }
      const { client, cache, clock, context } = objects;
      const observers = createObserverPool({ random: context.random });
      const clouds = createClouds({ client, cache, clock, random: context.random, sessions, observers });
      const real = await clouds.access(identity, namespace);
      return rehearsedAccess(await rehearsedOf(real.openstack, real.projectId), real);
    },
  };
}
