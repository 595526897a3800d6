import type { KubeadmConfig, KubeadmConfigSpec } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { ConfigDependencies, ConfigScope } from '../common/config-scope.ts';
import type { Finding } from '../common/config-status.ts';
import type { TokenChecks } from './token-checks.ts';

/** What the controller is given; a bootstrap token is good for 15 minutes unless it says otherwise. */
export interface KubeadmConfigDependencies extends ConfigDependencies {
  client: Client;
}

/** What one pass may use. */
export interface KubeadmConfigTools extends KubeadmConfigDependencies {
  tokenChecks: TokenChecks;
}

/** One pass over one configuration: what was read, and the draft that will be written. */
export interface KubeadmConfigScope extends ConfigScope<KubeadmConfig, KubeadmConfigTools, Finding> {
  certificates?: Finding;
}

/** A configuration that leaves everything to us may have no spec at all. */
export function specOf({ spec }: Pick<KubeadmConfig, 'metadata'> & { spec?: KubeadmConfigSpec }): KubeadmConfigSpec {
  return spec ?? {};
}
