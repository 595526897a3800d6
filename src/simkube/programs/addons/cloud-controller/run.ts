import type { OpenStack } from '../../../../openstack/index.ts';
import type { SimulatedProcess } from '../../../process.ts';
import type { CloudConf } from '../cloud-conf.ts';

/** What the controllers of the cloud controller manager work with. */
export interface CloudControllerRun {
  readonly process: SimulatedProcess;
  readonly cloud: OpenStack;
  readonly conf: CloudConf;
  readonly clusterName: string;
  readonly region: string | undefined;
  /** whether node ids name the region */
  readonly isRegional: boolean;
}

export const fieldManager = 'openstack-cloud-controller-manager';
