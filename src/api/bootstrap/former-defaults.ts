import type { KubeadmConfigSpec } from './types.ts';

/**
 * Returns a configuration with the defaults that Cluster API wrote before 1.11. Configurations that differ only in
 * these defaults are equal: the difference must neither refuse an update nor roll out machines.
 */
export function withFormerDefaults(spec: KubeadmConfigSpec): KubeadmConfigSpec {
  const { initConfiguration: init, joinConfiguration: join } = spec;
  const result: KubeadmConfigSpec = {
    ...spec,
    format: spec.format ?? 'cloud-config',
    initConfiguration: { ...init, nodeRegistration: { imagePullPolicy: 'IfNotPresent', ...init?.nodeRegistration } },
    joinConfiguration: { ...join, nodeRegistration: { imagePullPolicy: 'IfNotPresent', ...join?.nodeRegistration } },
  };
  const file = join?.discovery?.file;
  const exec = file?.kubeConfig?.user?.exec;
  if (join?.discovery === undefined || file?.kubeConfig === undefined || exec === undefined) return result;
  const user = { ...file.kubeConfig.user, exec: { apiVersion: 'client.authentication.k8s.io/v1', ...exec } };
  result.joinConfiguration = {
    ...result.joinConfiguration,
    discovery: { ...join.discovery, file: { ...file, kubeConfig: { ...file.kubeConfig, user } } },
  };
  return result;
}
