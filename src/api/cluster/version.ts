// Re-exports the parser of Kubernetes versions, because versions are part of the API.
export {
  compareKubernetesVersions,
  type KubernetesVersion,
  parseKubernetesVersion,
  withLeadingV,
} from '../../machinery/index.ts';
