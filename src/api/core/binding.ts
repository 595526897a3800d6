import { fieldError, type KubeObject, type ResourceDefinition } from '../../machinery/index.ts';
import { defineReview } from '../common/review.ts';
import { notSupported } from '../common/validation.ts';
import type { ObjectReference } from './event.ts';

/** Binds a pod to a node; also the body of pods/binding. */
export interface Binding extends KubeObject {
  target: ObjectReference;
}

export const bindingDefinition: ResourceDefinition = defineReview<Binding>({
  group: '',
  kind: 'Binding',
  plural: 'bindings',
  namespaced: true,
  component: 'io.k8s.api.core.v1.Binding',
  validateCreate(binding) {
    const { kind = '', name = '' } = binding.target ?? {};
    return [
      ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
      ...(name === '' ? [fieldError.required('target.name')] : []),
    ];
  },
});
