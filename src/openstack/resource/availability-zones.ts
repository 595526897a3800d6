import type { JsonObject } from '../../machinery/index.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { flag, objectIf, text } from './read.ts';

export interface AvailabilityZone {
  readonly name: string;
  readonly available: boolean;
}

export interface AvailabilityZones {
  list(options?: CallOptions): Promise<AvailabilityZone[]>;
}

/** nova and cinder report their zones in the same format. */
export function availabilityZones(service: ServiceClient): AvailabilityZones {
  return {
    async list(options = {}) {
      const answer = await service.request({ method: 'GET', path: '/os-availability-zone', ...options });
      return answer.many('availabilityZoneInfo', parseZone);
    },
  };
}

function parseZone(value: JsonObject): AvailabilityZone {
  return {
    name: text(value, 'zoneName'),
    available: flag(objectIf(value, 'zoneState') ?? {}, 'available', { fallback: true }),
  };
}
