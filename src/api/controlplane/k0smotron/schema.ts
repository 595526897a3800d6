import {
  embeddedMetadata,
  k0smotronClusterSpec,
  k0smotronClusterSpecV1beta1,
  plainConditions,
} from '../../k0smotron/schema.ts';
import { boolean, type Field, int32, object, once, string, type UntypedField } from '../../kind/schema.ts';
import type { K0smotronControlPlaneStatus, K0smotronControlPlaneTemplateSpec } from './types.ts';

const beforeTheFirstPass = (type: string) => ({
  lastTransitionTime: '1970-01-01T00:00:00Z',
  message: 'Waiting for cluster topology to be reconciled',
  reason: 'ControlPlaneDoesNotExist',
  status: 'Unknown',
  type,
});

const sharedFields = () => ({
  conditions: plainConditions(),
  externalManagedControlPlane: boolean('Always true: the control plane has no machines.'),
  readyReplicas: int32('Controllers that are ready.'),
  replicas: int32('Controllers that exist.'),
  selector: string('Selector of the pods as text, for the scale subresource.'),
  version: string('Lowest version of k0s among the controllers.'),
});
const initialized = () => ({
  controlPlaneInitialized: boolean('True once the control plane has answered; never becomes false again.'),
});

export const k0smotronControlPlaneStatus: () => Field<K0smotronControlPlaneStatus> = once(() =>
  object(
    {
      ...sharedFields(),
      availableReplicas: int32('Controllers that are available.'),
      initialization: object(initialized(), 'Progress of the first provisioning.', { minProperties: 1 }),
      upToDateReplicas: int32('Controllers that match the spec.'),
    },
    'Observed state.',
  ).default({
    conditions: [beforeTheFirstPass('Available')],
    initialization: { controlPlaneInitialized: false },
    version: '',
  }),
);

export const k0smotronControlPlaneStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...sharedFields(),
      initialization: object(initialized(), 'Progress of the first provisioning.'),
      initialized: boolean('True once the control plane has answered.'),
      ready: boolean('True while the API server answers.'),
      unavailableReplicas: int32('Controllers missing or not ready.'),
      updatedReplicas: int32('Controllers that match the spec.'),
    },
    'Observed state.',
  ).default({
    conditions: [beforeTheFirstPass('ControlPlaneReady')],
    initialization: { controlPlaneInitialized: false },
    initialized: false,
    ready: false,
    version: '',
  }),
);

const templateDescription = 'Template of the control planes.';

export const k0smotronControlPlaneTemplateSpec: () => Field<K0smotronControlPlaneTemplateSpec> = once(() =>
  object(
    {
      template: object(
        { metadata: embeddedMetadata(), spec: k0smotronClusterSpec().describe('Spec of the control planes.') },
        templateDescription,
      ),
    },
    'Desired state.',
  ),
);

export const k0smotronControlPlaneTemplateSpecV1beta1: () => UntypedField = once(() =>
  object(
    { template: object({ metadata: embeddedMetadata(), spec: k0smotronClusterSpecV1beta1() }, templateDescription) },
    'Desired state.',
  ),
);
