import type { RequestContext } from '../core/http/context.ts';
import { need } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { type Fields, optionalFlag, optionalText, requiredText, schemaError } from './body.ts';
import { removeGroup } from './group-removal.ts';
import type { Identity } from './identity.ts';
import { badRequest, duplicate, notAllowed, notFound } from './refusals.ts';
import { renderDomain, renderDomainAsProject, renderProject } from './rendering.ts';
import { adminOnly, type IdentityResource, identityRoutes } from './resource.ts';
import { type Domain, nameKey, type Project } from './tables.ts';

/** Routes of projects and domains. */
export function projectRoutes(identity: Identity): Route[] {
  const { projects } = identity;
  const find = (id: string): Readonly<Project> => need(projects, id, () => notFound('project', id));
  return [
    ...identityRoutes(projectResource(identity)),
    ...identityRoutes(domainResource(identity)),
    ...tagRoutes(identity, find),
  ];
}

/** A domain is also a project: it has no parent and acts as a domain. */
type AnyProject = Project | Domain;

const isPlain = (row: Readonly<AnyProject>): row is Readonly<Project> => 'domainId' in row;

function projectResource(identity: Identity): IdentityResource<AnyProject> {
  const { projects, domains, core } = identity;
  const mustBeFree = (name: string, domainId: string): void => {
    if (projects.first('name', nameKey(domainId, name))) {
      throw duplicate(
        'project',
        `it is not permitted to have two projects with the same name in the same domain : ${name}`,
      );
    }
  };
  return {
    name: 'project',
    collection: 'projects',
    rows: {
      get: (id) => domains.get(id) ?? projects.get(id),
      *all() {
        yield* domains.all();
        yield* projects.all();
      },
    },
    filters: {
      name: ({ name }) => name,
      domain_id: (row) => (isPlain(row) ? row.domainId : undefined),
      parent_id: (row) => (isPlain(row) ? row.parentId : undefined),
      enabled: ({ enabled }) => enabled,
    },
    isListed(context) {
      // With `is_domain` only domains are listed.
      const domainsOnly = /^(?:true|1)$/i.test(context.query.get('is_domain') ?? 'false');
      const isTagged = tagFilter(context);
      return (row) => (isPlain(row) ? !domainsOnly && isTagged(row) : domainsOnly);
    },
    maySee({ caller, params: { id = '' } }) {
      return caller.projectId === id || identity.rolesOn(caller.userId, id).length > 0;
    },
    view: (context, row) => (isPlain(row) ? renderProject(context, row) : renderDomainAsProject(context, row)),
    create(fields, context) {
      if (optionalFlag(fields, 'is_domain')) {
        if (optionalText(fields, 'domain_id') ?? optionalText(fields, 'parent_id')) {
          throw badRequest('only root projects are allowed to act as domains.');
        }
        return createDomain(identity, fields);
      }
      const name = requiredText(fields, 'name');
      const domainId = desiredDomain(identity, context, fields);
      mustBeFree(name, domainId);
      return projects.insert({
        id: core.ids.hex(),
        name,
        domainId,
        parentId: optionalText(fields, 'parent_id') ?? domainId,
        description: optionalText(fields, 'description') ?? '',
        enabled: optionalFlag(fields, 'enabled') ?? true,
        tags: Array.isArray(fields['tags']) ? fields['tags'].map(String) : [],
      });
    },
    update(project, fields) {
      if (!isPlain(project)) return changeDomain(identity, project, fields);
      const name = optionalText(fields, 'name') ?? project.name;
      if (name !== project.name) mustBeFree(name, project.domainId);
      const enabled = optionalFlag(fields, 'enabled') ?? project.enabled;
      if (!enabled) identity.revoke(identity.tokens.by('project', project.id));
      return projects.update(project.id, {
        name,
        enabled,
        description: optionalText(fields, 'description') ?? project.description,
        tags: Array.isArray(fields['tags']) ? fields['tags'].map(String) : project.tags,
      });
    },
    delete(project) {
      if (isPlain(project)) removeProject(identity, project.id);
      else removeDomain(identity, project);
    },
  };
}

function domainResource(identity: Identity): IdentityResource<Domain> {
  return {
    name: 'domain',
    collection: 'domains',
    rows: identity.domains,
    filters: { name: ({ name }) => name, enabled: ({ enabled }) => enabled },
    view: renderDomain,
    create: (fields) => createDomain(identity, fields),
    update: (domain, fields) => changeDomain(identity, domain, fields),
    delete: (domain) => removeDomain(identity, domain),
  };
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

/** Routes of project tags. */
function tagRoutes({ projects }: Identity, find: (id: string) => Readonly<Project>): Route[] {
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
      policy: adminOnly('list_project_tags'),
      handle: (context) => ({ status: 200, body: show(context) }),
    },
    {
      method: 'PUT',
      path: base,
      policy: adminOnly('update_project_tags'),
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
      policy: adminOnly('delete_project_tags'),
      handle: (context) => {
        projects.update(find(context.param('id')).id, { tags: [] });
        return { status: 204 };
      },
    },
    {
      method: 'GET',
      path: `${base}/{tag}`,
      policy: adminOnly('get_project_tag'),
      handle: (context) => {
        mustHave(context);
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      path: `${base}/{tag}`,
      policy: adminOnly('create_project_tag'),
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
      policy: adminOnly('delete_project_tag'),
      handle: (context) => {
        const { id, tags } = mustHave(context);
        projects.update(id, { tags: tags.filter((each) => each !== context.param('tag')) });
        return { status: 204 };
      },
    },
  ];
}

/** Deletes a project with its tokens, role assignments and credentials. */
function removeProject(identity: Identity, id: string): void {
  for (const each of [...identity.tokens.by('project', id)]) identity.tokens.delete(each.id);
  for (const each of [...identity.assignments.by('project', id)]) identity.assignments.delete(each.id);
  for (const each of [...identity.applicationCredentials.by('project', id)]) {
    identity.applicationCredentials.delete(each.id);
  }
  identity.projects.delete(id);
}

/** Deletes a user with everything that depends on them. */
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

/** Filter of `tags`, `tags-any`, `not-tags` and `not-tags-any`. */
function tagFilter({ query }: RequestContext): (row: Readonly<Project>) => boolean {
  const given = (name: string): string[] | undefined => query.get(name)?.split(',');
  const [all, any, notAll, notAny] = ['tags', 'tags-any', 'not-tags', 'not-tags-any'].map(given);
  return ({ tags }) =>
    (!all || all.every((tag) => tags.includes(tag))) &&
    (!any || any.some((tag) => tags.includes(tag))) &&
    !notAll?.every((tag) => tags.includes(tag)) &&
    !notAny?.some((tag) => tags.includes(tag));
}

export function desiredDomain(identity: Identity, context: RequestContext, fields: Fields): string {
  const desired = optionalText(fields, 'domain_id') ?? context.caller.userDomainId;
  if (!identity.domains.has(desired)) throw notFound('domain', desired);
  return desired;
}
