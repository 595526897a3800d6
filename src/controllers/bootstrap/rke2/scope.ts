import type { RKE2Config, RKE2ControlPlane } from '../../../api/index.ts';
import type { ConfigDependencies, ConfigScope } from '../common/config-scope.ts';
import type { Finding } from '../common/config-status.ts';

export interface RKE2ConfigScope extends ConfigScope<RKE2Config, ConfigDependencies, Finding> {
  certificates?: Finding;
}

/** The fields of a control plane that affect user data. */
export type ServingPlane = Pick<RKE2ControlPlane, 'metadata' | 'spec' | 'status'>;
