import { builtInAnnotation, type Deployment, Deployments } from '../../api/index.ts';
import type { AdmissionStep } from '../../apiserver/index.ts';
import { asTyped, deepEqual } from '../../machinery/index.ts';

/**
 * A manager installed over its placeholder Deployment has another selector, but selectors are immutable. So the
 * existing selector is kept, and its labels are added to the Pods.
 */
export const keptSelector: AdmissionStep = {
  name: 'BuiltInManagers',
  concerns: ({ group, plural }) => group === Deployments.group && plural === Deployments.plural,
  operations: ['UPDATE'],
  appliesTo: ({ subresource, oldObject }) =>
    subresource === undefined && oldObject?.metadata.annotations?.[builtInAnnotation] !== undefined,
  mutate({ object, oldObject }) {
    const spec = object && asTyped<Deployment>(object).spec;
    const selector = oldObject && asTyped<Deployment>(oldObject).spec?.selector;
    if (!spec?.template || !selector || deepEqual(spec.selector, selector)) return;
    spec.selector = structuredClone(selector);
    const { metadata = {} } = spec.template;
    spec.template.metadata = { ...metadata, labels: { ...metadata.labels, ...selector.matchLabels } };
  },
};
