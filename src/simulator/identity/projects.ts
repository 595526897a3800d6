import type { RequestContext } from '../core/http/context.ts';
import type { Route } from '../core/service.ts';
import { type Fields, optionalFlag, optionalText, requiredText, wrapped } from './body.ts';
import type { Identity } from './identity.ts';
import { duplicate, notAllowed, notFound } from './refusals.ts';
import { listAnswer, renderDomain, renderProject } from './rendering.ts';
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
        const matches = filterBy<Project>(context, { name: ({ name }) => name, domain_id: ({ domainId }) => domainId });
        return listAnswer(
          context,
          'projects',
          [...projects.all()].filter(matches).map((each) => renderProject(context, each)),
        );
      },
    },
    {
      method: 'POST',
      path: '/v3/projects',
      policy: admin('create_project'),
      handle: (context) => {
        const fields = wrapped(context, 'project');
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
        return { status: 200, body: { project: renderProject(context, find(id)) } };
      },
    },
    {
      method: 'PATCH',
      path: '/v3/projects/{id}',
      policy: admin('update_project'),
      handle: (context) => {
        const project = find(context.param('id'));
        const fields = wrapped(context, 'project');
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
        const { id } = find(context.param('id'));
        for (const each of [...identity.tokens.by('project', id)]) identity.tokens.delete(each.id);
        for (const each of [...identity.assignments.by('project', id)]) identity.assignments.delete(each.id);
        for (const each of [...identity.applicationCredentials.by('project', id)]) {
          identity.applicationCredentials.delete(each.id);
        }
        projects.delete(id);
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: '/v3/domains',
      policy: admin('list_domains'),
      handle: (context) => {
        const matches = filterBy<Domain>(context, { name: ({ name }) => name });
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
        const fields = wrapped(context, 'domain');
        const name = requiredText(fields, 'name');
        if (domains.first('name', name)) throw duplicate('domain', `Duplicate entry found with name ${name}`);
        const domain = domains.insert({
          id: core.ids.hex(),
          name,
          description: optionalText(fields, 'description') ?? '',
          enabled: optionalFlag(fields, 'enabled') ?? true,
        });
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
  ];
}

/** Exact filters on the attributes named; what else is asked for is ignored, as keystone does. */
export function filterBy<T>(
  context: RequestContext,
  attributes: Readonly<Record<string, (row: Readonly<T>) => string | undefined>>,
): (row: Readonly<T>) => boolean {
  const wanted = context.query.entries.flatMap(([name, value]) => {
    const read = attributes[name];
    return read ? [{ read, value }] : [];
  });
  return (row) => wanted.every(({ read, value }) => read(row)?.toLowerCase() === value.toLowerCase());
}

export function wishedDomain(identity: Identity, context: RequestContext, fields: Fields): string {
  const wish = optionalText(fields, 'domain_id') ?? context.caller.userDomainId;
  if (!identity.domains.has(wish)) throw notFound('domain', wish);
  return wish;
}
