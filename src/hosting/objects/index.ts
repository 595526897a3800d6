import type { KubeObject } from '../../machinery/index.ts';
import type { PlaneFacts } from '../facts.ts';
import type { PlaneObjects } from '../result.ts';
import type { PlaneWish } from '../wish.ts';
import { apiServerConfigs } from './components.ts';
import { etcdObjects } from './etcd.ts';
import { exposureObjects, routeObjects } from './exposure.ts';
import { hardenedObjects } from './hardened.ts';
import { k0sConfigObjects, k0sObjects } from './k0s.ts';
import { egressSelector } from './konnectivity.ts';
import { kubeadmConfig } from './kubeadm-config.ts';
import { withPatches } from './patches.ts';
import { policyObjects } from './policies.ts';
import { togetherObjects } from './together.ts';

/**
 * The objects of a plane on the management API, as far as they can be said now. A phase that still waits for a fact (the address
 * of the API, the first step of etcd) is empty; it never holds half of what belongs together. Phases are computed when they are
 * asked for: whoever works on one does not pay for the others.
 */
export function planeObjects(wish: PlaneWish, facts: PlaneFacts): PlaneObjects {
  const patched = (objects: readonly KubeObject[]): readonly KubeObject[] => withPatches(objects, wish.patches);
  return {
    get exposure() {
      return patched(exposureObjects(wish, facts));
    },
    get config() {
      return patched(configObjects(wish, facts));
    },
    get etcd() {
      return patched(etcdObjects(wish, facts));
    },
    get controlPlane() {
      return patched(controlPlaneObjects(wish, facts));
    },
    get routes() {
      return patched(routeObjects(wish, facts));
    },
    get policies() {
      return patched(policyObjects(wish));
    },
  };
}

function configObjects(wish: PlaneWish, facts: PlaneFacts): KubeObject[] {
  if (wish.layout === 'k0s') return k0sConfigObjects(wish, facts);
  return [...kubeadmConfig(wish, facts), ...apiServerConfigs(wish), ...egressSelector(wish)];
}

function controlPlaneObjects(wish: PlaneWish, facts: PlaneFacts): KubeObject[] {
  switch (wish.layout) {
    case 'k0s':
      return k0sObjects(wish, facts);
    case 'together':
      return togetherObjects(wish, facts);
    case 'hardened':
      return hardenedObjects(wish, facts);
  }
}
