import type { KubeObject } from '../../machinery/index.ts';
import type { PlaneFacts } from '../facts.ts';
import type { PlaneObjects } from '../result.ts';
import type { PlaneSpec } from '../spec.ts';
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
 * Builds the objects of a plane in the management API, as far as the facts allow. A phase whose facts are missing (API
 * endpoint, first etcd step) is empty, never partial. Phases are computed lazily, so that callers pay only for those
 * they use.
 */
export function planeObjects(desired: PlaneSpec, facts: PlaneFacts): PlaneObjects {
  const patched = (objects: readonly KubeObject[]): readonly KubeObject[] => withPatches(objects, desired.patches);
  return {
    get exposure() {
      return patched(exposureObjects(desired, facts));
    },
    get config() {
      return patched(configObjects(desired, facts));
    },
    get etcd() {
      return patched(etcdObjects(desired, facts));
    },
    get controlPlane() {
      return patched(controlPlaneObjects(desired, facts));
    },
    get routes() {
      return patched(routeObjects(desired, facts));
    },
    get policies() {
      return patched(policyObjects(desired));
    },
  };
}

function configObjects(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  if (desired.layout === 'k0s') return k0sConfigObjects(desired, facts);
  return [...kubeadmConfig(desired, facts), ...apiServerConfigs(desired), ...egressSelector(desired)];
}

function controlPlaneObjects(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  switch (desired.layout) {
    case 'k0s':
      return k0sObjects(desired, facts);
    case 'together':
      return togetherObjects(desired, facts);
    case 'hardened':
      return hardenedObjects(desired, facts);
  }
}
