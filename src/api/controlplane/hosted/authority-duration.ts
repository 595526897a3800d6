/**
 * How long the authorities of a hosted control plane live unless their user says otherwise: ten years. Upstream's 48 hours mean
 * new workers every day: a worker trusts the root it joined with, and when that ends it has to be replaced.
 */
export const defaultAuthorityDuration = '87600h';
