import { stringify } from 'yaml';
import { ask, type CloudContent, type CloudEntry } from '../upstream/content.ts';

/** Entries of clouds.yaml that the tests expect, and the resources created for them. */
export interface SdkClouds {
  readonly cloudsYaml: string;
  /** removes everything created for the tests */
  clear(): Promise<void>;
}

/** Unique per run. */
const otherName = `openstacksdk-${process.pid}`;

/**
 * Writes a clouds.yaml like devstack: an administrator with project scope, the same with system scope, a member, and a
 * member of another project, which is created here.
 */
export async function prepareClouds({ clouds, wire, image, small }: CloudContent): Promise<SdkClouds> {
  const admin = clouds['admin']!;
  const member = clouds['openstack']!;
  // Some catalogues contain the version in the endpoint, some do not.
  const v3 = wire.endpoints.get('identity')?.endsWith('/v3') ? '' : '/v3';
  const { users } = await ask<{ users: { domain_id: string }[] }>(wire, 'identity', 'GET', `${v3}/users?name=admin`);
  const domain_id = users[0]?.domain_id ?? 'default';
  const { roles } = await ask<{ roles: { id: string }[] }>(wire, 'identity', 'GET', `${v3}/roles?name=member`);
  const { project } = await ask<{ project: { id: string } }>(wire, 'identity', 'POST', `${v3}/projects`, {
    project: { name: otherName, domain_id },
  });
  const { user } = await ask<{ user: { id: string } }>(wire, 'identity', 'POST', `${v3}/users`, {
    user: { name: otherName, password: otherName, domain_id, default_project_id: project.id },
  });
  await ask(wire, 'identity', 'PUT', `${v3}/projects/${project.id}/users/${user.id}/roles/${roles[0]!.id}`);
  const { project_name: _name, project_id: _id, ...adminOfAll } = admin.auth;
  const { project_id: _memberId, ...memberAuth } = member.auth;
  const entries: Record<string, CloudEntry & { auth: object }> = {
    'devstack-admin': admin,
    'devstack-system-admin': { ...admin, auth: { ...adminOfAll, system_scope: 'all' } },
    devstack: member,
    'devstack-alt': {
      ...member,
      auth: { ...memberAuth, username: otherName, password: otherName, project_name: otherName },
    },
  };
  return {
    cloudsYaml: stringify({ clouds: entries, functional: { image_name: image.name, flavor_name: small.name } }),
    async clear() {
      await wire.send({ as: 'admin', service: 'identity', method: 'DELETE', path: `${v3}/users/${user.id}` });
      await wire.send({ as: 'admin', service: 'identity', method: 'DELETE', path: `${v3}/projects/${project.id}` });
    },
  };
}
