import { defineKind, type Kind } from '../kind/define.ts';
import { booleanColumn } from '../kind/printer.ts';
import { boolean, type Field, integer, list, object, once, string, stringMap } from '../kind/schema.ts';
import { stackInfrastructureGroup } from './group.ts';
import { stackConditions, verdictColumns } from './kinds.ts';
import type {
  OpenStackClusterStackRelease,
  OpenStackClusterStackReleaseSpec,
  OpenStackClusterStackReleaseTemplate,
  OpenStackNodeImageRelease,
  OpenStackNodeImageReleaseSpec,
  ProviderReleaseStatus,
  StackIdentityReference,
} from './types.ts';

// Kinds of the OpenStack provider of cluster stacks, for stacks that ship their own node images.

const identity = (): Field<StackIdentityReference> =>
  object(
    {
      kind: string('Kind of the identity: Secret.', { minLength: 1 }).required(),
      name: string('Name of the Secret, in the same namespace.').required(),
    },
    'Credentials of the cloud.',
  );

const providerSpec: () => Field<OpenStackClusterStackReleaseSpec> = once(() =>
  object({ identityRef: identity().default({ kind: 'Secret', name: 'openstack' }) }, 'Desired state.'),
);

const providerStatus: () => Field<ProviderReleaseStatus> = once(() =>
  object(
    { ready: boolean('Whether the release can be used.').default(false), conditions: stackConditions() },
    'Observed state.',
  ),
);

const columns = [booleanColumn('Ready', '.status.ready'), ...verdictColumns];

export const openStackClusterStackReleaseKind: Kind<OpenStackClusterStackRelease> =
  defineKind<OpenStackClusterStackRelease>({
    group: stackInfrastructureGroup,
    kind: 'OpenStackClusterStackRelease',
    plural: 'openstackclusterstackreleases',
    shortNames: ['oscsr'],
    categories: [],
    description: 'What a release of a cluster stack needs in OpenStack: its node images.',
    hub: { name: 'v1alpha1', spec: providerSpec, status: providerStatus, columns },
  });

export const openStackClusterStackReleaseTemplateKind: Kind<OpenStackClusterStackReleaseTemplate> =
  defineKind<OpenStackClusterStackReleaseTemplate>({
    group: stackInfrastructureGroup,
    kind: 'OpenStackClusterStackReleaseTemplate',
    plural: 'openstackclusterstackreleasetemplates',
    shortNames: ['oscsrt'],
    categories: [],
    description: 'What OpenStackClusterStackReleases are made from.',
    hub: {
      name: 'v1alpha1',
      spec: once(() =>
        object(
          { template: object({ spec: providerSpec().required() }, 'The created object.').required() },
          'Desired state.',
        ),
      ),
      status: once(() => object({}, 'Nothing is observed.')),
    },
  });

const imageSpec: () => Field<OpenStackNodeImageReleaseSpec> = once(() =>
  object(
    {
      identityRef: identity().required(),
      image: object(
        {
          url: string('Download URL of the image.').required(),
          createOpts: object(
            {
              name: string('Name of the image.').required(),
              id: string('Id of the image.'),
              visibility: string('Visibility of the image.'),
              os_hidden: boolean('Whether it is hidden in lists.'),
              tags: list(string(), 'Tags of the image.'),
              container_format: string('Container format of the image.'),
              disk_format: string('Disk format.'),
              min_disk: integer('Disk needed, in GB.'),
              min_ram: integer('Memory needed, in MB.'),
              protected: boolean('Whether the image is protected.'),
              properties: stringMap('Additional properties of the image.'),
            },
            'How the image is created or imported.',
          ).required(),
        },
        'The image.',
      ).required(),
    },
    'Desired state.',
  ),
);

export const openStackNodeImageReleaseKind: Kind<OpenStackNodeImageRelease> = defineKind<OpenStackNodeImageRelease>({
  group: stackInfrastructureGroup,
  kind: 'OpenStackNodeImageRelease',
  plural: 'openstacknodeimagereleases',
  shortNames: ['osnir'],
  categories: [],
  description: 'A node image of a cluster stack.',
  hub: { name: 'v1alpha1', spec: imageSpec, status: providerStatus, columns },
});
