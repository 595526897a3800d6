import type { JsonObject, KubeObject, ResourceDefinition } from '../../machinery/index.ts';
import { defineReview } from '../common/review.ts';

export interface Eviction extends KubeObject {
  deleteOptions?: JsonObject;
}

/** The body of pods/eviction; not a resource of its own, hence not in discovery. */
export const evictionDefinition: ResourceDefinition = defineReview<Eviction>({
  group: 'policy',
  kind: 'Eviction',
  plural: 'evictions',
  namespaced: true,
  component: 'io.k8s.api.policy.v1.Eviction',
});
