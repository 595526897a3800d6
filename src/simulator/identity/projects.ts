import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { type Fields, optionalFlag, optionalText, requiredText, schemaError, wrapped } from './body.ts';
import { removeGroup } from './group-removal.ts';
import type { Identity } from './identity.ts';
import { badRequest, duplicate, notAllowed, notFound } from './refusals.ts';
import { listAnswer, renderDomain, renderDomainAsProject, renderProject } from './rendering.ts';
import { type Domain, nameKey, type Project } from './tables.ts';

/** Projects and the domains they are in. */
export function projectRoutes(identity: Identity): Route[] {
  const { projects, domains, core } = identity;
  const admin = (name: string): NonNullable<Route['policy']> => ({ name: `identity:${name}`, level: 'admin' });
  const find = (id: string): Readonly<Project> => {
    const project = projects.get(id);
    if (!project) throw notFound('project', id);
    return project;
  };
  const mustBeFree = (name: string, domainId: string): void => {
    if (projects.first('name', nameKey(domainId, name))) {
      throw duplicate(
        'project',
        `it is not permitted to have two projects with the same name in the same domain : ${name}`,
      );
    }
  };
  return [
    {
      method: 'GET',
      path: '/v3/projects',
      policy: admin('list_projects'),
      handle: (context) => {
        // Domains are projects too, and listed when they are asked for.
        if (/^(?:true|1)$/i.test(context.query.get('is_domain') ?? 'false')) {
          const acting = filterBy<Domain>(context, { name: ({ name }) => name, enabled: ({ enabled }) => enabled });
          const rows = [...domains.all()].filter(acting).map((each) => renderDomainAsProject(context, each));
          return listAnswer(context, 'projects', rows);
        }
        const matches = filterBy<Project>(context, {
          name: ({ name }) => name,
          domain_id: ({ domainId }) => domainId,
          parent_id: ({ parentId }) => parentId,
          enabled: ({ enabled }) => enabled,
          is_domain: () => false,
        });
        const isTagged = tagFilter(context);
        return listAnswer(
          context,
          'projects',
          [...projects.all()]
            .filter((each) => matches(each) && isTagged(each))
            .map((each) => renderProject(context, each)),
        );
      },
    },
    {
      method: 'POST',
      path: '/v3/projects',
      policy: admin('create_project'),
      handle: (context) => {
        const fields = wrapped(context, 'project');
        if (optionalFlag(fields, 'is_domain')) {
          if (optionalText(fields, 'domain_id') ?? optionalText(fields, 'parent_id'))
            throw badRequest('only root projects are allowed to act as domains.');
          const domain = createDomain(identity, fields);
          return { status: 201, body: { project: renderDomainAsProject(context, domain) } };
        }
        const name = requiredText(fields, 'name');
        const domainId = wishedDomain(identity, context, fields);
        mustBeFree(name, domainId);
        const project = projects.insert({
          id: core.ids.hex(),
          name,
          domainId,
          parentId: optionalText(fields, 'parent_id') ?? domainId,
          description: optionalText(fields, 'description') ?? '',
          enabled: optionalFlag(fields, 'enabled') ?? true,
          tags: Array.isArray(fields['tags']) ? fields['tags'].map(String) : [],
        });
        return { status: 201, body: { project: renderProject(context, project) } };
      },
    },
    {
      method: 'GET',
      path: '/v3/projects/{id}',
      handle: (context) => {
        const { caller } = context;
        const id = context.param('id');
        if (!caller.isAdmin && caller.projectId !== id && identity.rolesOn(caller.userId, id).length === 0) {
          throw notAllowed('identity:get_project');
        }
        const domain = domains.get(id);
        const project = domain ? renderDomainAsProject(context, domain) : renderProject(context, find(id));
        return { status: 200, body: { project } };
      },
    },
    {
      method: 'PATCH',
      path: '/v3/projects/{id}',
      policy: admin('update_project'),
      handle: (context) => {
        const fields = wrapped(context, 'project');
        const domain = domains.get(context.param('id'));
        if (domain) {
          const changed = changeDomain(identity, domain, fields);
          return { status: 200, body: { project: renderDomainAsProject(context, changed) } };
        }
        const project = find(context.param('id'));
        const name = optionalText(fields, 'name') ?? project.name;
        if (name !== project.name) mustBeFree(name, project.domainId);
        const enabled = optionalFlag(fields, 'enabled') ?? project.enabled;
        if (!enabled) identity.revoke(identity.tokens.by('project', project.id));
        projects.update(project.id, {
          name,
          enabled,
          description: optionalText(fields, 'description') ?? project.description,
          tags: Array.isArray(fields['tags']) ? fields['tags'].map(String) : project.tags,
        });
        return { status: 200, body: { project: renderProject(context, project) } };
      },
    },
    {
      method: 'DELETE',
      path: '/v3/projects/{id}',
      policy: admin('delete_project'),
      handle: (context) => {
        const domain = domains.get(context.param('id'));
        if (domain) removeDomain(identity, domain);
        else removeProject(identity, find(context.param('id')).id);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/v3/domains',
      policy: admin('list_domains'),
      handle: (context) => {
        const matches = filterBy<Domain>(context, { name: ({ name }) => name, enabled: ({ enabled }) => enabled });
        return listAnswer(
          context,
          'domains',
          [...domains.all()].filter(matches).map((each) => renderDomain(context, each)),
        );
      },
    },
    {
      method: 'POST',
      path: '/v3/domains',
      policy: admin('create_domain'),
      handle: (context) => {
        const domain = createDomain(identity, wrapped(context, 'domain'));
        return { status: 201, body: { domain: renderDomain(context, domain) } };
      },
    },
    {
      method: 'GET',
      path: '/v3/domains/{id}',
      policy: admin('get_domain'),
      handle: (context) => {
        const domain = domains.get(context.param('id'));
        if (!domain) throw notFound('domain', context.param('id'));
        return { status: 200, body: { domain: renderDomain(context, domain) } };
      },
    },
    {
      method: 'PATCH',
      path: '/v3/domains/{id}',
      policy: admin('update_domain'),
      handle: (context) => {
        const domain = domains.get(context.param('id'));
        if (!domain) throw notFound('domain', context.param('id'));
        const changed = changeDomain(identity, domain, wrapped(context, 'domain'));
        return { status: 200, body: { domain: renderDomain(context, changed) } };
      },
    },
    {
      method: 'DELETE',
      path: '/v3/domains/{id}',
      policy: admin('delete_domain'),
      handle: (context) => {
        const domain = domains.get(context.param('id'));
        if (!domain) throw notFound('domain', context.param('id'));
        removeDomain(identity, domain);
        return { status: 204 };
      },
    },
    ...tagRoutes(identity, find),
  ];
}

function createDomain({ domains, core }: Identity, fields: Fields): Readonly<Domain> {
  const name = requiredText(fields, 'name');
  if (domains.first('name', name)) {
    throw duplicate(
      'project',
      `it is not permitted to have two projects acting as domains with the same name: ${name}`,
    );
  }
  return domains.insert({
    id: core.ids.hex(),
    name,
    description: optionalText(fields, 'description') ?? '',
    enabled: optionalFlag(fields, 'enabled') ?? true,
  });
}

function changeDomain(identity: Identity, domain: Readonly<Domain>, fields: Fields): Readonly<Domain> {
  const { domains } = identity;
  const name = optionalText(fields, 'name') ?? domain.name;
  if (name !== domain.name && domains.first('name', name)) {
    throw duplicate('domain', `Duplicate entry found with name ${name}`);
  }
  const enabled = optionalFlag(fields, 'enabled') ?? domain.enabled;
  if (!enabled) {
    for (const { id } of identity.users.by('domain', domain.id)) identity.revoke(identity.tokens.by('user', id));
  }
  return domains.update(domain.id, {
    name,
    enabled,
    description: optionalText(fields, 'description') ?? domain.description,
  });
}

function removeDomain(identity: Identity, domain: Readonly<Domain>): void {
  if (domain.enabled) throw notAllowed('cannot delete a domain that is enabled, please disable it first');
  for (const { id } of [...identity.users.by('domain', domain.id)]) removeUser(identity, id);
  for (const { id } of [...identity.projects.by('domain', domain.id)]) removeProject(identity, id);
  for (const { id } of [...identity.groups.by('domain', domain.id)]) removeGroup(identity, id);
  for (const { id } of [...identity.assignments.by('domain', domain.id)]) identity.assignments.delete(id);
  identity.domains.delete(domain.id);
}

/** Marks on projects. */
function tagRoutes({ projects }: Identity, find: (id: string) => Readonly<Project>): Route[] {
  const policy = (name: string): NonNullable<Route['policy']> => ({ name: `identity:${name}`, level: 'admin' });
  const base = '/v3/projects/{id}/tags';
  const show = (context: RequestContext): object => ({
    tags: find(context.param('id')).tags,
    links: { self: `${context.serviceUrl}${context.path}`, next: null, previous: null },
  });
  const mustHave = (context: RequestContext): Readonly<Project> => {
    const project = find(context.param('id'));
    if (!project.tags.includes(context.param('tag'))) throw notFound('project tag', context.param('tag'));
    return project;
  };
  return [
    {
      method: 'GET',
      path: base,
      policy: policy('list_project_tags'),
      handle: (context) => ({ status: 200, body: show(context) }),
    },
    {
      method: 'PUT',
      path: base,
      policy: policy('update_project_tags'),
      handle: (context) => {
        const { tags } = (context.json ?? {}) as { tags?: unknown };
        if (!Array.isArray(tags)) throw schemaError("'tags' is a required property", 'required');
        projects.update(find(context.param('id')).id, { tags: [...new Set(tags.map(String))] });
        return { status: 200, body: show(context) };
      },
    },
    {
      method: 'DELETE',
      path: base,
      policy: policy('delete_project_tags'),
      handle: (context) => {
        projects.update(find(context.param('id')).id, { tags: [] });
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: `${base}/{tag}`,
      policy: policy('get_project_tag'),
      handle: (context) => {
        mustHave(context);
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      path: `${base}/{tag}`,
      policy: policy('create_project_tag'),
      handle: (context) => {
        const { id, tags } = find(context.param('id'));
        const tag = context.param('tag');
        if (!tags.includes(tag)) projects.update(id, { tags: [...tags, tag] });
        return { status: 201, headers: { location: `${context.serviceUrl}${context.path}` } };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/{tag}`,
      policy: policy('delete_project_tag'),
      handle: (context) => {
        const { id, tags } = mustHave(context);
        projects.update(id, { tags: tags.filter((each) => each !== context.param('tag')) });
        return { status: 204 };
      },
    },
  ];
}

/** A project and everything that was good for it alone. */
function removeProject(identity: Identity, id: string): void {
  for (const each of [...identity.tokens.by('project', id)]) identity.tokens.delete(each.id);
  for (const each of [...identity.assignments.by('project', id)]) identity.assignments.delete(each.id);
  for (const each of [...identity.applicationCredentials.by('project', id)]) {
    identity.applicationCredentials.delete(each.id);
  }
  identity.projects.delete(id);
}

/** A user with their tokens, roles and credentials. */
export function removeUser(identity: Identity, id: string): void {
  for (const each of [...identity.tokens.by('user', id)]) identity.tokens.delete(each.id);
  for (const each of [...identity.assignments.by('user', id)]) identity.assignments.delete(each.id);
  for (const each of [...identity.applicationCredentials.by('user', id)]) {
    identity.applicationCredentials.delete(each.id);
  }
  for (const each of [...identity.memberships.by('user', id)]) identity.memberships.delete(each.id);
  for (const each of [...identity.accessRules.by('user', id)]) identity.accessRules.delete(each.id);
  identity.users.delete(id);
}

type FilterValue = string | boolean | undefined;

const comparisons: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  contains: (value, wanted) => value.includes(wanted),
  startswith: (value, wanted) => value.startsWith(wanted),
  endswith: (value, wanted) => value.endsWith(wanted),
};

/**
 * Filters on the attributes named: `name=x`, or inexact `name__contains=x`, with an `i` for any case. What else is asked for
 * is ignored, as keystone does.
 */
export function filterBy<T>(
  context: RequestContext,
  attributes: Readonly<Record<string, (row: Readonly<T>) => FilterValue>>,
): (row: Readonly<T>) => boolean {
  const filters = context.query.entries.flatMap(([argument, value]) => {
    const [name = '', comparison] = argument.split('__');
    const read = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (!read) return [];
    const wanted = value.toLowerCase();
    // The usual database does not tell cases apart, with or without the `i`.
    const compare = comparison === undefined ? undefined : comparisons[comparison.replace(/^i/, '')];
    if (comparison !== undefined && !compare) return [];
    return [
      (row: Readonly<T>): boolean => {
        const own = read(row);
        if (typeof own === 'boolean') return own === !/^(?:false|0|no|off)$/.test(wanted);
        if (own === undefined) return false;
        return compare ? compare(own.toLowerCase(), wanted) : own.toLowerCase() === wanted;
      },
    ];
  });
  return (row) => filters.every((filter) => filter(row));
}

/** `tags`, `tags-any` and their opposites. */
function tagFilter({ query }: RequestContext): (row: Readonly<Project>) => boolean {
  const given = (name: string): string[] | undefined => query.get(name)?.split(',');
  const [all, any, notAll, notAny] = ['tags', 'tags-any', 'not-tags', 'not-tags-any'].map(given);
  return ({ tags }) =>
    (!all || all.every((tag) => tags.includes(tag))) &&
    (!any || any.some((tag) => tags.includes(tag))) &&
    !notAll?.every((tag) => tags.includes(tag)) &&
    !notAny?.some((tag) => tags.includes(tag));
}

export function wishedDomain(identity: Identity, context: RequestContext, fields: Fields): string {
  const wish = optionalText(fields, 'domain_id') ?? context.caller.userDomainId;
  if (!identity.domains.has(wish)) throw notFound('domain', wish);
  return wish;
}
