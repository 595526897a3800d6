import { infrastructureGoneReason } from '../../shared/index.ts';
import { CloudFault } from '../common/outcomes.ts';

// Conditions of OpenStackServers, as upstream sets them.

export const instanceReadyCondition = 'InstanceReady';
export const poolAddressCondition = 'FloatingAddressFromPoolReady';

export const dependencyFailedReason = 'DependencyFailed';
export const invalidMachineSpecReason = 'InvalidMachineSpec';
export const portCreateFailedReason = 'PortCreateFailed';
export const instanceCreateFailedReason = 'InstanceCreateFailed';
/** Capstan only: upstream leaves servers in ERROR to users */
export const instanceBuildFailedReason = 'InstanceBuildFailed';
export const instanceNotFoundReason = 'InstanceNotFound';
/** Capstan only: a server seen before that Nova repeatedly reported as missing; its machine is replaced */
export const instanceGoneReason: string = infrastructureGoneReason;
export const instanceNotReadyReason = 'InstanceNotReady';
export const instanceStateErrorReason = 'InstanceStateError';
/** Capstan only: upstream still reports a server without its ports as ready */
export const instanceCutOffReason = 'InstanceCutOff';
export const instanceDeletedReason = 'InstanceDeleted';
export const instanceDeleteFailedReason = 'InstanceDeleteFailed';
export const floatingIpErrorReason = 'FloatingIPError';
export const waitingForIpamProviderReason = 'WaitingForIPAMProvider';

/** Waiting for an event; not a fault, and no poll is needed. */
export class Awaited extends CloudFault {
  constructor(message: string) {
    super(instanceNotReadyReason, message);
    this.name = 'Awaited';
  }
}
