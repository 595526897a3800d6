import type { ConfigName } from './types.ts';

/** ConfigMaps of a plane that its users know by no other names. */
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
