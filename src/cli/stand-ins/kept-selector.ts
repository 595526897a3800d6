import { builtInAnnotation, type Deployment, Deployments } from '../../api/index.ts';
import type { AdmissionStep } from '../../apiserver/index.ts';
import { asTyped, deepEqual } from '../../machinery/index.ts';

/**
 * Whoever installs a manager over the Deployment that stands for it brings another selector, and selectors cannot change: the one
 * that is there stays, and the Pods get its labels as well.
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
