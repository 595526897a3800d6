import { must } from '../../machinery/index.ts';
import type { CloudConfig } from '../config/cloud-config.ts';
import { type ServiceType, serviceTypeNames } from '../config/service-types.ts';
import { OpenStackError } from '../errors/openstack-error.ts';

export interface CatalogueEndpoint {
  readonly interface: string;
  readonly region: string | undefined;
  readonly url: string;
}

export interface CatalogueService {
  readonly type: string;
  readonly name: string;
  readonly endpoints: readonly CatalogueEndpoint[];
}

export type Catalogue = readonly CatalogueService[];

const projects: Readonly<Record<ServiceType, string>> = {
  identity: 'Keystone',
  compute: 'Nova',
  network: 'Neutron',
  image: 'Glance',
  volume: 'Cinder',
  'load-balancer': 'Octavia',
};

/**
 * Finds the URL of a service: an override in clouds.yaml, else the first catalogue endpoint with the wanted type,
 * interface and region.
 */
export function findEndpoint(
  catalogue: Catalogue,
  service: ServiceType,
  config: CloudConfig,
  { scoped }: { scoped: boolean },
): string {
  const settings = config.services[service];
  if (settings?.endpoint !== undefined) return settings.endpoint;
  const missing = (detail: string, cure: string): OpenStackError =>
    new OpenStackError({ kind: 'noService', service, detail, cure });
  const wantedTypes = settings?.serviceType === undefined ? serviceTypeNames[service] : [settings.serviceType];
  const services = catalogue.filter(
    ({ type, name }) =>
      wantedTypes.includes(type) && (settings?.serviceName === undefined || settings.serviceName === name),
  );
  if (services.length === 0) {
    if (catalogue.length === 0 && !scoped) {
      throw missing(
        `the token of cloud "${config.name}" is not scoped to a project, so it comes without a service catalogue`,
        'set project_name or project_id in clouds.yaml',
      );
    }
    throw missing(
      `cloud "${config.name}" has no ${service} service (${projects[service]}) in its catalogue`,
      `use a cloud that offers it, or set ${overrideKey(service)} if it is there but not listed`,
    );
  }
  const region = settings?.region ?? config.region;
  // The official type comes first, then older names; within one type the interfaces in order of preference.
  const ordered = wantedTypes.flatMap((type) => services.filter((candidate) => candidate.type === type));
  const interfaces = settings?.interfaces ?? config.interfaces;
  for (const wanted of interfaces) {
    for (const { endpoints } of ordered) {
      const found = endpoints.find(
        (endpoint) => endpoint.interface === wanted && (region === undefined || endpoint.region === region),
      );
      if (found) return found.url;
    }
  }
  const all = ordered.flatMap(({ endpoints }) => endpoints);
  const regions = unique(all.map((endpoint) => endpoint.region ?? ''));
  if (region !== undefined && !regions.includes(region)) {
    throw missing(
      `region "${region}" of cloud "${config.name}" has no ${service} service`,
      `set region_name to one of: ${regions.join(', ')}`,
    );
  }
  throw missing(
    `cloud "${config.name}" has no ${service} endpoint for interface ${interfaces.join(' or ')}`,
    `set interface to one of: ${unique(all.map((endpoint) => endpoint.interface)).join(', ')}`,
  );
}

export function overrideKey(service: ServiceType): string {
  return `${must(serviceTypeNames[service][0], 'the name of a service type').replaceAll('-', '_')}_endpoint_override`;
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)].filter((value) => value !== '').toSorted();
}
