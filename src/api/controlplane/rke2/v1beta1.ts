import { isJsonObject, type JsonObject } from '../../../machinery/index.ts';
import { chain, field, fields, type Mapping } from '../../kind/mapping.ts';
import { planeMachineTemplateV1beta1, planeStatusV1beta1 } from '../v1beta1.ts';

/** Early manifests set these fields in the spec. The machine template wins where it sets them, too. */
const oncePlaced: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { infrastructureRef, nodeDrainTimeout, ...rest } = value;
    const former: JsonObject = {
      ...(infrastructureRef !== undefined && { infrastructureRef }),
      ...(nodeDrainTimeout !== undefined && { nodeDrainTimeout }),
    };
    if (Object.keys(former).length === 0) return rest;
    const { machineTemplate } = rest;
    return { ...rest, machineTemplate: { ...former, ...(isJsonObject(machineTemplate) ? machineTemplate : {}) } };
  },
  down: (value) => value,
};

const spec: Mapping = chain(
  oncePlaced,
  fields(field('machineTemplate', 'machineTemplate', planeMachineTemplateV1beta1)),
);

export const rke2ControlPlaneV1beta1: Mapping = fields(
  field('spec', 'spec', spec),
  field('status', 'status', planeStatusV1beta1),
);

export const rke2ControlPlaneTemplateV1beta1: Mapping = fields(
  field('spec', 'spec', fields(field('template', 'template', fields(field('spec', 'spec', spec))))),
);
