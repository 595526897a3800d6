import { type ControllerDefinition, nullRecorder } from '../../runtime/index.ts';
import { cronJobController } from './cron-job/cron-job-controller.ts';
import { daemonSetController } from './daemon-set/daemon-set-controller.ts';
import { deploymentController } from './deployment/deployment-controller.ts';
import { disruptionBudgetController } from './disruption-budget/disruption-budget-controller.ts';
import { endpointSliceController } from './endpoints/endpoint-slice-controller.ts';
import { endpointSliceMirroringController } from './endpoints/endpoint-slice-mirroring-controller.ts';
import { endpointsController } from './endpoints/endpoints-controller.ts';
import { finishedJobCleaner } from './job/finished-job-cleaner.ts';
import { jobController } from './job/job-controller.ts';
import { lostJobPods } from './job/lost-job-pods.ts';
import { podGarbageController } from './pod-garbage/pod-garbage-controller.ts';
import { replicaSetController, replicationController } from './replica-set/replica-set-controller.ts';
import { statefulSetController } from './stateful-set/stateful-set-controller.ts';
import { claimBinder } from './volumes/claim-binder.ts';
import { ephemeralClaims } from './volumes/ephemeral-claims.ts';
import type { Provisioners } from './volumes/provisioner.ts';
import { volumeReclaimer } from './volumes/volume-reclaimer.ts';

/** Controllers by concern; together they are the Pod-related part of kube-controller-manager. */
const workloadParts: Readonly<Record<WorkloadPart, (options: WorkloadControllersOptions) => ControllerDefinition[]>> = {
  deployments: (): ControllerDefinition[] => [deploymentController(), replicaSetController(), replicationController()],
  statefulSets: (): ControllerDefinition[] => [statefulSetController()],
  daemonSets: (): ControllerDefinition[] => [daemonSetController()],
  jobs: (): ControllerDefinition[] => [jobController(), lostJobPods(), finishedJobCleaner()],
  cronJobs: (): ControllerDefinition[] => [cronJobController()],
  endpoints: (): ControllerDefinition[] => [
    endpointsController(),
    endpointSliceController(),
    endpointSliceMirroringController(),
  ],
  disruptionBudgets: (): ControllerDefinition[] => [disruptionBudgetController()],
  volumes: (options: WorkloadControllersOptions): ControllerDefinition[] => [
    claimBinder(options.provisioners ?? {}),
    volumeReclaimer(options.provisioners ?? {}),
    ephemeralClaims(),
  ],
  podGarbage: (): ControllerDefinition[] => [podGarbageController()],
};

export type WorkloadPart =
  | 'deployments'
  | 'statefulSets'
  | 'daemonSets'
  | 'jobs'
  | 'cronJobs'
  | 'endpoints'
  | 'disruptionBudgets'
  | 'volumes'
  | 'podGarbage';

export interface WorkloadControllersOptions {
  /** parts to run; default: all */
  readonly parts?: readonly WorkloadPart[];
  /** provisioners by name; claims of classes with another provisioner wait for that one */
  readonly provisioners?: Provisioners;
  /** whether events are recorded; default: true */
  readonly events?: boolean;
}

/**
 * Builds the Pod-related controllers of kube-controller-manager: Deployments, ReplicaSets, ReplicationControllers,
 * StatefulSets, DaemonSets, Jobs, CronJobs, Endpoints, EndpointSlices, PodDisruptionBudgets, volume binding and Pod
 * garbage collection.
 */
export function workloadControllers(options: WorkloadControllersOptions = {}): ControllerDefinition[] {
  const parts = options.parts ?? (Object.keys(workloadParts) as WorkloadPart[]);
  const definitions = parts.flatMap((part) => workloadParts[part](options));
  return options.events === false ? definitions.map(withoutEvents) : definitions;
}

function withoutEvents(definition: ControllerDefinition): ControllerDefinition {
  return {
    ...definition,
    reconcile: (context, key) => definition.reconcile({ ...context, events: nullRecorder }, key),
  };
}
