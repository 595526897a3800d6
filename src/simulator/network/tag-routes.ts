import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { asTableOf } from '../core/state/table.ts';
import { isDictionary, listOf, string } from './attributes/checks.ts';
import type { Neutron } from './neutron.ts';
import { badBody, disallowed, invalidInput, refuse } from './refusals.ts';
import type { Resource, TaggedRow } from './resource.ts';

const checkTag = string(255);
const checkTags = listOf(checkTag);

/** Tag routes of a resource, below its own path by default. */
export function tagRoutes<R extends TaggedRow>(
  neutron: Neutron,
  resource: Resource<R>,
  path: string = resource.path,
): Route[] {
  const all = `/v2.0/${path}/{id}/tags`;
  const one = `${all}/{tag}`;
  const find = (context: RequestContext, action?: string): Readonly<R> => {
    const { caller } = context;
    const id = context.param('id');
    const row = resource.table.get(id);
    if (!row || !(caller.isAdmin || resource.isVisibleTo(row, caller))) {
      const message = `Resource ${resource.collection} ${id} could not be found.`;
      throw refuse(404, 'TagResourceNotFound', message);
    }
    if (action !== undefined && !caller.isAdmin && !(resource.isOwnedBy(row, caller) && caller.canWrite)) {
      throw disallowed(`rule:${action}`);
    }
    return row;
  };
  const replace = (row: Readonly<R>, tags: readonly string[]): void => {
    neutron.change<TaggedRow>(asTableOf(resource.table), row, { tags });
  };
  const noTag = (tag: string): Error => refuse(404, 'TagNotFound', `Tag ${tag} could not be found.`);
  return [
    {
      method: 'GET',
      path: all,
      handle: (context): Answer => ({ status: 200, body: { tags: find(context).tags } }),
    },
    {
      method: 'GET',
      path: one,
      handle(context): Answer {
        const tag = context.param('tag');
        if (!find(context).tags.includes(tag)) throw noTag(tag);
        return { status: 204 };
      },
    },
    {
      method: 'POST',
      path: all,
      handle(): never {
        throw refuse(404, 'HTTPNotFound', 'not supported');
      },
    },
    {
      method: 'PUT',
      path: all,
      handle(context): Answer {
        const body = context.json;
        if (!isDictionary(body)) throw badBody('Body contains invalid data');
        if (!('tags' in body)) throw invalidInput('Invalid tags body');
        const reason = checkTags(body['tags']);
        if (reason !== undefined) throw invalidInput(reason);
        const row = find(context, 'update_tags');
        replace(row, [...(body['tags'] as string[])].sort());
        return { status: 200, body };
      },
    },
    {
      method: 'PUT',
      path: one,
      handle(context): Answer {
        const tag = context.param('tag');
        const reason = checkTag(tag);
        if (reason !== undefined) throw invalidInput(reason);
        const row = find(context, 'update_tag');
        if (!row.tags.includes(tag)) replace(row, [...row.tags, tag].sort());
        return { status: 201, body: null };
      },
    },
    {
      method: 'DELETE',
      path: all,
      handle(context): Answer {
        const row = find(context, 'delete_tags');
        if (row.tags.length > 0) replace(row, []);
        return { status: 204 };
      },
    },
    {
      method: 'DELETE',
      path: one,
      handle(context): Answer {
        const tag = context.param('tag');
        const row = find(context, 'delete_tag');
        if (!row.tags.includes(tag)) throw noTag(tag);
        replace(
          row,
          row.tags.filter((each) => each !== tag),
        );
        return { status: 204 };
      },
    },
  ];
}
