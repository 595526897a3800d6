import type { ServiceClient } from '../http/service-client.ts';
import { type Images, images } from './images.ts';

/** Glance. */
export interface ImageService {
  /** for requests this client has no name for */
  readonly service: ServiceClient;
  readonly images: Images;
}

export function createImage(service: ServiceClient): ImageService {
  return { service, images: images(service) };
}
