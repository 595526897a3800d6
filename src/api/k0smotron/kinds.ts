import type { ScalePaths } from '../../machinery/index.ts';
import { contractLabels } from '../kind/contract-labels.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { joinTokenRequestStrategy, k0smotronClusterStrategy } from './admission.ts';
import {
  joinTokenRequestSpec,
  joinTokenRequestSpecV1beta1,
  joinTokenRequestStatus,
  joinTokenRequestStatusV1beta1,
  k0smotronClusterSpec,
  k0smotronClusterSpecV1beta1,
  k0smotronClusterStatus,
  k0smotronClusterStatusV1beta1,
} from './schema.ts';
import type { JoinTokenRequest, K0smotronCluster } from './types.ts';
import { joinTokenRequestV1beta1, k0smotronClusterV1beta1 } from './v1beta1.ts';

export const k0smotronGroup = 'k0smotron.io';

const labels = contractLabels('k0sproject-k0smotron');
const scale: ScalePaths = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};
/** Without Cluster API, a node port is the best default to expose a control plane. */
const standaloneDefault = { service: { type: 'NodePort' } };

export const k0smotronClusterKind: Kind<K0smotronCluster> = defineKind<K0smotronCluster>({
  group: k0smotronGroup,
  kind: 'Cluster',
  plural: 'clusters',
  shortNames: ['kmc'],
  categories: [],
  description: 'A control plane of k0s in pods.',
  labels,
  strategy: k0smotronClusterStrategy,
  hub: {
    name: 'v1beta2',
    spec: () => k0smotronClusterSpec().default(standaloneDefault),
    status: k0smotronClusterStatus,
    scale,
  },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: () => ({ schema: { ...k0smotronClusterSpecV1beta1().schema, default: standaloneDefault } }),
      status: k0smotronClusterStatusV1beta1,
      mapping: k0smotronClusterV1beta1,
      scale,
    },
  ],
});

export const joinTokenRequestKind: Kind<JoinTokenRequest> = defineKind<JoinTokenRequest>({
  group: k0smotronGroup,
  kind: 'JoinTokenRequest',
  plural: 'jointokenrequests',
  shortNames: ['jtr'],
  categories: [],
  description: 'Asks for a token with which a machine joins a cluster of k0smotron.',
  labels,
  strategy: joinTokenRequestStrategy,
  hub: { name: 'v1beta2', spec: joinTokenRequestSpec, status: joinTokenRequestStatus },
  old: [
    {
      name: 'v1beta1',
      deprecated: true,
      spec: joinTokenRequestSpecV1beta1,
      status: joinTokenRequestStatusV1beta1,
      mapping: joinTokenRequestV1beta1,
    },
  ],
});
