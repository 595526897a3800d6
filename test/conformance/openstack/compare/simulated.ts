import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { seededRandom, systemClock } from '../../../../src/machinery/index.ts';
import { createCloud } from '../../../../src/simulator/index.ts';
import { connectWire } from './wire.ts';

export interface SimulatedTarget {
  readonly cloudsYaml: string;
  stop(): Promise<void>;
}

const password = 'compare';

/** Starts a simulated cloud with the contents of the real one that scenarios rely on. */
export async function startSimulated(): Promise<SimulatedTarget> {
  const cloud = await createCloud({
    clock: systemClock,
    random: seededRandom(1),
    adminPassword: password,
    onError: (error, what) =>
      process.stderr.write(`the simulated cloud failed: ${what}: ${String((error as Error).stack)}\n`),
  });
  const listener = await cloud.listen({ host: '127.0.0.1', port: 0 });
  const directory = await mkdtemp(join(tmpdir(), 'capstan-compare-'));
  const cloudsYaml = join(directory, 'clouds.yaml');
  const entry = (user: string, project: string): object => ({
    auth: {
      auth_url: `${listener.url}/identity/v3`,
      username: user,
      password,
      project_name: project,
      user_domain_name: 'Default',
      project_domain_name: 'Default',
    },
    region_name: 'RegionOne',
  });
  await writeFile(
    cloudsYaml,
    stringify({ clouds: { openstack: entry('admin', 'admin'), admin: entry('admin', 'admin') } }),
  );
  await seed(cloudsYaml);
  await writeFile(
    cloudsYaml,
    stringify({ clouds: { openstack: entry('member', 'member'), admin: entry('admin', 'admin') } }),
  );
  return {
    cloudsYaml,
    async stop() {
      await cloud.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function seed(cloudsYaml: string): Promise<void> {
  const wire = await connectWire('simulated', cloudsYaml);
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  const must = async (service: string, method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await wire.send({ as: 'admin', service, method, path, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { project } = await must('identity', 'POST', '/projects', { project: { name: 'member' } });
  const { user } = await must('identity', 'POST', '/users', { user: { name: 'member', password } });
  const { roles } = await must('identity', 'GET', '/roles');
  for (const { id, name } of roles) {
    if (!['member', 'reader', 'load-balancer_member'].includes(name)) continue;
    await must('identity', 'PUT', `/projects/${project.id}/users/${user.id}/roles/${id}`);
  }
  await must('network', 'PUT', `/v2.0/quotas/${project.id}`, {
    quota: {
      network: 500,
      subnet: 500,
      port: 5000,
      router: 500,
      floatingip: 240,
      security_group: 1000,
      security_group_rule: 10_000,
    },
  });
  const { network } = await must('network', 'POST', '/v2.0/networks', {
    network: {
      name: 'public',
      'router:external': true,
      'provider:network_type': 'flat',
      'provider:physical_network': 'public',
    },
  });
  await must('network', 'POST', '/v2.0/subnets', {
    subnet: {
      name: 'public-subnet',
      network_id: network.id,
      ip_version: 4,
      cidr: '203.0.113.0/24',
      gateway_ip: '203.0.113.1',
      enable_dhcp: false,
      allocation_pools: [{ start: '203.0.113.10', end: '203.0.113.250' }],
    },
  });
}
