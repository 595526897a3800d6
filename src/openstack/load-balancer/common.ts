import type { JsonObject } from '../../machinery/index.ts';
import { filterQuery, type Query } from '../http/query.ts';
import { flag, textOrEmpty, texts, timeIf } from '../resource/read.ts';

/** Fields of all octavia resources. */
export interface LoadBalancerResource {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly projectId: string;
  /** `ACTIVE`, `ERROR`, `PENDING_CREATE`, `PENDING_UPDATE`, `PENDING_DELETE`, `DELETED` */
  readonly provisioningStatus: string;
  /** `ONLINE`, `OFFLINE`, `DEGRADED`, `ERROR`, `NO_MONITOR`, `DRAINING` */
  readonly operatingStatus: string;
  readonly adminStateUp: boolean;
  readonly tags: readonly string[];
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
}

export function parseCommon(value: JsonObject): Omit<LoadBalancerResource, 'id' | 'name'> {
  return {
    description: textOrEmpty(value, 'description'),
    projectId: textOrEmpty(value, 'project_id'),
    provisioningStatus: textOrEmpty(value, 'provisioning_status'),
    operatingStatus: textOrEmpty(value, 'operating_status'),
    adminStateUp: flag(value, 'admin_state_up', { fallback: true }),
    tags: texts(value, 'tags'),
    createdAt: timeIf(value, 'created_at'),
    updatedAt: timeIf(value, 'updated_at'),
  };
}

export interface CommonFilter {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly projectId?: string | undefined;
  readonly provisioningStatus?: string | undefined;
  readonly operatingStatus?: string | undefined;
  /** must have all of these */
  readonly tags?: readonly string[] | undefined;
  readonly tagsAny?: readonly string[] | undefined;
  readonly notTags?: readonly string[] | undefined;
  readonly notTagsAny?: readonly string[] | undefined;
  /** return only these members, by octavia's names; must include id and name */
  readonly fields?: readonly string[] | undefined;
}

export function commonQuery(filter: CommonFilter): Query {
  const { tags, tagsAny, notTags, notTagsAny, ...rest } = filter;
  return {
    ...filterQuery(rest),
    tags: tags?.join(','),
    'tags-any': tagsAny?.join(','),
    'not-tags': notTags?.join(','),
    'not-tags-any': notTagsAny?.join(','),
  };
}
