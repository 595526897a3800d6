export const latticeConditions = {
  ready: 'Ready',
  authenticated: 'OpenStackAuthenticationSucceeded',
  prerequisites: 'CloudPrerequisitesMet',
  flavors: 'FlavorsRecommended',
  applied: 'ObjectsApplied',
  infrastructure: 'InfrastructureReady',
  controlPlane: 'ControlPlaneReady',
  workers: 'WorkersReady',
  addons: 'AddonsApplied',
  selfManaged: 'SelfManaged',
  connected: 'Connected',
  deleting: 'Deleting',
} as const;
