import type { KubeObject } from '../../machinery/index.ts';

export type ProviderType =
  | 'CoreProvider'
  | 'BootstrapProvider'
  | 'ControlPlaneProvider'
  | 'InfrastructureProvider'
  | 'IPAMProvider'
  | 'RuntimeExtensionProvider'
  | 'AddonProvider';

/** An entry of clusterctl's inventory: a provider that is installed. It has neither spec nor status. */
export interface Provider extends KubeObject {
  providerName?: string;
  type?: string;
  version?: string;
  watchedNamespace?: string;
}
