/** OpenStack services that Capstan uses. */
export type ServiceType = 'identity' | 'compute' | 'network' | 'image' | 'volume' | 'load-balancer';

export const serviceTypes: readonly ServiceType[] = [
  'identity',
  'compute',
  'network',
  'image',
  'volume',
  'load-balancer',
];

/** Names of a service in catalogues and in clouds.yaml, the official one first. */
export const serviceTypeNames: Readonly<Record<ServiceType, readonly string[]>> = {
  identity: ['identity'],
  compute: ['compute'],
  network: ['network'],
  image: ['image'],
  volume: ['block-storage', 'volumev3', 'volumev2', 'volume', 'block-store'],
  'load-balancer': ['load-balancer'],
};
