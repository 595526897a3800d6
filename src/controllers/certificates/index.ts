// Entry point of the cert-manager kinds that provider manifests use for their webhooks.
export { certificateControllers } from './certificate-controller.ts';
export { certManagerGroup } from './types.ts';
