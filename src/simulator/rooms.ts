import { computeRoom } from './compute/index.ts';
import type { Room } from './core/room.ts';
import { identityRoom } from './identity/index.ts';
import { imageRoom } from './image/index.ts';
import { loadBalancerRoom } from './loadbalancer/index.ts';
import { networkRoom } from './network/index.ts';
import { placementRoom } from './placement/index.ts';
import { volumeRoom } from './volume/index.ts';

/** All services, in the order of the catalogue. */
export const rooms: readonly Room[] = [
  identityRoom,
  computeRoom,
  networkRoom,
  imageRoom,
  volumeRoom,
  loadBalancerRoom,
  placementRoom,
];
