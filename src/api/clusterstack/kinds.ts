import { objectReference } from '../cluster/common-schema.ts';
import type { DeprecatedCondition } from '../cluster/types.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { ageColumn, booleanColumn, type PrinterColumn, textColumn } from '../kind/printer.ts';
import { boolean, type Field, list, object, once, oneOf, string, time } from '../kind/schema.ts';
import { clusterAddonStrategy, clusterStackStrategy } from './admission.ts';
import { clusterStackGroup } from './group.ts';
import type {
  AppliedResource,
  ClusterAddon,
  ClusterAddonSpec,
  ClusterAddonStatus,
  ClusterStack,
  ClusterStackRelease,
  ClusterStackReleaseSpec,
  ClusterStackReleaseStatus,
  ClusterStackSpec,
  ClusterStackStatus,
} from './types.ts';

/** Conditions of the v1beta1 contract without limits, as the stack operator publishes them. */
export const stackConditions: () => Field<DeprecatedCondition[]> = once(() =>
  list(
    object({
      type: string('What the condition is about.').required(),
      status: string('True, False or Unknown.').required(),
      severity: string('How bad it is when not True: Error, Warning or Info.'),
      lastTransitionTime: time('When the status changed last.').required(),
      reason: string('Why, as one CamelCase word for programs.'),
      message: string('Why, in a sentence for people.'),
    }),
    'Conditions of the object.',
  ),
);

/** Last columns of all kinds in this group. */
export const verdictColumns: readonly PrinterColumn[] = [
  ageColumn,
  textColumn('Reason', ".status.conditions[?(@.type=='Ready')].reason"),
  textColumn('Message', ".status.conditions[?(@.type=='Ready')].message"),
];

const stackSpec: () => Field<ClusterStackSpec> = once(() =>
  object(
    {
      provider: string('First part of the ids of the releases, such as openstack.', { minLength: 1 }).required(),
      name: string('Name of the stack; may have dashes.', { minLength: 1 }).required(),
      kubernetesVersion: string('Kubernetes minor version, such as "1.33".', { pattern: '^\\d\\.\\d+$' }).required(),
      channel: oneOf(['stable', 'custom'], 'stable: versions like v1; custom: all others.').default('stable'),
      versions: list(string(), 'Releases that are kept, such as v1 or v0-sha.abc.'),
      autoSubscribe: boolean('Whether to search for the newest release and keep it.').default(true),
      noProvider: boolean('Whether releases need no object of the provider.').default(false),
      providerRef: objectReference('The template for the objects of the provider, one per release.'),
    },
    'Desired state.',
  ),
);

const stackStatus: () => Field<ClusterStackStatus> = once(() =>
  object(
    {
      latestRelease: string('Newest release that is ready, and its version of Kubernetes.'),
      usableVersions: string('Versions that are ready.'),
      summary: list(
        object({
          name: string('Name of the release.').required(),
          ready: boolean('Whether it can be used.').required(),
          phase: string('Progress.').required(),
          message: string('What the stage waits for.'),
        }),
        'The releases.',
      ),
      conditions: stackConditions(),
    },
    'Observed state.',
  ),
);

export const clusterStackKind: Kind<ClusterStack> = defineKind<ClusterStack>({
  group: clusterStackGroup,
  kind: 'ClusterStack',
  plural: 'clusterstacks',
  shortNames: ['csk'],
  categories: [],
  description: 'Releases of a class of clusters with its add-ons, for one minor of Kubernetes.',
  strategy: clusterStackStrategy,
  hub: {
    name: 'v1alpha1',
    spec: stackSpec,
    status: stackStatus,
    columns: [
      textColumn('Provider', '.spec.provider'),
      textColumn('ClusterStack', '.spec.name'),
      textColumn('K8s', '.spec.kubernetesVersion'),
      textColumn('Channel', '.spec.channel'),
      textColumn('Autosubscribe', '.spec.autoSubscribe'),
      textColumn('Usable', '.status.usableVersions'),
      textColumn('Latest', '.status.latestRelease'),
      ...verdictColumns,
    ],
  },
});

const resources = (description: string): Field<AppliedResource[]> =>
  list(
    object({
      group: string('Group of the object.'),
      version: string('Version of the object.'),
      kind: string('Kind of the object.'),
      namespace: string('Namespace of the object.'),
      name: string('Name of the object.'),
      status: string('synced or not-synced.'),
      error: string('Why it could not be applied.'),
    }),
    description,
  );

const releaseSpec: () => Field<ClusterStackReleaseSpec> = once(() =>
  object({ providerRef: objectReference('The object of the provider for this release.') }, 'Desired state.'),
);

const releaseStatus: () => Field<ClusterStackReleaseStatus> = once(() =>
  object(
    {
      resources: resources('The class and its templates.'),
      kubernetesVersion: string('Version of Kubernetes that clusters of this release have.'),
      ready: boolean('Whether clusters can use it.').default(false),
      conditions: stackConditions(),
    },
    'Observed state.',
  ),
);

export const clusterStackReleaseKind: Kind<ClusterStackRelease> = defineKind<ClusterStackRelease>({
  group: clusterStackGroup,
  kind: 'ClusterStackRelease',
  plural: 'clusterstackreleases',
  shortNames: ['cskr'],
  categories: [],
  description: 'One release of a ClusterStack: a ClusterClass, its templates and the add-ons of its clusters.',
  hub: {
    name: 'v1alpha1',
    spec: releaseSpec,
    status: releaseStatus,
    columns: [
      textColumn('K8s Version', '.status.kubernetesVersion'),
      booleanColumn('Ready', '.status.ready'),
      ...verdictColumns,
    ],
  },
});

const addonSpec: () => Field<ClusterAddonSpec> = once(() =>
  object(
    {
      clusterRef: objectReference('The Cluster.').required(),
      clusterStack: string('Class whose add-ons are installed.'),
      version: string('Version of the add-ons.'),
      hook: string('Lifecycle hook that is being served.'),
    },
    'Desired state.',
  ),
);

const addonStatus: () => Field<ClusterAddonStatus> = once(() =>
  object(
    {
      stages: list(
        object({
          name: string('Name of the stage.'),
          action: string('apply or delete.'),
          phase: string('Progress.'),
        }),
        'Stages of the hook that is being served.',
      ),
      resources: resources('Objects of the stage that is being applied.'),
      ready: boolean('Whether all add-ons are applied.').default(false),
      conditions: stackConditions(),
    },
    'Observed state.',
  ),
);

export const clusterAddonKind: Kind<ClusterAddon> = defineKind<ClusterAddon>({
  group: clusterStackGroup,
  kind: 'ClusterAddon',
  plural: 'clusteraddons',
  shortNames: ['caddon'],
  categories: [],
  description: 'The add-ons of one Cluster whose class comes from a ClusterStack.',
  strategy: clusterAddonStrategy,
  hub: {
    name: 'v1alpha1',
    spec: addonSpec,
    status: addonStatus,
    columns: [
      textColumn('Cluster', '.metadata.ownerReferences[?(@.kind=="Cluster")].name'),
      textColumn('Hook', '.spec.hook'),
      booleanColumn('Ready', '.status.ready'),
      ...verdictColumns,
    ],
  },
});
