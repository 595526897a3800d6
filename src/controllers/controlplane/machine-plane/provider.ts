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

/** Common fields of all machine-based control planes. */
export interface MachinePlane extends KubeObject {
  spec: {
    replicas?: number;
    version: string;
    machineTemplate: KubeadmControlPlaneMachineTemplate;
  };
  status?: Omit<KubeadmControlPlaneStatus, 'lastRemediation'>;
}

/** Rollout and naming settings in a common form, because each kind stores them differently. */
export interface PlaneSettings {
  rollout?: KubeadmControlPlaneRollout;
  remediation?: KubeadmControlPlaneRemediation;
  /** Go template of machine names */
  naming: string;
}

export type ComponentPod = readonly [component: string, condition: string];

/** What differs between machine-based control plane providers. */
export interface PlaneProvider<P extends MachinePlane = MachinePlane, C extends KubeObject = KubeObject> {
  /** controller name */
  readonly name: string;
  readonly resource: Resource<P>;
  /** bootstrap config kind of the machines */
  readonly configs: Resource<C>;
  readonly finalizer: string;
  /** pre-terminate hook of machines; removed once the etcd member is gone */
  readonly cleanupHook: string;
  // field managers of machine fields
  readonly manager: string;
  readonly metadataManager: string;
  /** variable of the control plane in name templates */
  readonly namingVariable: string;
  /** condition type of machines about labels and taints of the Node */
  readonly marksCondition: string;
  /** CA that API servers trust for client certificates */
  readonly clientAuthority: ClusterSecretPurpose;
  /** v1beta1 message while no API server answers yet */
  readonly waitingForInit: string;
  isEtcdManaged(controlPlane: P): boolean;
  settingsOf(controlPlane: P): PlaneSettings;
  certificatePlans(controlPlane: P): CertificatePlan[];
  /** without etcd */
  componentPods(controlPlane: P): readonly ComponentPod[];
  /** bootstrap config of a new machine: init for the first one, join for all others */
  configSpec(controlPlane: P, role: 'init' | 'join'): JsonObject;
  /** annotations of a new machine that record inputs its config does not contain */
  machineAnnotations(controlPlane: P, role: 'init' | 'join'): Record<string, string>;
  /** name of the snapshot that the next first machine starts from; undefined if no restore is requested */
  requestedRestore?(controlPlane: P): string | undefined;
  isConfigUpToDate(controlPlane: P, config: C, machine: Machine): boolean;
  /** the machine's configuration and the desired one, in comparable form */
  configsToCompare(controlPlane: P, config: C): { current: JsonValue; desired: JsonValue };
  /** port of the API server on a machine with this config */
  apiServerPort(config: C): number;
  marksVerdict(machine: Machine, node: Node, config: C | undefined): Verdict;
  /** whether the cluster is initialized: the API is up and others may join */
  isClusterMade(client: Client, signal: AbortSignal): Promise<boolean>;
  /** prepares the cluster before the first machine of another version joins */
  prepareUpgrade(scope: ControlPlaneScope<P>): Promise<void>;
  /** further upkeep at the end of a reconcile */
  finish(scope: ControlPlaneScope<P>): Promise<void>;
  rememberRemediation(draft: P, record: RemediationRecord): void;
  /** sets status fields specific to this kind */
  observe?(draft: P, seen: Pick<ControlPlaneObservation, 'cluster' | 'machines' | 'health'>): void;
}
