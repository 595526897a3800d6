import { must } from '../../machinery/index.ts';
import type { Identity } from './identity.ts';

/** Default roles of a cloud. The last ones are octavia's. */
const roleNames: readonly string[] = [
  'admin',
  'member',
  'reader',
  'load-balancer_member',
  'load-balancer_admin',
  'load-balancer_observer',
  'load-balancer_global_observer',
  'load-balancer_quota_admin',
];

/** The first role implies the second. */
const implications: readonly (readonly [prior: string, implied: string])[] = [
  ['admin', 'member'],
  ['member', 'reader'],
];

/**
 * Creates what `keystone-manage bootstrap` creates: a domain, the roles, and an administrator in a project of its own.
 */
export function bootstrap(identity: Identity, adminPassword: string): { adminUserId: string; adminProjectId: string } {
  const { core } = identity;
  identity.domains.insert({ id: 'default', name: 'Default', description: 'The default domain', enabled: true });
  for (const name of roleNames) identity.roles.insert({ id: core.ids.hex(), name, description: '' });
  for (const [prior, implied] of implications) {
    identity.imply(
      must(identity.roles.first('name', prior), 'first').id,
      must(identity.roles.first('name', implied), 'first').id,
    );
  }
  const project = identity.projects.insert({
    id: core.ids.hex(),
    name: 'admin',
    domainId: 'default',
    parentId: 'default',
    description: 'Bootstrap project for initializing the cloud.',
    enabled: true,
    tags: [],
  });
  const user = identity.users.insert({
    id: core.ids.hex(),
    name: 'admin',
    domainId: 'default',
    description: undefined,
    email: undefined,
    defaultProjectId: undefined,
    enabled: true,
    passwordHash: identity.hash(adminPassword),
  });
  const admin = must(identity.roles.first('name', 'admin'), 'admin');
  identity.assignments.insert({
    id: `${user.id}/${project.id}/${admin.id}`,
    userId: user.id,
    roleId: admin.id,
    projectId: project.id,
    domainId: undefined,
    system: false,
  });
  identity.assignments.insert({
    id: `${user.id}/system/${admin.id}`,
    userId: user.id,
    roleId: admin.id,
    projectId: undefined,
    domainId: undefined,
    system: true,
  });
  return { adminUserId: user.id, adminProjectId: project.id };
}
