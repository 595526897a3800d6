import type { Resource, ResourceDefinition } from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { defaultWebhooks, validateWebhooks, type WebhookConfiguration } from './webhook.ts';

export type MutatingWebhookConfiguration = WebhookConfiguration;

export const mutatingWebhookConfigurationDefinition: ResourceDefinition = defineBuiltin<MutatingWebhookConfiguration>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  categories: ['api-extensions'],
  namespaced: false,
  component: 'io.k8s.api.admissionregistration.v1.MutatingWebhookConfiguration',
  conditionalUpdatesOnly: true,
  columns: [nameColumn, column('Webhooks', 'integer'), ageColumn],
  row: (object, nowMs) => [object.metadata.name ?? '', (object.webhooks ?? []).length, age(object, nowMs)],
  applyDefaults: (object) => defaultWebhooks(object, { mutating: true }),
  validateCreate: validateWebhooks,
  validateUpdate: validateWebhooks,
});

export const MutatingWebhookConfigurations: Resource<MutatingWebhookConfiguration> =
  resourceOf<MutatingWebhookConfiguration>(mutatingWebhookConfigurationDefinition);
