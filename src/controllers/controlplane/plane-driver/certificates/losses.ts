import type { EtcdClusterSpec } from '../../../../hosting/index.ts';
import type { CacheReader } from '../../../../runtime/index.ts';
import { rotateAnnotations } from '../annotations.ts';
import { seeEtcd } from '../etcd/observe.ts';
import type { PlaneScope } from '../scope.ts';
import type { Losses } from './kept.ts';

const putBack = 'put it back from a backup';

/**
 * Members authenticate each other with this CA, so all certificates of the old one must be gone before a new one is
 * used.
 */
const etcdCure = ({ naming }: EtcdClusterSpec): string =>
  `${putBack}, or delete StatefulSet ${naming.etcd}: it comes back with another authority, and its volumes stay`;

/** Tells who relies on the CAs of a plane: workers and kubeconfigs on the cluster CA, members on the etcd CA. */
export function lossesOfPlane(scope: PlaneScope): Losses {
  const { request, desired, controlPlane } = scope;
  const { cache } = request.context;
  return {
    cure(name) {
      if (name === 'etcd-ca') return seeEtcd(cache, desired).set && etcdCure(desired);
      if (name !== 'ca' || (!request.isInitialized && !controlPlane)) return undefined;
      return `${putBack}, or ask for another authority by the annotation ${rotateAnnotations.ca} of your control plane, after which all workers have to be replaced`;
    },
    request: (name) => (name === 'etcd-ca' ? undefined : request.rotate?.find(({ what }) => what === name)?.token),
  };
}

/** Same for an etcd without a plane. */
export function lossesOfEtcd(cache: CacheReader, desired: EtcdClusterSpec): Losses {
  return {
    cure: () => seeEtcd(cache, desired).set && etcdCure(desired),
    request: () => undefined,
  };
}
