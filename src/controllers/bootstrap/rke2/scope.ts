import type { RKE2Config, RKE2ControlPlane } from '../../../api/index.ts';
import type { ConfigDependencies, ConfigScope } from '../common/config-scope.ts';
import type { Finding } from '../common/config-status.ts';

/** One pass over one configuration: what was read, and the draft that will be written. */
export interface RKE2ConfigScope extends ConfigScope<RKE2Config, ConfigDependencies, Finding> {
  certificates?: Finding;
}

/** The control plane the machine belongs to, as far as its user data depends on it. */
export type ServingPlane = Pick<RKE2ControlPlane, 'metadata' | 'spec' | 'status'>;
