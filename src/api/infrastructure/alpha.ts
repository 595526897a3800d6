import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import type { OldVersionSource } from '../kind/define.ts';
import { chain, field, fields, type Mapping } from '../kind/mapping.ts';
import { once } from '../kind/schema.ts';
import { alphaCluster } from './alpha-cluster.ts';
import { alphaMachine } from './alpha-machine.ts';
import {
  type Alpha,
  alphaClusterSpec,
  alphaClusterStatus,
  alphaMachineSpec,
  alphaMachineStatus,
  alphaMachineTemplateSpec,
} from './alpha-schema.ts';
import { openStackMachineTemplateStatusV1beta1 } from './machine-schema.ts';
import { openStackMachineTemplateV1beta1, openStackMachineV1beta1 } from './v1beta1.ts';

type AlphaSource = Pick<OldVersionSource, 'name' | 'deprecated' | 'spec' | 'status' | 'mapping' | 'hasStatus'>;

const alphas: readonly Alpha[] = [7, 6, 5, 4, 3];

/** Until v1alpha7, the id of the server is in the spec. */
const instanceId: Mapping = {
  up(value) {
    if (!isJsonObject(value) || !isJsonObject(value['spec'])) return value;
    const { instanceID, ...spec } = value['spec'];
    if (typeof instanceID !== 'string' || instanceID === '') return { ...value, spec };
    const status = isJsonObject(value['status']) ? value['status'] : {};
    return { ...value, spec, status: { ...status, instanceID } };
  },
  down(value) {
    if (!isJsonObject(value) || !isJsonObject(value['status'])) return value;
    const { instanceID, ...status } = value['status'];
    if (instanceID === undefined) return value;
    const spec: JsonObject = isJsonObject(value['spec']) ? value['spec'] : {};
    return { ...value, spec: { ...spec, instanceID }, status };
  },
};

const errorNames: Mapping = fields(
  field('status', 'status', fields(field('errorReason', 'failureReason'), field('errorMessage', 'failureMessage'))),
);

function statusOf(mapping: Mapping): Mapping {
  return {
    up: (value, context) => aside(value, (status) => mapping.up({ status }, context)),
    down: (value, context) => aside(value, (status) => mapping.down({ status }, context)),
  };
}

function aside(
  value: Parameters<Mapping['up']>[0],
  step: (status: JsonObject) => ReturnType<Mapping['up']>,
): ReturnType<Mapping['up']> {
  if (!isJsonObject(value) || !isJsonObject(value['status'])) return value;
  const result = step(value['status']);
  return isJsonObject(result) ? { ...value, status: result['status'] } : value;
}

export const openStackClusterAlphas: readonly AlphaSource[] = alphas.map((alpha) => ({
  name: `v1alpha${alpha}`,
  deprecated: true,
  spec: once(() => alphaClusterSpec(alpha)),
  status: once(() => alphaClusterStatus(alpha)),
  mapping: alphaCluster(alpha),
}));

export const openStackMachineAlphas: readonly AlphaSource[] = alphas.map((alpha) => ({
  name: `v1alpha${alpha}`,
  deprecated: true,
  spec: once(() => alphaMachineSpec(alpha)),
  status: once(() => alphaMachineStatus(alpha)),
  mapping: chain(
    instanceId,
    ...(alpha <= 4 ? [errorNames] : []),
    fields(field('spec', 'spec', alphaMachine(alpha))),
    statusOf(openStackMachineV1beta1),
  ),
}));

export const openStackMachineTemplateAlphas: readonly AlphaSource[] = alphas.map((alpha) => ({
  name: `v1alpha${alpha}`,
  deprecated: true,
  spec: once(() => alphaMachineTemplateSpec(alpha)),
  status: once(() => openStackMachineTemplateStatusV1beta1()),
  mapping: chain(
    fields(
      field('spec', 'spec', fields(field('template', 'template', fields(field('spec', 'spec', alphaMachine(alpha)))))),
    ),
    statusOf(openStackMachineTemplateV1beta1),
  ),
}));
