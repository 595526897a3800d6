// The door of the area that makes clusters of ClusterClasses.
export { type TopologyAdmission, topologyAdmission } from './admission/admission.ts';
export { setupTopologyControllers } from './setup.ts';
