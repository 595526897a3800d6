// The door of certificates for Pods: kinds of cert-manager that manifests of providers bring.
export { certificateControllers } from './certificate-controller.ts';
export { certManagerGroup } from './types.ts';
