import type { ServiceClient } from '../http/service-client.ts';
import { type Images, images } from './images.ts';

/** Client for glance. */
export interface ImageService {
  /** for requests that have no method here */
  readonly service: ServiceClient;
  readonly images: Images;
}

export function createImage(service: ServiceClient): ImageService {
  return { service, images: images(service) };
}
