import type { RunningMachine } from '../types.ts';

/** Builds the contents of openstack/latest/meta_data.json. */
export function openstackMetadata({ server, hostname }: RunningMachine): Record<string, unknown> {
  return {
    uuid: server.id,
    name: server.name,
    hostname,
    launch_index: 0,
    availability_zone: server.availabilityZone,
    project_id: server.projectId,
    ...(Object.keys(server.metadata).length > 0 && { meta: { ...server.metadata } }),
    ...(server.keyPair && {
      public_keys: { [server.keyPair.name]: server.keyPair.publicKey },
      keys: [{ name: server.keyPair.name, type: 'ssh', data: server.keyPair.publicKey }],
    }),
    devices: [],
    dedicated_cpus: [],
  };
}

/** Builds the variables that cloud-init offers to jinja templates in user data. */
export function instanceData(machine: RunningMachine): Record<string, unknown> {
  const { server, hostname } = machine;
  const metadata = {
    ...openstackMetadata(machine),
    'instance-id': server.id,
    instance_id: server.id,
    'local-hostname': hostname,
    local_hostname: hostname,
  };
  const v1 = {
    availability_zone: server.availabilityZone,
    cloud_id: 'openstack',
    cloud_name: 'openstack',
    distro: server.image?.properties['os_distro'] ?? 'ubuntu',
    distro_version: server.image?.properties['os_version'] ?? '22.04',
    instance_id: server.id,
    local_hostname: hostname,
    machine: 'x86_64',
    platform: 'openstack',
    public_ssh_keys: server.keyPair ? [server.keyPair.publicKey] : [],
    region: null,
    subplatform: server.configDrive ? 'config-disk (/dev/sr0)' : 'metadata (http://169.254.169.254)',
    userdata: '',
  };
  // Keys of v1 are also available without the prefix.
  return { ...v1, v1, ds: { meta_data: metadata }, instance_data: { v1 } };
}

/** Returns the answer of the metadata service; undefined means 404. */
export function metadataAnswer(machine: RunningMachine, path: string): string | undefined {
  const { server, hostname, addresses } = machine;
  if (/^\/openstack\/[^/]+\/meta_data\.json$/.test(path)) return JSON.stringify(openstackMetadata(machine));
  if (/^\/openstack\/[^/]+\/user_data$/.test(path) || /^\/[^/]+\/user-data$/.test(path)) {
    return server.userData && Buffer.from(server.userData).toString();
  }
  const key = /^\/[^/]+\/meta-data\/(.+?)\/?$/.exec(path)?.[1];
  const floating = server.interfaces.flatMap(({ floatingIps }) => floatingIps.map(({ address }) => address));
  const known: Readonly<Record<string, string | undefined>> = {
    'instance-id': `i-${server.id.replaceAll('-', '').slice(0, 8)}`,
    hostname,
    'local-hostname': hostname,
    'local-ipv4': addresses[0],
    'public-ipv4': floating[0] ?? '',
    'placement/availability-zone': server.availabilityZone,
  };
  return key === undefined ? undefined : known[key];
}
