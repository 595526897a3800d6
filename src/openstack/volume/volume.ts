import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type AvailabilityZones, availabilityZones } from '../resource/availability-zones.ts';
import { parseQuotas, type Quotas } from '../resource/quotas.ts';
import { type VolumeTypes, volumeTypes } from './volume-types.ts';
import { type Volumes, volumes } from './volumes.ts';

/** Client for cinder. */
export interface VolumeService {
  /** for requests that have no method here */
  readonly service: ServiceClient;
  readonly volumes: Volumes;
  readonly types: VolumeTypes;
  readonly availabilityZones: AvailabilityZones;
  /** including usage */
  quotas(projectId: string, options?: CallOptions): Promise<Quotas>;
}

export function createVolume(service: ServiceClient): VolumeService {
  return {
    service,
    volumes: volumes(service),
    types: volumeTypes(service),
    availabilityZones: availabilityZones(service),
    async quotas(projectId, options = {}) {
      const path = `/os-quota-sets/${segment(projectId)}`;
      const answer = await service.request({ method: 'GET', path, query: { usage: 'True' }, ...options });
      return answer.one('quota_set', parseQuotas);
    },
  };
}
