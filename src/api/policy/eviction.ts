import type { JsonObject, KubeObject, ResourceDefinition } from '../../machinery/index.ts';
import { defineReview } from '../common/review.ts';

export interface Eviction extends KubeObject {
  deleteOptions?: JsonObject;
}

/** Body of pods/eviction. It is no resource of its own, so discovery does not list it. */
export const evictionDefinition: ResourceDefinition = defineReview<Eviction>({
  group: 'policy',
  kind: 'Eviction',
  plural: 'evictions',
  namespaced: true,
  component: 'io.k8s.api.policy.v1.Eviction',
});
