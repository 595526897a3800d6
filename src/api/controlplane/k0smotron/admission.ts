import type { ResourceStrategy } from '../../../machinery/index.ts';
import { k0smotronWarnings, validateK0smotronChange, validateK0smotronSpec } from '../../k0smotron/admission.ts';
import { validateChangedSpec } from '../../kind/strategy.ts';
import type { K0smotronControlPlane, K0smotronControlPlaneTemplate } from './types.ts';

const specOf = (object: K0smotronControlPlane): K0smotronControlPlane['spec'] => object.spec ?? {};

export const k0smotronControlPlaneStrategy: ResourceStrategy<K0smotronControlPlane> = {
  ...validateChangedSpec<K0smotronControlPlane>((object, old) => {
    const errors = validateK0smotronSpec(specOf(object), 'spec');
    if (old === undefined) return errors;
    const running = old.status?.version;
    return [...errors, ...validateK0smotronChange(specOf(object), specOf(old), running, 'spec')];
  }),
  warnings: (object) => k0smotronWarnings(specOf(object)),
};

export const k0smotronControlPlaneTemplateStrategy: ResourceStrategy<K0smotronControlPlaneTemplate> = {
  ...validateChangedSpec<K0smotronControlPlaneTemplate>((object) => {
    const { spec } = object;
    return validateK0smotronSpec(spec?.template?.spec ?? {}, 'spec.template.spec');
  }),
};
