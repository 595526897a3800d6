import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { baseUrl, type Layout } from '../layout.ts';
import { expectOk, logIn, type Rest } from '../rest.ts';
import type { AmphoraResources } from '../settings/load-balancer.ts';
import { externalPhysicalNetwork } from '../settings/network.ts';
import { administrator, member } from './identity.ts';

interface Named {
  id: string;
  name: string;
}

/** Root disk 0, as in the SCS standard: members must boot from a volume. */
const flavors = [
  { name: 'm1.small', vcpus: 1, ram: 2048, disk: 20 },
  { name: 'm1.medium', vcpus: 2, ram: 4096, disk: 40 },
  { name: 'SCS-2V-4', vcpus: 2, ram: 4096, disk: 0 },
  { name: 'SCS-2V-4-20s', vcpus: 2, ram: 4096, disk: 20 },
  { name: 'SCS-2V-8', vcpus: 2, ram: 8192, disk: 0 },
  { name: 'SCS-4V-8-20', vcpus: 4, ram: 8192, disk: 20 },
];
const amphoraFlavor = { name: 'amphora', vcpus: 1, ram: 1024, disk: 2, 'os-flavor-access:is_public': false };

/** Creates flavors, images, networks, quotas and zones through the APIs. Idempotent. */
export async function seedResources(layout: Layout): Promise<AmphoraResources> {
  const rest = await logIn(layout, administrator);
  const projects = await projectIds(layout, rest);
  const compute = `${baseUrl(layout, 'compute')}/v2.1`;
  for (const flavor of flavors) await ensureFlavor(rest, compute, flavor);
  const amphora = await ensureFlavor(rest, compute, amphoraFlavor);
  await ensureImages(layout, rest, projects.service);
  const network = `${baseUrl(layout, 'network')}/v2.0`;
  await ensureExternalNetwork(rest, network);
  const management = await ensureManagementNetwork(rest, network, projects.service);
  await liftQuotas(layout, rest, projects);
  await ensureZones(layout, rest, compute);
  return { ...management, flavor: amphora, imageOwner: projects.service };
}

interface Projects {
  readonly service: string;
  readonly member: string;
}

async function projectIds(layout: Layout, rest: Rest): Promise<Projects> {
  const id = async (name: string): Promise<string> => {
    const { projects } = await expectOk<{ projects: Named[] }>(
      rest('GET', `${baseUrl(layout, 'identity')}/v3/projects?name=${name}`),
      `looking for project ${name}`,
    );
    return projects[0]!.id;
  };
  return { service: await id('service'), member: await id(member.project) };
}

async function ensureFlavor(rest: Rest, compute: string, flavor: { name: string }): Promise<string> {
  const list = await expectOk<{ flavors: Named[] }>(
    rest('GET', `${compute}/flavors?is_public=None`),
    'listing flavors',
  );
  const found = list.flavors.find((each) => each.name === flavor.name);
  if (found) return found.id;
  const made = await expectOk<{ flavor: Named }>(
    rest('POST', `${compute}/flavors`, { flavor }),
    `making flavor ${flavor.name}`,
  );
  return made.flavor.id;
}

async function ensureImages(layout: Layout, rest: Rest, serviceProject: string): Promise<void> {
  const url = `${baseUrl(layout, 'image')}/v2/images`;
  const common = {
    disk_format: 'qcow2',
    container_format: 'bare',
    architecture: 'x86_64',
    os_distro: 'ubuntu',
    visibility: 'public',
  };
  const wanted = [
    { ...common, name: 'ubuntu-22.04-x86_64' },
    { ...common, name: 'ubuntu-capi-image-v1.33.6' },
    { ...common, name: 'amphora-x64-haproxy', tags: ['amphora'], visibility: 'private', owner: serviceProject },
  ];
  let content: Uint8Array | undefined;
  for (const image of wanted) {
    const { images } = await expectOk<{ images: (Named & { status: string })[] }>(
      rest('GET', `${url}?name=${image.name}`),
      `looking for image ${image.name}`,
    );
    if (images.some((each) => each.status === 'active')) continue;
    for (const broken of images) await rest('DELETE', `${url}/${broken.id}`);
    content ??= await emptyDisk();
    const { id } = await expectOk<Named>(rest('POST', url, image), `making image ${image.name}`);
    await expectOk(rest('PUT', `${url}/${id}/file`, content), `uploading image ${image.name}`);
  }
}

