import type { KubeadmConfig, KubeadmConfigSpec } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { ConfigDependencies, ConfigScope } from '../common/config-scope.ts';
import type { Finding } from '../common/config-status.ts';
import type { TokenChecks } from './token-checks.ts';

/** Bootstrap tokens live for 15 minutes by default. */
export interface KubeadmConfigDependencies extends ConfigDependencies {
  client: Client;
}

export interface KubeadmConfigTools extends KubeadmConfigDependencies {
  tokenChecks: TokenChecks;
}

export interface KubeadmConfigScope extends ConfigScope<KubeadmConfig, KubeadmConfigTools, Finding> {
  certificates?: Finding;
}

/** Returns the spec; the API accepts configurations without one. */
export function specOf({ spec }: Pick<KubeadmConfig, 'metadata'> & { spec?: KubeadmConfigSpec }): KubeadmConfigSpec {
  return spec ?? {};
}
