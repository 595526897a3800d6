import {
  type Cluster,
  Clusters,
  clusterNameLabel,
  type KamajiControlPlane,
  KamajiControlPlanes,
  type TenantControlPlane,
} from '../../../../api/index.ts';
import type { ReconcileContext } from '../../../../runtime/index.ts';
import { ownerOf } from '../../../shared/index.ts';

/**
 * Parent objects of a control plane: both set if a KamajiControlPlane created it, both undefined for a standalone one.
 */
export interface TenantFamily {
  readonly parent: KamajiControlPlane | undefined;
  readonly cluster: Cluster | undefined;
  /** name of the Cluster; for standalone control planes, of the object itself */
  readonly clusterName: string;
  /** whether a KamajiControlPlane created it */
  readonly isChild: boolean;
}

export function familyOf({ cache }: Pick<ReconcileContext, 'cache'>, tenant: TenantControlPlane): TenantFamily {
  const { name = '', namespace = '', labels } = tenant.metadata;
  const owner = ownerOf(tenant, KamajiControlPlanes);
  if (!owner) return { parent: undefined, cluster: undefined, clusterName: name, isChild: false };
  const clusterName = labels?.[clusterNameLabel] ?? name;
  return {
    parent: cache.lister(KamajiControlPlanes).get({ namespace, name: owner.name }),
    cluster: cache.lister(Clusters).get({ namespace, name: clusterName }),
    clusterName,
    isChild: true,
  };
}
