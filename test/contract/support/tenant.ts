import { randomBytes } from 'node:crypto';
import { type CloudConfig, connect, type OpenStack } from '../../../src/openstack/index.ts';
import { sweep } from './sweep.ts';

/** A project with one member. */
export interface Tenant {
  readonly cloud: OpenStack;
  readonly projectId: string;
  readonly projectName: string;
  readonly userId: string;
  readonly config: CloudConfig;
  remove(): Promise<void>;
}

const memberRoles = ['member', 'reader', 'load-balancer_member'];

export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/** Sufficient for everything the tests create. */
const generous = {
  compute: {
    instances: 100,
    cores: 1000,
    ram: 10_000_000,
    key_pairs: 100,
    server_groups: 50,
    server_group_members: 50,
  },
  network: {
    network: 100,
    subnet: 100,
    port: 500,
    router: 50,
    floatingip: 50,
    security_group: 100,
    security_group_rule: 1000,
  },
  volume: { volumes: 100, gigabytes: 10_000, snapshots: 50 },
};

export async function createTenant(admin: OpenStack, prefix: string): Promise<Tenant> {
  const { service } = admin.identity;
  const name = uniqueName(prefix);
  const password = randomBytes(12).toString('base64url');
  const project = (await service.request({ method: 'POST', path: '/projects', json: { project: { name } } })).member(
    'project',
  );
  const projectId = String(project['id']);
  const user = (await service.request({ method: 'POST', path: '/users', json: { user: { name, password } } })).member(
    'user',
  );
  const userId = String(user['id']);
  for (const role of (await service.request({ method: 'GET', path: '/roles' })).members('roles')) {
    if (!memberRoles.includes(String(role['name']))) continue;
    const path = `/projects/${projectId}/users/${userId}/roles/${String(role['id'])}`;
    await service.request({ method: 'PUT', path });
  }
  await setQuotas(admin, projectId, generous);
  const config: CloudConfig = {
    ...admin.config,
    name,
    credential: { method: 'password', user: { id: userId }, password },
    scope: { kind: 'project', project: { id: projectId } },
  };
  const cloud = connect(config);
  return {
    cloud,
    projectId,
    projectName: name,
    userId,
    config,
    async remove() {
      await sweep(cloud);
      await service.request({ method: 'DELETE', path: `/users/${userId}` });
      await service.request({ method: 'DELETE', path: `/projects/${projectId}` });
    },
  };
}

export interface QuotaSpecs {
  compute?: Record<string, number>;
  network?: Record<string, number>;
  volume?: Record<string, number>;
  loadBalancer?: Record<string, number>;
}

/** Sets quotas, as administrator. */
export async function setQuotas(admin: OpenStack, projectId: string, specs: QuotaSpecs): Promise<void> {
  const put = { method: 'PUT' } as const;
  if (specs.compute) {
    const json = { quota_set: specs.compute };
    await admin.compute.service.request({ ...put, path: `/os-quota-sets/${projectId}`, json });
  }
  if (specs.network) {
    await admin.network.service.request({ ...put, path: `/quotas/${projectId}`, json: { quota: specs.network } });
  }
  if (specs.volume) {
    const json = { quota_set: specs.volume };
    await admin.volume.service.request({ ...put, path: `/os-quota-sets/${projectId}`, json });
  }
  if (specs.loadBalancer) {
    const json = { quota: specs.loadBalancer };
    await admin.loadBalancer.service.request({ ...put, path: `/lbaas/quotas/${projectId}`, json });
  }
}
