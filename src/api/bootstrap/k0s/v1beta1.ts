import { isJsonObject } from '../../../machinery/index.ts';
import { chain, field, fields, type Mapping } from '../../kind/mapping.ts';
import { flag } from '../../kind/values.ts';

/** In v1beta1, the presence of an Ignition configuration selects Ignition. */
const provisionerType: Mapping = {
  up(value) {
    if (!isJsonObject(value) || !isJsonObject(value['provisioner'])) return value;
    const { provisioner } = value;
    if (provisioner['ignition'] === undefined) return value;
    return { ...value, provisioner: { ...provisioner, type: 'ignition' } };
  },
  down(value) {
    if (!isJsonObject(value) || !isJsonObject(value['provisioner'])) return value;
    const { provisioner } = value;
    if (provisioner['type'] === 'ignition') return value;
    const { ignition: _, ...rest } = provisioner;
    return { ...value, provisioner: rest };
  },
};

const specMapping: Mapping = chain(
  fields(
    field('ignition', 'provisioner.ignition'),
    field('customUserDataRef', 'provisioner.customUserDataRef'),
    field('preStartCommands', 'preK0sCommands'),
    field('postStartCommands', 'postK0sCommands'),
  ),
  provisionerType,
);

export const k0sWorkerConfigV1beta1: Mapping = fields(
  field('spec', 'spec', specMapping),
  field('status', 'status', fields(field('ready', 'initialization.dataSecretCreated', flag))),
);

export const k0sWorkerConfigTemplateV1beta1: Mapping = fields(
  field('spec', 'spec', fields(field('template', 'template', fields(field('spec', 'spec', specMapping))))),
);
