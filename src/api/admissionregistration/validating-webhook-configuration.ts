import type { Resource, ResourceDefinition } from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { defaultWebhooks, validateWebhooks, type WebhookConfiguration } from './webhook.ts';

export type ValidatingWebhookConfiguration = WebhookConfiguration;

export const validatingWebhookConfigurationDefinition: ResourceDefinition =
  defineBuiltin<ValidatingWebhookConfiguration>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingWebhookConfiguration',
    plural: 'validatingwebhookconfigurations',
    categories: ['api-extensions'],
    namespaced: false,
    component: 'io.k8s.api.admissionregistration.v1.ValidatingWebhookConfiguration',
    conditionalUpdatesOnly: true,
    columns: [nameColumn, column('Webhooks', 'integer'), ageColumn],
    row: (object, nowMs) => [object.metadata.name ?? '', (object.webhooks ?? []).length, age(object, nowMs)],
    applyDefaults: (object) => defaultWebhooks(object, { mutating: false }),
    validateCreate: validateWebhooks,
    validateUpdate: validateWebhooks,
  });

export const ValidatingWebhookConfigurations: Resource<ValidatingWebhookConfiguration> =
  resourceOf<ValidatingWebhookConfiguration>(validatingWebhookConfigurationDefinition);
