import { must } from '../../machinery/index.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { badRequest, checkBody, forbidden, notFound, readTexts } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { metadataSchema, tagSchema } from './server-schema.ts';
import type { Server } from './tables.ts';
import { mustBeIn } from './transitions.ts';

const maxTags = 50;

/** Routes of server metadata and tags. */
export function markRoutes(compute: Compute): Route[] {
  return [...metadataRoutes(compute), ...tagRoutes(compute)];
}

function metadataRoutes(compute: Compute): Route[] {
  const policy = (name: string, level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: `os_compute_api:server-metadata:${name}`,
    level,
  });
  const parse = (context: RequestContext): Readonly<Record<string, string>> => {
    checkBody(
      { type: 'object', properties: { metadata: metadataSchema }, required: ['metadata'], additionalProperties: false },
      context.json,
    );
    return (context.json as { metadata: Record<string, string> }).metadata;
  };
  const write = (
    context: RequestContext,
    server: Readonly<Server>,
    metadata: Readonly<Record<string, string>>,
  ): void => {
    const limit = compute.core.quotas.limit('compute', context.project, 'metadata_items');
    if (limit >= 0 && Object.keys(metadata).length > limit) {
      throw forbidden(`Maximum number of metadata items exceeds ${limit}`);
    }
    mustBeIn(server, 'update_metadata', ['active', 'paused', 'suspended', 'stopped']);
    compute.change(server.id, { metadata });
  };
  const base = '/v2.1/servers/{id}/metadata';
  return [
    {
      method: 'GET',
      path: base,
      policy: policy('index', 'reader'),
      handle: (context) => ({ status: 200, body: { metadata: compute.server(context).metadata } }),
    },
    {
      method: 'POST',
      path: base,
      policy: policy('create', 'member'),
      handle: (context) => {
        const added = parse(context);
        const server = compute.server(context);
        const metadata = { ...server.metadata, ...added };
        write(context, server, metadata);
        return { status: 200, body: { metadata } };
      },
    },
    {
      method: 'PUT',
      path: base,
      policy: policy('update_all', 'member'),
      handle: (context) => {
        const metadata = parse(context);
        write(context, compute.server(context), metadata);
        return { status: 200, body: { metadata } };
      },
    },
    {
      method: 'GET',
      path: `${base}/{key}`,
      policy: policy('show', 'reader'),
      handle: (context) => {
        const value = compute.server(context).metadata[context.param('key')];
        if (value === undefined) throw notFound('Metadata item was not found');
        return { status: 200, body: { meta: { [context.param('key')]: value } } };
      },
    },
    {
      method: 'PUT',
      path: `${base}/{key}`,
      policy: policy('update', 'member'),
      handle: (context) => {
        const meta = readTexts('meta', context.json);
        const key = context.param('key');
        if (!Object.hasOwn(meta, key)) throw badRequest('Request body and URI mismatch');
        const server = compute.server(context);
        write(context, server, { ...server.metadata, [key]: must(meta[key], 'meta[key]') });
        return { status: 200, body: { meta: { [key]: meta[key] } } };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/{key}`,
      policy: policy('delete', 'member'),
      handle: (context) => {
        const server = compute.server(context);
        const { [context.param('key')]: removed, ...rest } = server.metadata;
        if (removed === undefined) throw notFound('Metadata item was not found');
        write(context, server, rest);
        return { status: 204 };
      },
    },
  ];
}

function tagRoutes(compute: Compute): Route[] {
  const policy = (name: string, level: 'reader' | 'member'): NonNullable<Route['policy']> => ({
    name: `os_compute_api:os-server-tags:${name}`,
    level,
  });
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
