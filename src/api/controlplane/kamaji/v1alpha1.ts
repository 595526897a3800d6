import { isJsonObject, type JsonObject } from '../../../machinery/index.ts';
import { type LenientChanges, lenient } from '../../kind/lenient.ts';
import { chain, field, fields, type Mapping } from '../../kind/mapping.ts';
import { once, type UntypedField } from '../../kind/schema.ts';
import { flag } from '../../kind/values.ts';
import { kamajiControlPlaneSpec, kamajiControlPlaneStatus, kamajiControlPlaneTemplateSpec } from './schema.ts';

/** Fields that later versions added, by path in the spec. */
const laterFields = (prefix: string): LenientChanges => ({
  without: ['gateway.sectionName', 'gateway.port', 'additionalServicePorts'].map((name) => `${prefix}network.${name}`),
});

export const kamajiControlPlaneSpecV1alpha1: () => UntypedField = once(() =>
  lenient(kamajiControlPlaneSpec(), laterFields('')),
);

export const kamajiControlPlaneTemplateSpecV1alpha1: () => UntypedField = once(() =>
  lenient(kamajiControlPlaneTemplateSpec(), laterFields('template.spec.')),
);

export const kamajiControlPlaneStatusV1alpha1: () => UntypedField = once(() =>
  lenient(kamajiControlPlaneStatus(), {
    without: ['initialization', 'availableReplicas', 'upToDateReplicas'],
    adding: {
      initialized: { type: 'boolean', description: 'True once the control plane has answered.' },
      unavailableReplicas: { type: 'integer', format: 'int32', description: 'Pods that are missing.' },
      updatedReplicas: { type: 'integer', format: 'int32', description: 'Pods that match the spec.' },
    },
  }),
);

/** v1alpha1 counts the missing replicas. */
const unavailable: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { unavailableReplicas, ...rest } = value;
    const { replicas } = rest;
    if (typeof unavailableReplicas !== 'number' || typeof replicas !== 'number') return rest;
    return { ...rest, availableReplicas: Math.max(0, replicas - unavailableReplicas) };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { availableReplicas, ...rest } = value;
    const { replicas } = rest;
    if (typeof availableReplicas !== 'number' || typeof replicas !== 'number') return rest;
    const result: JsonObject = { ...rest, unavailableReplicas: Math.max(0, replicas - availableReplicas) };
    return result;
  },
};

const status: Mapping = chain(
  fields(
    field('initialized', 'initialization.controlPlaneInitialized', flag),
    field('updatedReplicas', 'upToDateReplicas'),
  ),
  unavailable,
);

export const kamajiControlPlaneV1alpha1: Mapping = fields(field('status', 'status', status));
