// The door of the webhooks room: defaulting, validation and conversion of our kinds for a Kubernetes that has them as
// CustomResourceDefinitions, from the same definitions the embedded API serves them by.
export type { Rule, RuleRequest } from './admission.ts';
export { type CertificateKeeper, startCertificateKeeper } from './certificate-keeper.ts';
export { trustBundle } from './certificates.ts';
export {
  configurationName,
  customResourceDefinitionFor,
  mutatingConfiguration,
  validatingConfiguration,
  type WebhookEndpoint,
} from './configurations.ts';
export { ReviewedKinds } from './reviewed-kinds.ts';
export { startWebhookServer, type WebhookServer } from './server.ts';
