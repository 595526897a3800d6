import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { chain, each, type FieldMapping, field, fields, type Mapping, place, valueAt } from '../kind/mapping.ts';
import { conditionMappings, durationSeconds, failureMappings, flag } from '../kind/values.ts';

/** `{b: 1, a: 2}` <-> `[{name: a, value: 2}, {name: b, value: 1}]`; of two entries with one name, the last one wins */
const argumentsMapping: Mapping = {
  up: (value) =>
    isJsonObject(value)
      ? Object.keys(value)
          .sort()
          .map((name) => ({ name, value: value[name] ?? '' }))
      : undefined,
  down(value) {
    if (!Array.isArray(value)) return undefined;
    const byName: JsonObject = {};
    for (const item of value) {
      if (isJsonObject(item) && typeof item['name'] === 'string') byName[item['name']] = item['value'] ?? '';
    }
    return byName;
  },
};

const withArguments: Mapping = fields(field('extraArgs', 'extraArgs', argumentsMapping));
const nodeRegistration: FieldMapping = field(
  'nodeRegistration',
  'nodeRegistration',
  fields(field('kubeletExtraArgs', 'kubeletExtraArgs', argumentsMapping)),
);

/** v1beta1 always has a layout, v1beta2 only when the partitions are not listed */
const partition: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { layout, ...rest } = value;
    const isListed = Array.isArray(rest['diskLayout']) && rest['diskLayout'].length > 0;
    return isListed || layout === undefined ? rest : { ...rest, layout };
  },
  down: (value) => (isJsonObject(value) ? { layout: false, ...value } : undefined),
};

const moved = {
  controlPlane: ['clusterConfiguration', 'apiServer', 'timeoutForControlPlane'],
  controlPlaneOfInit: ['initConfiguration', 'timeouts', 'controlPlaneComponentHealthCheckSeconds'],
  controlPlaneOfJoin: ['joinConfiguration', 'timeouts', 'controlPlaneComponentHealthCheckSeconds'],
  discovery: ['joinConfiguration', 'discovery', 'timeout'],
  tlsBootstrap: ['joinConfiguration', 'timeouts', 'tlsBootstrapSeconds'],
} as const;

/** Two timeouts have another place in v1beta1. v1beta2 has the control plane timeout twice. */
const timeouts: Mapping = {
  up(value, context) {
    if (!isJsonObject(value)) return undefined;
    const result: JsonObject = { ...value };
    const seconds = (path: readonly string[]): JsonValue | undefined => {
      const duration = valueAt(value, path);
      return duration === undefined ? undefined : durationSeconds.up(duration, context);
    };
    const controlPlane = seconds(moved.controlPlane);
    if (controlPlane !== undefined) {
      place(result, moved.controlPlaneOfInit, controlPlane);
      place(result, moved.controlPlaneOfJoin, controlPlane);
    }
    const discovery = seconds(moved.discovery);
    if (discovery !== undefined) place(result, moved.tlsBootstrap, discovery);
    return result;
  },
  down(value, context) {
    if (!isJsonObject(value)) return undefined;
    const result: JsonObject = { ...value };
    for (const name of ['initConfiguration', 'joinConfiguration']) {
      if (!isJsonObject(result[name])) continue;
      const { timeouts: _, ...rest } = result[name];
      if (Object.keys(rest).length > 0) result[name] = rest;
      else delete result[name];
    }
    const controlPlane = valueAt(value, moved.controlPlaneOfInit);
    if (controlPlane !== undefined) {
      place(result, moved.controlPlane, durationSeconds.down(controlPlane, context) ?? '');
    }
    const tlsBootstrap = valueAt(value, moved.tlsBootstrap);
    if (tlsBootstrap !== undefined) {
      place(result, moved.discovery, durationSeconds.down(tlsBootstrap, context) ?? '');
    }
    return result;
  },
};

/** Mapping of KubeadmConfigSpec, shared by all kinds that embed it. */
export const kubeadmConfigSpecMapping: Mapping = chain(
  timeouts,
  fields(
    field(
      'clusterConfiguration',
      'clusterConfiguration',
      fields(
        field('apiServer', 'apiServer', withArguments),
        field('controllerManager', 'controllerManager', withArguments),
        field('scheduler', 'scheduler', withArguments),
        field('etcd', 'etcd', fields(field('local', 'local', withArguments))),
      ),
    ),
    field(
      'initConfiguration',
      'initConfiguration',
      fields(
        nodeRegistration,
        field('bootstrapTokens', 'bootstrapTokens', each(fields(field('ttl', 'ttlSeconds', durationSeconds)))),
      ),
    ),
    field('joinConfiguration', 'joinConfiguration', fields(nodeRegistration)),
    field('diskSetup', 'diskSetup', fields(field('partitions', 'partitions', each(partition)))),
  ),
);

export const kubeadmConfigV1beta1: Mapping = fields(
  field('spec', 'spec', kubeadmConfigSpecMapping),
  field(
    'status',
    'status',
    fields(...conditionMappings, ...failureMappings, field('ready', 'initialization.dataSecretCreated', flag)),
  ),
);

export const kubeadmConfigTemplateV1beta1: Mapping = fields(
  field('spec', 'spec', fields(field('template', 'template', fields(field('spec', 'spec', kubeadmConfigSpecMapping))))),
);
