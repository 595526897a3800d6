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

/** The parts kube-controller-manager's work on Pods is made of; each names the controllers of one concern. */
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
  /** which parts are wanted; default: all of them */
  readonly parts?: readonly WorkloadPart[];
  /** make the volumes of claims; claims of classes with another provisioner wait for it */
  readonly provisioners?: Provisioners;
  /** whether they tell users what they do by events; default: true */
  readonly events?: boolean;
}

/**
 * What kube-controller-manager does for Pods: Deployments, ReplicaSets, ReplicationControllers, StatefulSets, DaemonSets, Jobs, CronJobs, Endpoints,
 * EndpointSlices, PodDisruptionBudgets, the binding of claims, and the removal of Pods that nobody else removes.
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
