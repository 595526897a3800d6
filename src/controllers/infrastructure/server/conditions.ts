import { infrastructureGoneReason } from '../../shared/index.ts';
import { CloudFault } from '../common/outcomes.ts';

// Conditions of OpenStackServers, as upstream writes them.

export const instanceReadyCondition = 'InstanceReady';
export const poolAddressCondition = 'FloatingAddressFromPoolReady';

export const dependencyFailedReason = 'DependencyFailed';
export const invalidMachineSpecReason = 'InvalidMachineSpec';
export const portCreateFailedReason = 'PortCreateFailed';
export const instanceCreateFailedReason = 'InstanceCreateFailed';
/** ours: upstream leaves a server that failed to build to people */
export const instanceBuildFailedReason = 'InstanceBuildFailed';
export const instanceNotFoundReason = 'InstanceNotFound';
/** ours: nova denied it again and again, where it was seen before; its machine is replaced */
export const instanceGoneReason: string = infrastructureGoneReason;
export const instanceNotReadyReason = 'InstanceNotReady';
export const instanceStateErrorReason = 'InstanceStateError';
/** ours: upstream calls a server ready that has lost its ports */
export const instanceCutOffReason = 'InstanceCutOff';
export const instanceDeletedReason = 'InstanceDeleted';
export const instanceDeleteFailedReason = 'InstanceDeleteFailed';
export const floatingIpErrorReason = 'FloatingIPError';
export const waitingForIpamProviderReason = 'WaitingForIPAMProvider';

/** Something an event will tell of: nothing is wrong, and nobody needs to look again before. */
export class Awaited extends CloudFault {
  constructor(message: string) {
    super(instanceNotReadyReason, message);
    this.name = 'Awaited';
  }
}
