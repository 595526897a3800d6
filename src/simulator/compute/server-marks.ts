import { policiesOf } from '../core/caller.ts';
import type { Route } from '../core/service.ts';
import { textRoutes } from '../core/texts.ts';
import { badRequest, checkBody, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { readMetadata, tagSchema } from './server-schema.ts';
import type { Server } from './tables.ts';
import { mustBeIn } from './transitions.ts';

const maxTags = 50;

/** Routes of server metadata and tags. */
export function markRoutes(compute: Compute): Route[] {
  return [...metadataRoutes(compute), ...tagRoutes(compute)];
}

function metadataRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api:server-metadata');
  const rules = {
    list: 'index',
    create: 'create',
    replace: 'update_all',
    show: 'show',
    update: 'update',
    delete: 'delete',
  };
  return textRoutes({
    path: '/v2.1/servers/{id}/metadata',
    key: 'metadata',
    single: 'meta',
    isReplaceable: true,
    deleted: 204,
    policy: (operation, level) => policy(rules[operation], level),
    parse: readMetadata,
    read: (context) => compute.server(context).metadata,
    write(context, metadata) {
      const server = compute.server(context);
      const limit = compute.core.quotas.limit('compute', context.project, 'metadata_items');
      if (limit >= 0 && Object.keys(metadata).length > limit) {
        throw forbidden(`Maximum number of metadata items exceeds ${limit}`);
      }
      mustBeIn(server, 'update_metadata', ['active', 'paused', 'suspended', 'stopped']);
      compute.change(server.id, { metadata });
    },
    unknown: () => 'Metadata item was not found',
  });
}

function tagRoutes(compute: Compute): Route[] {
  const policy = policiesOf('os_compute_api:os-server-tags');
  const write = (server: Readonly<Server>, tags: readonly string[]): void => {
    mustBeIn(server, 'update_tags', ['active', 'paused', 'suspended', 'stopped']);
    if (tags.length > maxTags) throw badRequest(`The number of tags exceeded the per-server limit ${maxTags}`);
    compute.change(server.id, { tags });
  };
  const noTag = (server: Readonly<Server>, tag: string): Error => notFound(`Instance ${server.id} has no tag '${tag}'`);
  const base = '/v2.1/servers/{id}/tags';
  return [
    {
      method: 'GET',
      path: base,
      since: 26,
      policy: policy('index', 'reader'),
      handle: (context) => ({ status: 200, body: { tags: compute.server(context).tags } }),
    },
    {
      method: 'PUT',
      path: base,
      since: 26,
      policy: policy('update_all', 'member'),
      handle: (context) => {
        checkBody(
          {
            type: 'object',
            properties: { tags: { type: 'array', items: tagSchema, maxItems: maxTags } },
            required: ['tags'],
            additionalProperties: false,
          },
          context.json,
        );
        const tags = [...new Set((context.json as { tags: string[] }).tags)];
        write(compute.server(context), tags);
        return { status: 200, body: { tags } };
      },
    },
    {
      method: 'DELETE',
      path: base,
      since: 26,
      policy: policy('delete_all', 'member'),
      handle: (context) => {
        write(compute.server(context), []);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: `${base}/{tag}`,
      since: 26,
      policy: policy('show', 'reader'),
      handle: (context) => {
        const server = compute.server(context);
        const tag = context.param('tag');
        if (!server.tags.includes(tag)) throw notFound(`Server ${server.id} has no tag '${tag}'`);
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      path: `${base}/{tag}`,
      since: 26,
      policy: policy('update', 'member'),
      handle: (context) => {
        const tag = context.param('tag');
        const server = compute.server(context);
        if (tag.length > 60 || /[,/]/.test(tag)) {
          const problem = tag.length > 60 ? 'is too long' : "does not match '^[^,/]*$'";
          throw badRequest(
            `Tag '${tag}' is invalid. It must be a non empty string without characters '/' and ','. Validation error message: '${tag}' ${problem}`,
          );
        }
        const headers = { 'content-type': 'text/html; charset=UTF-8' };
        if (server.tags.includes(tag)) return { status: 204, headers };
        write(server, [...server.tags, tag]);
        const location = `${context.serviceUrl}/v2.1/servers/${server.id}/tags/${encodeURIComponent(tag)}`;
        return { status: 201, headers: { ...headers, location } };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/{tag}`,
      since: 26,
      policy: policy('delete', 'member'),
      handle: (context) => {
        const server = compute.server(context);
        const tag = context.param('tag');
        if (!server.tags.includes(tag)) throw noTag(server, tag);
        write(
          server,
          server.tags.filter((each) => each !== tag),
        );
        return { status: 204 };
      },
    },
  ];
}
