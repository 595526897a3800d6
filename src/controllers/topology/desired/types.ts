import type {
  Cluster,
  ClusterClass,
  MachineDeployment,
  MachineDeploymentClass,
  MachineDeploymentTopology,
  MachineHealthCheck,
  Topology,
} from '../../../api/index.ts';
import type { UnstructuredObject } from '../../../machinery/index.ts';
import type { ContractVersion } from '../../shared/index.ts';

/** A ClusterClass with the templates it names. */
export interface Blueprint {
  readonly class: ClusterClass;
  readonly infrastructureTemplate: UnstructuredObject;
  readonly controlPlaneTemplate: UnstructuredObject;
  /** the contract of the control plane in the version the class names it in */
  readonly controlPlaneContract: ContractVersion;
  readonly controlPlaneMachineTemplate?: UnstructuredObject;
  /** by the name of the class of workers; only those that the topology uses */
  readonly workers: ReadonlyMap<string, WorkerBlueprint>;
}

export interface WorkerBlueprint {
  readonly class: MachineDeploymentClass;
  readonly bootstrapTemplate: UnstructuredObject;
  readonly infrastructureTemplate: UnstructuredObject;
}

/** What exists of a topology. */
export interface CurrentState {
  /** with the variables defaulted */
  readonly cluster: Cluster & { spec: { topology: Topology } };
  readonly controlPlane?: UnstructuredObject;
  /** by the name in the topology */
  readonly deployments: ReadonlyMap<string, MachineDeployment>;
}

/** Versions the parts are to have now; those of an upgrade under way lag behind the topology. */
export interface DesiredVersions {
  readonly controlPlane: string;
  /** by the name in the topology; none for workers that must not be created yet */
  readonly deployments: ReadonlyMap<string, string>;
}

/** A template the topology owns: its name is settled when it is compared with the one in use. */
export interface DesiredTemplate {
  readonly object: UnstructuredObject;
  /** what names of later versions of it begin with */
  readonly prefix: string;
  /** tells it from the other templates of the cluster */
  readonly role: string;
}

export interface DesiredDeployment {
  readonly topology: MachineDeploymentTopology;
  readonly object: MachineDeployment;
  readonly bootstrapTemplate: DesiredTemplate;
  readonly infrastructureTemplate: DesiredTemplate;
  readonly healthCheck?: MachineHealthCheck;
}

export interface DesiredState {
  readonly infrastructureCluster: UnstructuredObject;
  readonly controlPlane: {
    readonly object: UnstructuredObject;
    readonly machineTemplate?: DesiredTemplate;
    readonly healthCheck?: MachineHealthCheck;
  };
  readonly deployments: readonly DesiredDeployment[];
  /** what a user should know though it is no error */
  readonly notes: readonly string[];
}
