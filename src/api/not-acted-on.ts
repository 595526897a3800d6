import { isJsonObject, type ResourceStrategy, type UnstructuredObject } from '../machinery/index.ts';

/** Something that is served, so that manifests and other programs find it, and that no controller of Capstan acts on. */
export interface NotActedOn {
  readonly kind: string;
  /** `plural.group` */
  readonly resource: string;
  /** only objects with this field of their spec; without one, all objects of the kind */
  readonly specField?: string;
  /** what happens, or what to write instead */
  readonly note: string;
}

const classNote = 'Cluster topologies are not built yet. Write the objects that the class would make.';

/** The one list of them. The API warns whoever writes one; `docs/reference/not-acted-on.md` is made from it. */
export const notActedOn: readonly NotActedOn[] = [
  { kind: 'Cluster', resource: 'clusters.cluster.x-k8s.io', specField: 'topology', note: classNote },
  {
    kind: 'OpenStackClusterTemplate',
    resource: 'openstackclustertemplates.infrastructure.cluster.x-k8s.io',
    note: classNote,
  },
  {
    kind: 'KubeadmControlPlaneTemplate',
    resource: 'kubeadmcontrolplanetemplates.controlplane.cluster.x-k8s.io',
    note: classNote,
  },
  {
    kind: 'K0smotronControlPlaneTemplate',
    resource: 'k0smotroncontrolplanetemplates.controlplane.cluster.x-k8s.io',
    note: classNote,
  },
  {
    kind: 'KamajiControlPlaneTemplate',
    resource: 'kamajicontrolplanetemplates.controlplane.cluster.x-k8s.io',
    note: classNote,
  },
  {
    kind: 'HostedControlPlaneTemplate',
    resource: 'hostedcontrolplanetemplates.controlplane.cluster.x-k8s.io',
    note: classNote,
  },
  {
    kind: 'Image',
    resource: 'images.openstack.k-orc.cloud',
    note: 'Capstan reads its status. Importing the image is the work of another controller.',
  },
  { kind: 'MachinePool', resource: 'machinepools.cluster.x-k8s.io', note: 'Write a MachineDeployment.' },
];

/** What the API says, in a Warning header, to whoever writes one. */
export function notActedOnWarning({ kind, specField, note }: NotActedOn): string {
  const what = specField === undefined ? kind : `spec.${specField} of ${kind}`;
  return `no controller acts on ${what}: it is stored and nothing else happens. ${note}`;
}

/** The strategy, with a warning where nothing acts on the kind. */
export function withNotActedOnWarning(strategy: ResourceStrategy, resource: string): ResourceStrategy {
  const entry = notActedOn.find((candidate) => candidate.resource === resource);
  if (entry === undefined) return strategy;
  const { specField } = entry;
  const concerns = (object: UnstructuredObject): boolean =>
    specField === undefined || (isJsonObject(object['spec']) && object['spec'][specField] !== undefined);
  return {
    ...strategy,
    warnings: (object, old) => [
      ...(strategy.warnings?.(object, old) ?? []),
      ...(concerns(object) ? [notActedOnWarning(entry)] : []),
    ],
  };
}
