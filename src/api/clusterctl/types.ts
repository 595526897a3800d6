import type { KubeObject } from '../../machinery/index.ts';

export type ProviderType =
  | 'CoreProvider'
  | 'BootstrapProvider'
  | 'ControlPlaneProvider'
  | 'InfrastructureProvider'
  | 'IPAMProvider'
  | 'RuntimeExtensionProvider'
  | 'AddonProvider';

/** An installed provider in the inventory of clusterctl. It has neither spec nor status. */
export interface Provider extends KubeObject {
  providerName?: string;
  type?: string;
  version?: string;
  watchedNamespace?: string;
}
