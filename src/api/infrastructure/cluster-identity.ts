import { validateLabelSelector } from '../../machinery/index.ts';
import { labelSelector } from '../cluster/common-schema.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { type Field, object, once, string } from '../kind/schema.ts';
import { validateChangedSpec } from '../kind/strategy.ts';
import { infrastructureGroup } from './group.ts';
import type { OpenStackClusterIdentity, OpenStackClusterIdentitySpec } from './types.ts';

const spec: () => Field<OpenStackClusterIdentitySpec> = once(() =>
  object(
    {
      secretRef: object(
        {
          name: string('Name of the Secret.').required(),
          namespace: string('Namespace of the Secret.').required(),
        },
        'Secret with clouds.yaml.',
      ).required(),
      namespaceSelector: labelSelector().describe('Namespaces that may use the credentials; absent means all.'),
    },
    'Desired state.',
  ),
);

export const openStackClusterIdentityKind: Kind<OpenStackClusterIdentity> = defineKind<OpenStackClusterIdentity>({
  group: infrastructureGroup,
  kind: 'OpenStackClusterIdentity',
  plural: 'openstackclusteridentities',
  shortNames: ['osci'],
  namespaced: false,
  description: 'Credentials that clusters of several namespaces share.',
  labels: contractLabels('infrastructure-openstack'),
  // An invalid selector would match no namespace, and users would see no reason.
  strategy: validateChangedSpec<OpenStackClusterIdentity>(({ spec }) => {
    const { namespaceSelector } = spec ?? {};
    return namespaceSelector === undefined ? [] : validateLabelSelector(namespaceSelector, 'spec.namespaceSelector');
  }),
  hub: { name: 'v1alpha1', spec, hasStatus: false },
});
