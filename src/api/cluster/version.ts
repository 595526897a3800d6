// What a version of Kubernetes looks like is part of what users write; how it is read is the machinery's.
export {
  compareKubernetesVersions,
  type KubernetesVersion,
  parseKubernetesVersion,
  withLeadingV,
} from '../../machinery/index.ts';
