import type { ConfigName } from './types.ts';

/** ConfigMap names without a counterpart upstream. */
export function usualConfigs(below: (end: string) => string): Record<ConfigName, string> {
  return {
    k0s: below('k0s'),
    entrypoint: below('entrypoint'),
    endpoint: below('endpoint'),
    ingress: below('ingress'),
    prometheus: below('prometheus'),
    'prometheus-proxy': below('prometheus-proxy'),
    kubeadm: below('kubeadm'),
    'egress-selector': below('egress-selector'),
    authentication: below('authentication'),
    audit: below('audit'),
  };
}
