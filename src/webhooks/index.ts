// Public interface of the webhooks: defaulting, validation and conversion of the kinds on a Kubernetes that has them as
// CustomResourceDefinitions. They use the same definitions as the embedded API.
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
