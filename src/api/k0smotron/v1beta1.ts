import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { chain, field, fields, type Mapping } from '../kind/mapping.ts';

const kineFields = { kineDataSourceURL: 'dataSourceURL', kineDataSourceSecretName: 'dataSourceSecretName' } as const;

/** v1beta1 selects the storage by the field that is set, v1beta2 has an explicit type. */
const storage: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { etcd, kineDataSourceURL, kineDataSourceSecretName, ...rest } = value;
    const kine: JsonObject = {};
    if (kineDataSourceURL !== undefined) kine[kineFields.kineDataSourceURL] = kineDataSourceURL;
    if (kineDataSourceSecretName !== undefined) {
      kine[kineFields.kineDataSourceSecretName] = kineDataSourceSecretName;
    }
    const usesKine = Object.values(kine).some((text) => text !== '');
    const hasKine = Object.keys(kine).length > 0;
    if (etcd === undefined && !hasKine) return rest;
    return {
      ...rest,
      storage: {
        type: usesKine ? 'kine' : 'etcd',
        ...(etcd === undefined ? {} : { etcd }),
        ...(hasKine ? { kine } : {}),
      },
    };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { storage: said, ...rest } = value;
    if (!isJsonObject(said)) return rest;
    const result: JsonObject = { ...rest };
    if (said['etcd'] !== undefined) result['etcd'] = said['etcd'];
    const { kine } = said;
    // In v1beta1, an unused address would enable kine.
    if (!isJsonObject(kine) || said['type'] !== 'kine') return result;
    for (const [old, hub] of Object.entries(kineFields)) if (kine[hub] !== undefined) result[old] = kine[hub];
    return result;
  },
};

/** Mapping of the spec that k0smotron's Cluster, K0smotronControlPlane and its template share. */
export const k0smotronSpecMapping: Mapping = chain(
  storage,
  fields(field('kubeconfigRef', 'remoteHostCluster.kubeconfigRef'), field('controllerPlaneFlags', 'controlPlaneFlags')),
);

export const k0smotronClusterV1beta1: Mapping = fields(
  field('spec', 'spec', k0smotronSpecMapping),
  field(
    'status',
    'status',
    fields(
      field('ready', 'deprecated.v1beta1.ready'),
      field('reconciliationStatus', 'deprecated.v1beta1.reconciliationStatus'),
    ),
  ),
);

/** v1beta1 can name a cluster of another namespace; that namespace is kept for the conversion back. */
const clusterRef: Mapping = {
  up: (value) => (isJsonObject(value) ? value['name'] : undefined),
  down: (value, { namespace }) => ({ name: value, ...(namespace === undefined ? {} : { namespace }) }),
};

export const joinTokenRequestV1beta1: Mapping = fields(
  field('spec', 'spec', fields(field('clusterRef', 'clusterName', clusterRef))),
  field(
    'status',
    'status',
    fields(
      field('clusterUID', 'deprecated.v1beta1.clusterUID'),
      field('reconciliationStatus', 'deprecated.v1beta1.reconciliationStatus'),
    ),
  ),
);
