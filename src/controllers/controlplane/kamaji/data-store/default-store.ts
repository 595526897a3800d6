import { type DataStore, DataStores } from '../../../../api/index.ts';
import { type EtcdClusterSpec, kamajiNaming, type PlaneNaming, type SecretPlace } from '../../../../hosting/index.ts';
import { formatApiVersion } from '../../../../machinery/index.ts';
import { ownerReference } from '../../../shared/index.ts';
import type { KamajiSettings } from '../scope.ts';

// The DataStore created if none exists: an etcd of three members, named like Kamaji's etcd chart.

const etcdName = 'kamaji-etcd';
const members = 3;
const image = 'registry.k8s.io/etcd:3.6.5-0';
const authoritySecret = `${etcdName}-certs`;
const clientSecret = `${etcdName}-root-client-certs`;
const dayMs = 24 * 3_600_000;
/** marks a DataStore whose etcd Capstan runs */
const managedByLabel = 'app.kubernetes.io/managed-by';
const us = 'capstan';

export const isManaged = ({ metadata }: DataStore): boolean => metadata.labels?.[managedByLabel] === us;

export function managedDataStore({ systemNamespace, defaultDataStore }: KamajiSettings): DataStore {
  const secret = (name: string, keyPath: string) => ({
    secretReference: { name, namespace: systemNamespace, keyPath },
  });
  return {
    apiVersion: formatApiVersion(DataStores.group, DataStores.version),
    kind: DataStores.kind,
    metadata: { name: defaultDataStore, labels: { [managedByLabel]: us } },
    spec: {
      driver: 'etcd',
      endpoints: Array.from(
        { length: members },
        (_, i) => `${etcdName}-${i}.${etcdName}.${systemNamespace}.svc.cluster.local:2379`,
      ),
      tlsConfig: {
        certificateAuthority: {
          certificate: secret(authoritySecret, 'ca.crt'),
          privateKey: secret(authoritySecret, 'ca.key'),
        },
        clientCertificate: {
          certificate: secret(clientSecret, 'tls.crt'),
          privateKey: secret(clientSecret, 'tls.key'),
        },
      },
    },
  };
}

/** Builds the spec of the etcd behind it, with authentication enabled; Capstan connects as `root`. */
export function managedEtcdSpec(store: DataStore, systemNamespace: string): EtcdClusterSpec {
  return {
    identity: {
      namespace: systemNamespace,
      clusterName: etcdName,
      owner: ownerReference(store, DataStores, { controller: true }),
    },
    naming: etcdNaming,
    replicas: 1,
    images: { etcd: image },
    components: {},
    pods: { automountServiceAccountToken: false },
    dataStore: {
      kind: 'own-etcd',
      members,
      storage: { size: '10Gi' },
      deleteVolumes: true,
      claimsFollowSet: true,
      operatorName: 'root',
    },
    certificates: {
      authorityDurationMs: 3650 * dayMs,
      leafDurationMs: 365 * dayMs,
      leafRenewBeforeMs: 90 * dayMs,
      authorityRenewBeforeMs: 365 * dayMs,
    },
    patches: [],
  };
}

const labels = { 'app.kubernetes.io/name': etcdName, 'app.kubernetes.io/instance': etcdName };

function place(secret: string, stem: string, bundle?: string): SecretPlace {
  const [certificate, privateKey] = stem.endsWith('.pem')
    ? [stem, stem.replace(/\.pem$/, '-key.pem')]
    : [`${stem}.crt`, `${stem}.key`];
  return {
    name: secret,
    certificate: [certificate],
    privateKey: [privateKey],
    ...(bundle !== undefined && { bundle: [bundle] }),
  };
}

const etcdNaming: PlaneNaming = {
  ...kamajiNaming(etcdName),
  etcd: etcdName,
  etcdService: etcdName,
  etcdClientService: etcdName,
  etcdSettings: `${etcdName}-settings`,
  secrets: {
    'etcd-ca': place(authoritySecret, 'ca', 'ca-bundle.crt'),
    'etcd-server': place(authoritySecret, 'server.pem'),
    'etcd-peer': place(authoritySecret, 'peer.pem'),
    'etcd-operator': place(clientSecret, 'tls'),
  },
  labels: () => labels,
  selector: () => labels,
};
