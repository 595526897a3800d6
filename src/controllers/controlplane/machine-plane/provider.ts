import type {
  KubeadmControlPlaneMachineTemplate,
  KubeadmControlPlaneRemediation,
  KubeadmControlPlaneRollout,
  KubeadmControlPlaneStatus,
  Machine,
  Node,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import type { JsonObject, JsonValue, KubeObject, Resource } from '../../../machinery/index.ts';
import type { CertificatePlan, ClusterSecretPurpose, Verdict } from '../../shared/index.ts';
import type { RemediationRecord } from './decisions/remediation.ts';
import type { ControlPlaneScope } from './scope.ts';
import type { ControlPlaneObservation } from './status.ts';

/** What every control plane on machines looks like. */
export interface MachinePlane extends KubeObject {
  spec: {
    replicas?: number;
    version: string;
    machineTemplate: KubeadmControlPlaneMachineTemplate;
  };
  status?: Omit<KubeadmControlPlaneStatus, 'lastRemediation'>;
}

/** How a control plane wants its machines replaced and named; each kind writes it in another form. */
export interface PlaneSettings {
  rollout?: KubeadmControlPlaneRollout;
  remediation?: KubeadmControlPlaneRemediation;
  /** Go template of the names of machines */
  naming: string;
}

/** A component of the control plane that runs as a static Pod, and the condition it is shown in. */
export type ComponentPod = readonly [component: string, condition: string];

/** What tells one kind of control planes on machines from another. */
export interface PlaneProvider<P extends MachinePlane = MachinePlane, C extends KubeObject = KubeObject> {
  /** of the controller */
  readonly name: string;
  readonly resource: Resource<P>;
  /** what machines get their user data from */
  readonly configs: Resource<C>;
  readonly finalizer: string;
  /** on a machine: blocks its end until its etcd member has left */
  readonly cleanupHook: string;
  // who owns which fields of machines
  readonly manager: string;
  readonly metadataManager: string;
  /** name of the control plane in templates of names */
  readonly namingVariable: string;
  /** condition of a machine: its Node carries what it should */
  readonly marksCondition: string;
  /** whose certificates the API servers take for those of clients */
  readonly clientAuthority: ClusterSecretPurpose;
  /** what the control plane is said to wait for in the old conditions, before its first API server answers */
  readonly waitingForInit: string;
  isEtcdManaged(controlPlane: P): boolean;
  settingsOf(controlPlane: P): PlaneSettings;
  certificatePlans(controlPlane: P): CertificatePlan[];
  /** beside etcd */
  componentPods(controlPlane: P): readonly ComponentPod[];
  /** of a new machine: the first one makes the cluster, all others join it */
  configSpec(controlPlane: P, role: 'init' | 'join'): JsonObject;
  /** annotations of a new machine: what it was made with, where its config does not say it */
  machineAnnotations(controlPlane: P): Record<string, string>;
  isConfigUpToDate(controlPlane: P, config: C, machine: Machine): boolean;
  /** the configuration of a machine and the desired one, in the form in which they are compared */
  configsToCompare(controlPlane: P, config: C): { current: JsonValue; desired: JsonValue };
  /** where the API server of a machine with this config listens */
  apiServerPort(config: C): number;
  marksVerdict(machine: Machine, node: Node, config: C | undefined): Verdict;
  /** whether the cluster has been made: its API is up and others may join */
  isClusterMade(client: Client, signal: AbortSignal): Promise<boolean>;
  /** what must be in the cluster before the first machine of another version joins */
  prepareUpgrade(scope: ControlPlaneScope<P>): Promise<void>;
  /** what else is kept in order, at the end of a pass */
  finish(scope: ControlPlaneScope<P>): Promise<void>;
  rememberRemediation(draft: P, record: RemediationRecord): void;
  /** what else the status of this kind tells, from what exists */
  observe?(draft: P, seen: Pick<ControlPlaneObservation, 'cluster' | 'machines' | 'health'>): void;
}
