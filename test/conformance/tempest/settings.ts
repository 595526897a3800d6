import { ask, type CloudContent } from '../upstream/content.ts';

type Settings = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

/** Builds tempest.conf for a cloud: its endpoints, its features, and features it lacks. */
export async function tempestSettings(content: CloudContent, scratch: string): Promise<Settings> {
  const { clouds, wire, image, small, larger, external } = content;
  const { auth, region_name: region = 'RegionOne' } = clouds['admin']!;
  const { extensions } = await ask<{ extensions: { alias: string }[] }>(wire, 'network', 'GET', '/v2.0/extensions');
  const { images } = await ask<{ images: { id: string }[] }>(wire, 'image', 'GET', '/v2/images?status=active');
  return {
    DEFAULT: { log_file: `${scratch}/tempest.log`, debug: true },
    oslo_concurrency: { lock_path: `${scratch}/locks` },
    auth: {
      use_dynamic_credentials: true,
      create_isolated_networks: true,
      tempest_roles: 'member',
      admin_username: auth['username']!,
      admin_password: auth['password']!,
      admin_project_name: auth['project_name']!,
      admin_domain_name: auth['user_domain_name'] ?? 'Default',
    },
    identity: { uri_v3: auth['auth_url']!, auth_version: 'v3', region },
    'identity-feature-enabled': { application_credentials: true, access_rules: true, project_tags: true },
    compute: {
      image_ref: image.id,
      image_ref_alt: images.find(({ id }) => id !== image.id)?.id ?? image.id,
      flavor_ref: small.id,
      flavor_ref_alt: larger.id,
      min_compute_nodes: 2,
      max_microversion: await newestVersion(wire.endpoints.get('compute')!),
    },
    'compute-feature-enabled': {
      resize: true,
      volume_multiattach: true,
      // These need a screen, an agent in the guest, or a hypervisor.
      vnc_console: false,
      change_password: false,
      live_migration: false,
      attach_encrypted_volume: false,
    },
    network: { public_network_id: external.id, floating_network_name: external.name },
    'network-feature-enabled': { api_extensions: extensions.map(({ alias }) => alias).join(','), port_security: true },
    neutron_plugin_options: { available_type_drivers: 'geneve,vlan,flat,local' },
    volume: { catalog_type: 'volumev3', max_microversion: await newestVersion(wire.endpoints.get('volumev3')!) },
    'volume-feature-enabled': { backup: false, extend_attached_volume: true },
    'image-feature-enabled': { import_image: true, image_format_enforcement: false },
    service_available: { cinder: true, neutron: true, glance: true, nova: true, swift: false, horizon: false },
    // Servers cannot be reached.
    validation: { run_validation: false },
  };
}

async function newestVersion(endpoint: string): Promise<string> {
  const answer = await fetch(endpoint.replace(/\/v\d.*$/, '/'));
  const { versions } = (await answer.json()) as { versions: { version?: string }[] };
  return versions.map(({ version }) => version ?? '').findLast((version) => version !== '') ?? '';
}

/** Formats a configuration file for oslo.config. */
export function renderSettings(settings: Settings): string {
  return Object.entries(settings)
    .map(([section, values]) => {
      const lines = Object.entries(values).map(([name, value]) => `${name} = ${String(value).replaceAll('$', '$$$$')}`);
      return `[${section}]\n${lines.join('\n')}\n`;
    })
    .join('\n');
}
