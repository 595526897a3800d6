import type { JsonObject } from '../../machinery/index.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Readable, readable } from '../resource/collection.ts';
import { flag, text, textOrEmpty } from '../resource/read.ts';

/* Load balancer options of a cloud: flavors, providers and availability zones. */

export interface LoadBalancerFlavor {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

export type LoadBalancerFlavors = Readable<LoadBalancerFlavor, { readonly name?: string | undefined }>;

export function loadBalancerFlavors(service: ServiceClient): LoadBalancerFlavors {
  return readable(service, {
    path: '/lbaas/flavors',
    one: 'flavor',
    many: 'flavors',
    parse: (value: JsonObject): LoadBalancerFlavor => ({
      id: text(value, 'id'),
      name: textOrEmpty(value, 'name'),
      description: textOrEmpty(value, 'description'),
      enabled: flag(value, 'enabled', { fallback: true }),
    }),
  });
}

/** A provider or zone; these have no ids. */
export interface Offer {
  readonly name: string;
  readonly description: string;
}

export async function listProviders(service: ServiceClient, options: CallOptions = {}): Promise<Offer[]> {
  const answer = await service.request({ method: 'GET', path: '/lbaas/providers', ...options });
  return answer.many('providers', parseOffer);
}

export async function listZones(service: ServiceClient, options: CallOptions = {}): Promise<Offer[]> {
  const answer = await service.request({ method: 'GET', path: '/lbaas/availabilityzones', ...options });
  return answer.many('availability_zones', parseOffer);
}

function parseOffer(value: JsonObject): Offer {
  return { name: text(value, 'name'), description: textOrEmpty(value, 'description') };
}
