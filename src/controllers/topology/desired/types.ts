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

/** A ClusterClass with its templates. */
export interface Blueprint {
  readonly class: ClusterClass;
  readonly infrastructureTemplate: UnstructuredObject;
  readonly controlPlaneTemplate: UnstructuredObject;
  /** contract version of the control plane, as referenced by the class */
  readonly controlPlaneContract: ContractVersion;
  readonly controlPlaneMachineTemplate?: UnstructuredObject;
  /** worker classes that the topology uses, by class name */
  readonly workers: ReadonlyMap<string, WorkerBlueprint>;
}

export interface WorkerBlueprint {
  readonly class: MachineDeploymentClass;
  readonly bootstrapTemplate: UnstructuredObject;
  readonly infrastructureTemplate: UnstructuredObject;
}

/** Existing objects of a topology. */
export interface CurrentState {
  /** with defaulted variables */
  readonly cluster: Cluster & { spec: { topology: Topology } };
  readonly controlPlane?: UnstructuredObject;
  /** by topology name */
  readonly deployments: ReadonlyMap<string, MachineDeployment>;
}

/** Versions of the parts at this step; during an upgrade they lag behind the topology. */
export interface DesiredVersions {
  readonly controlPlane: string;
  /** by topology name; absent for workers that must not be created yet */
  readonly deployments: ReadonlyMap<string, string>;
}

/** A template of the topology; its name is determined by comparison with the current one. */
export interface DesiredTemplate {
  readonly object: UnstructuredObject;
  /** name prefix of all its generations */
  readonly prefix: string;
  /** distinguishes it among the cluster's templates */
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
  /** notes for the user that are not errors */
  readonly notes: readonly string[];
}
