import type { K0smotronClusterSpec, K0smotronEtcd } from '../../../api/index.ts';
import type { DataStoreSpec } from '../../../hosting/index.ts';
import { quantityValue } from '../../../machinery/index.ts';

const defaultEtcdImage = 'quay.io/k0sproject/etcd:v3.7.1';
const defaultSize = '1Gi';

export const etcdOf = ({ storage }: K0smotronClusterSpec): K0smotronEtcd =>
  storage?.etcd ?? { image: defaultEtcdImage };

/** k0smotron stores 0 for sizes that the user left open. */
const sizeOf = (size: string | number | undefined): string =>
  size === undefined || quantityValue(String(size)) === 0 ? defaultSize : String(size);

/** Translates the storage of a plane to a data store spec. */
export function dataStoreSpec(spec: K0smotronClusterSpec, members: number): DataStoreSpec {
  const { storage } = spec;
  switch (storage?.type) {
    case 'kine': {
      const { dataSourceURL = '', dataSourceSecretName } = storage.kine ?? {};
      return {
        kind: 'k0s',
        source: dataSourceSecretName
          ? { type: 'kine-secret', secretName: dataSourceSecretName }
          : { type: 'kine', url: dataSourceURL },
      };
    }
    case 'nats': {
      const { size, storageClass } = storage.nats?.persistence ?? {};
      return {
        kind: 'k0s',
        source: { type: 'nats', size: sizeOf(size), ...(storageClass && { storageClass }) },
      };
    }
    default:
      return ownEtcd(etcdOf(spec), members);
  }
}

function ownEtcd({ persistence, autoDeletePVCs, defragJob }: K0smotronEtcd, members: number): DataStoreSpec {
  const { size, storageClass } = persistence ?? {};
  return {
    kind: 'own-etcd',
    members,
    storage: { size: sizeOf(size), ...(storageClass && { storageClass }) },
    deleteVolumes: autoDeletePVCs === true,
    ...(defragJob?.enabled === true && { defragment: { schedule: defragJob.schedule, rule: defragJob.rule } }),
  };
}
