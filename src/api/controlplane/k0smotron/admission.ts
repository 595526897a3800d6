import type { ResourceStrategy, UnstructuredObject } from '../../../machinery/index.ts';
import { k0smotronWarnings, validateK0smotronChange, validateK0smotronSpec } from '../../k0smotron/admission.ts';
import { validateChangedSpec } from '../../kind/strategy.ts';
import type { K0smotronControlPlane, K0smotronControlPlaneTemplate } from './types.ts';

const asControlPlane = (object: UnstructuredObject): K0smotronControlPlane =>
  object as unknown as K0smotronControlPlane;
const specOf = (object: UnstructuredObject): K0smotronControlPlane['spec'] => asControlPlane(object).spec ?? {};

export const k0smotronControlPlaneStrategy: ResourceStrategy = {
  ...validateChangedSpec((object, old) => {
    const errors = validateK0smotronSpec(specOf(object), 'spec');
    if (old === undefined) return errors;
    const running = asControlPlane(old).status?.version;
    return [...errors, ...validateK0smotronChange(specOf(object), specOf(old), running, 'spec')];
  }),
  warnings: (object) => k0smotronWarnings(specOf(object)),
};

export const k0smotronControlPlaneTemplateStrategy: ResourceStrategy = {
  ...validateChangedSpec((object) => {
    const { spec } = object as unknown as K0smotronControlPlaneTemplate;
    return validateK0smotronSpec(spec?.template?.spec ?? {}, 'spec.template.spec');
  }),
};
