import type { JsonObject, JsonValue } from '../../machinery/index.ts';
import type { ServiceSettings } from './cloud-config.ts';
import { settingText } from './merge.ts';
import { type ServiceType, serviceTypeNames, serviceTypes } from './service-types.ts';

/** Reads settings with a service prefix, such as `compute_endpoint_override` or `volumev3_region_name`. */
export function readServices(settings: JsonObject): Partial<Record<ServiceType, ServiceSettings>> {
  const services: Partial<Record<ServiceType, ServiceSettings>> = {};
  for (const type of serviceTypes) {
    const find = (key: string): JsonValue | undefined => {
      for (const name of serviceTypeNames[type]) {
        const value = settings[`${name.replaceAll('-', '_')}_${key}`];
        if (value !== undefined && value !== null) return value;
      }
      return undefined;
    };
    const interfaces = readInterfaces(find('interface'));
    const service: ServiceSettings = {
      endpoint: settingText(find('endpoint_override')) ?? settingText(find('endpoint')),
      region: settingText(find('region_name')),
      ...(interfaces && { interfaces }),
      serviceType: settingText(find('service_type')),
      serviceName: settingText(find('service_name')),
      microversion: settingText(find('default_microversion')) ?? impliedMicroversion(settingText(find('api_version'))),
    };
    if (Object.values(service).some((value) => value !== undefined)) services[type] = service;
  }
  return services;
}

/** `2.60` selects a microversion; `2` and the old `2.0` do not. */
function impliedMicroversion(version: string | undefined): string | undefined {
  return version !== undefined && /^\d+\.[1-9]\d*$/.test(version) ? version : undefined;
}

/** Reads `public`, the old `publicURL`, or a list in order of preference. */
export function readInterfaces(value: JsonValue | undefined): string[] | undefined {
  const names = Array.isArray(value) ? value.map(settingText) : [settingText(value)];
  const known = names.flatMap((name) => (name ? [name.replace(/URL$/, '')] : []));
  return known.length === 0 ? undefined : known;
}