async function emptyDisk(): Promise<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), 'real-openstack-'));
  try {
    const file = join(directory, 'empty.qcow2');
    await promisify(execFile)('qemu-img', ['create', '-q', '-f', 'qcow2', file, '1G']);
    return await readFile(file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function ensureNamed<T extends object>(rest: Rest, url: string, kind: string, wanted: T & { name: string }) {
  const list = await expectOk<Record<string, Named[]>>(
    rest('GET', `${url}/${kind}s?name=${encodeURIComponent(wanted.name)}`),
    `looking for ${kind} ${wanted.name}`,
  );
  const found = list[`${kind}s`]![0];
  if (found) return found.id;
  const made = await expectOk<Record<string, Named>>(
    rest('POST', `${url}/${kind}s`, { [kind]: wanted }),
    `making ${kind} ${wanted.name}`,
  );
  return made[kind]!.id;
}

async function ensureExternalNetwork(rest: Rest, network: string): Promise<void> {
  const id = await ensureNamed(rest, network, 'network', {
    name: 'public',
    'router:external': true,
    'provider:network_type': 'flat',
    'provider:physical_network': externalPhysicalNetwork,
  });
  await ensureNamed(rest, network, 'subnet', {
    name: 'public-subnet',
    network_id: id,
    ip_version: 4,
    cidr: '203.0.113.0/24',
    gateway_ip: '203.0.113.1',
    enable_dhcp: false,
    allocation_pools: [{ start: '203.0.113.10', end: '203.0.113.250' }],
  });
}

async function ensureManagementNetwork(
  rest: Rest,
  network: string,
  project: string,
): Promise<Pick<AmphoraResources, 'managementNetwork' | 'securityGroup'>> {
  const owner = { project_id: project };
  const id = await ensureNamed(rest, network, 'network', { name: 'lb-mgmt-net', ...owner });
  await ensureNamed(rest, network, 'subnet', {
    name: 'lb-mgmt-subnet',
    network_id: id,
    ip_version: 4,
    cidr: '172.31.0.0/16',
    gateway_ip: null,
    ...owner,
  });
  // Neutron uses security-groups in paths and security_groups in bodies.
  const { security_groups: groups } = await expectOk<{ security_groups: Named[] }>(
    rest('GET', `${network}/security-groups?name=lb-mgmt-sec-grp`),
    'looking for the amphora group',
  );
  if (groups[0]) return { managementNetwork: id, securityGroup: groups[0].id };
  const { security_group: group } = await expectOk<{ security_group: Named }>(
    rest('POST', `${network}/security-groups`, { security_group: { name: 'lb-mgmt-sec-grp', ...owner } }),
    'making the amphora group',
  );
  return { managementNetwork: id, securityGroup: group.id };
}

/** Octavia must never exceed a quota. The member's quota is the same on every machine. */
async function liftQuotas(layout: Layout, rest: Rest, { service, member: project }: Projects): Promise<void> {
  const compute = `${baseUrl(layout, 'compute')}/v2.1/os-quota-sets`;
  const network = `${baseUrl(layout, 'network')}/v2.0/quotas`;
  const unlimited = (names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, -1]));
  const set = (url: string, key: string, values: object): Promise<unknown> =>
    expectOk(rest('PUT', url, { [key]: values }), `setting ${url}`);
  await set(`${compute}/${service}`, 'quota_set', unlimited(['instances', 'cores', 'ram', 'server_groups']));
  await set(
    `${network}/${service}`,
    'quota',
    unlimited(['network', 'subnet', 'port', 'security_group', 'security_group_rule']),
  );
  await set(`${network}/${project}`, 'quota', { floatingip: 240 });
}

/** Puts hosts into zones other than `nova` with aggregates, once their daemons have reported. */
async function ensureZones(layout: Layout, rest: Rest, compute: string): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const { services } = await expectOk<{ services: { host: string; state: string }[] }>(
      rest('GET', `${compute}/os-services?binary=nova-compute`),
      'listing compute hosts',
    );
    const up = new Set(services.filter(({ state }) => state === 'up').map(({ host }) => host));
    const missing = layout.hosts.filter(({ name }) => !up.has(name));
    if (missing.length === 0) break;
    if (performance.now() > deadline) {
      throw new Error(`compute hosts have not reported: ${missing.map(({ name }) => name).join(', ')}`);
    }
    await delay(1_000);
  }
  const { aggregates } = await expectOk<{ aggregates: { id: number; name: string; hosts: string[] }[] }>(
    rest('GET', `${compute}/os-aggregates`),
    'listing aggregates',
  );
  for (const { name, zone } of layout.hosts.filter((host) => host.zone !== 'nova')) {
    let aggregate = aggregates.find((each) => each.name === zone);
    if (!aggregate) {
      const made = await expectOk<{ aggregate: { id: number; name: string } }>(
        rest('POST', `${compute}/os-aggregates`, { aggregate: { name: zone, availability_zone: zone } }),
        `making zone ${zone}`,
      );
      aggregate = { ...made.aggregate, hosts: [] };
      aggregates.push(aggregate);
    }
    if (aggregate.hosts.includes(name)) continue;
    await expectOk(
      rest('POST', `${compute}/os-aggregates/${aggregate.id}/action`, { add_host: { host: name } }),
      `putting ${name} into zone ${zone}`,
    );
    aggregate.hosts.push(name);
  }
}
