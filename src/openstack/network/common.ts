import type { JsonObject } from '../../machinery/index.ts';
import { filterQuery, type Query, segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { deleteAt } from '../resource/collection.ts';
import { numberIf, textOrEmpty, texts, timeIf } from '../resource/read.ts';

/** Fields of all neutron resources. */
export interface NetworkResource {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly projectId: string;
  readonly tags: readonly string[];
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly revision: number | undefined;
}

export function parseCommon(value: JsonObject): Omit<NetworkResource, 'id' | 'name'> {
  return {
    description: textOrEmpty(value, 'description'),
    projectId: textOrEmpty(value, 'project_id') || textOrEmpty(value, 'tenant_id'),
    tags: texts(value, 'tags'),
    createdAt: timeIf(value, 'created_at'),
    updatedAt: timeIf(value, 'updated_at'),
    revision: numberIf(value, 'revision_number'),
  };
}

/** Filters of all neutron resources. Several values of one filter are alternatives. */
export interface CommonFilter {
  readonly id?: string | readonly string[] | undefined;
  readonly name?: string | readonly string[] | undefined;
  readonly description?: string | undefined;
  readonly projectId?: string | undefined;
  /** must have all of these */
  readonly tags?: readonly string[] | undefined;
  readonly tagsAny?: readonly string[] | undefined;
  readonly notTags?: readonly string[] | undefined;
  readonly notTagsAny?: readonly string[] | undefined;
  readonly sortKey?: string | undefined;
  readonly sortDir?: 'asc' | 'desc' | undefined;
  /** return only these members, by neutron's names; must include id and name */
  readonly fields?: readonly string[] | undefined;
}

/** Converts a filter to neutron's query. Lists of tags are joined by commas, other lists are repeated. */
export function networkQuery(filter: CommonFilter, spelling: Readonly<Record<string, string>> = {}): Query {
  const { tags, tagsAny, notTags, notTagsAny, ...rest } = filter;
  return {
    ...filterQuery(rest, spelling),
    tags: tags?.join(','),
    'tags-any': tagsAny?.join(','),
    'not-tags': notTags?.join(','),
    'not-tags-any': notTagsAny?.join(','),
  };
}

/** Tag operations of one resource type. */
export interface Tags {
  replaceTags(id: string, tags: readonly string[], options?: CallOptions): Promise<void>;
  addTag(id: string, tag: string, options?: CallOptions): Promise<void>;
  /** returns false if the tag did not exist */
  removeTag(id: string, tag: string, options?: CallOptions): Promise<boolean>;
}

export function tagsOf(service: ServiceClient, path: string): Tags {
  const at = (id: string, tag?: string): string =>
    `${path}/${segment(id)}/tags${tag === undefined ? '' : `/${segment(tag)}`}`;
  return {
    async replaceTags(id, tags, options = {}) {
      await service.request({ method: 'PUT', path: at(id), json: { tags }, ...options });
    },
    async addTag(id, tag, options = {}) {
      await service.request({ method: 'PUT', path: at(id, tag), ...options });
    },
    removeTag: (id, tag, options = {}) => deleteAt(service, at(id, tag), options),
  };
}
