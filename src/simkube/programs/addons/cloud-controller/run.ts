import type { OpenStack } from '../../../../openstack/index.ts';
import type { SimulatedProcess } from '../../../process.ts';
import type { CloudConf } from '../cloud-conf.ts';

/** State shared by the controllers of the cloud controller manager. */
export interface CloudControllerRun {
  readonly process: SimulatedProcess;
  readonly cloud: OpenStack;
  readonly conf: CloudConf;
  readonly clusterName: string;
  readonly region: string | undefined;
  /** whether provider ids contain the region */
  readonly isRegional: boolean;
}

export const fieldManager = 'openstack-cloud-controller-manager';
