import { must } from '../../machinery/index.ts';
import { apiEndpoint } from '../cluster/cluster-schema.ts';
import { conditions, templateMetadata } from '../cluster/common-schema.ts';
import type { StatusCondition } from '../cluster/types.ts';
import type { PersistentVolumeClaimSpec } from '../core/persistent-volume-claim.ts';
import type { ResourceRequirements, TopologySpreadConstraint, Volume } from '../core/pod-types.ts';
import { coreFields, coreType } from '../kind/core-type.ts';
import {
  anyObject,
  boolean,
  type Field,
  fieldOf,
  int32,
  int64,
  integer,
  list,
  object,
  once,
  oneOf,
  quantity,
  string,
  stringMap,
  type UntypedField,
} from '../kind/schema.ts';
import type {
  EmbeddedClaim,
  EmbeddedMetadata,
  JoinTokenRequestSpec,
  JoinTokenRequestStatus,
  K0smotronClusterSpec,
  K0smotronClusterStatus,
  K0smotronEtcd,
  K0smotronIngress,
  K0smotronMount,
  K0smotronPersistence,
  K0smotronService,
  K0smotronStorage,
  KubeconfigReference,
  VolumeSize,
} from './types.ts';

const defaultEtcdImage = 'quay.io/k0sproject/etcd:v3.7.1';

/** Conditions without a list key, because upstream's list is effectively atomic. */
export const plainConditions: () => Field<StatusCondition[]> = once(() =>
  list(condition(), 'Conditions of the object.'),
);

const condition = (): Field<StatusCondition> => {
  const { items } = conditions().schema;
  return fieldOf<StatusCondition>(must(items, 'the schema of a condition'));
};

export const embeddedMetadata = (): Field<EmbeddedMetadata> =>
  object(
    {
      annotations: stringMap('Annotations for objects created from this template.'),
      finalizers: list(string(), 'Finalizers for objects created from this template.'),
      labels: stringMap('Labels for objects created from this template.'),
      name: string('Ignored: the controller chooses names.'),
      namespace: string('Ignored: created objects are in the same namespace.'),
    },
    'Labels and annotations for objects created from this template.',
  );

const kubeconfigReference = (description: string): Field<KubeconfigReference> =>
  object(
    {
      key: string('Key of the Secret.').default('value'),
      name: string('Name of the Secret.').required(),
      namespace: string('Namespace of the Secret.').required(),
    },
    description,
  );

const ingress: () => Field<K0smotronIngress> = once(() =>
  object(
    {
      annotations: stringMap('Annotations of the Ingress. Its controller must pass TLS through.'),
      apiHost: string('Host name of the API server.').required(),
      className: string('Class of the Ingress.'),
      deploy: boolean('Create the Ingress; true by default.'),
      konnectivityHost: string('Host name of the konnectivity server.').required(),
      port: int64('Port of both hosts.').default(443),
    },
    'Reaches the control plane by name through an Ingress.',
  ),
);

const serviceDefault = { apiPort: 30443, konnectivityPort: 30132, type: 'ClusterIP' };

const service: () => Field<K0smotronService> = once(() =>
  object(
    {
      annotations: stringMap('Annotations of the Service, such as those of a cloud for its load balancer.'),
      apiPort: integer('Port of the API server.').default(30443),
      externalTrafficPolicy: oneOf(['Cluster', 'Local'], 'Whether traffic from outside may take a second hop.'),
      konnectivityPort: integer('Port of the konnectivity server.').default(30132),
      labels: stringMap('Labels of the Service.'),
      loadBalancerClass: string('Class of the load balancer.'),
      type: oneOf(['ClusterIP', 'NodePort', 'LoadBalancer'], 'How the control plane is reached.')
        .default('ClusterIP')
        .required(),
    },
    'The Service in front of the control plane.',
  ).default(serviceDefault),
);

const embeddedClaim: () => Field<EmbeddedClaim> = once(() =>
  object(
    {
      apiVersion: string('Group and version of the claim.'),
      kind: string('PersistentVolumeClaim.'),
      metadata: embeddedMetadata(),
      spec: coreType<PersistentVolumeClaimSpec>('PersistentVolumeClaimSpec', 'Desired volume.'),
      status: coreType<EmbeddedClaim['status'] & object>('PersistentVolumeClaimStatus', 'Ignored.'),
    },
    'The claim of each controller.',
  ),
);

const persistence: () => Field<K0smotronPersistence> = once(() =>
  object(
    {
      autoDeletePVCs: boolean('Delete the claims with the control plane.').default(false),
      hostPath: string('Directory of the node, with type hostPath.'),
      persistentVolumeClaim: embeddedClaim(),
      type: string('Type of the storage: emptyDir, hostPath or pvc.').default('emptyDir').required(),
    },
    'Storage for the files of the controllers.',
  ),
);

const volumeSize = (description: string): Field<VolumeSize> =>
  object(
    {
      size: quantity('Size of each volume.').default('1Gi'),
      storageClass: string('Class of the volumes; the default class when empty.'),
    },
    description,
  );

const resources = (description: string): Field<ResourceRequirements> =>
  coreType<ResourceRequirements>('ResourceRequirements', description);

const etcd: () => Field<K0smotronEtcd> = once(() =>
  object(
    {
      args: list(string(), 'Additional arguments of etcd.'),
      autoDeletePVCs: boolean('Delete the claims with the control plane.').default(false),
      defragJob: object(
        {
          enabled: boolean('Defragments on a schedule.').default(false).required(),
          image: string('Image of the job.').default('ghcr.io/ahrtr/etcd-defrag:v0.16.0').required(),
          rule: string('Rule for the members to defragment.')
            .default('dbQuotaUsage > 0.8 || dbSize - dbSizeInUse > 200*1024*1024')
            .required(),
          schedule: string('Schedule, as cron.').default('0 12 * * *').required(),
        },
        'Defragments the members one after the other.',
      ),
      image: string('Image of etcd.').default(defaultEtcdImage).required(),
      persistence: volumeSize('Volumes of the members.'),
      resources: resources('Resources of each member.'),
    },
    'Its own etcd.',
  ).default({ image: defaultEtcdImage, persistence: {} }),
);

const storage: () => Field<K0smotronStorage> = once(() =>
  object(
    {
      etcd: etcd(),
      kine: object(
        {
          dataSourceSecretName: string('Secret with the URL under K0SMOTRON_KINE_DATASOURCE_URL.'),
          dataSourceURL: string('URL of the database.'),
        },
        'A SQL database, through kine.',
      ),
      nats: object({ persistence: volumeSize('Volumes of the servers.') }, 'NATS inside the controllers.'),
      type: oneOf(['etcd', 'kine', 'nats'], 'Type of the storage for the data of the cluster.').default('etcd'),
    },
    'Storage for the data of the cluster.',
  ),
);

const certificateRefs = (): Field<NonNullable<K0smotronClusterSpec['certificateRefs']>> =>
  list(
    object({
      name: string('Secret with the certificate.'),
      type: oneOf(
        ['ca', 'sa', 'proxy', 'etcd', 'apiserver-etcd-client', 'etcd-peer', 'etcd-server'],
        'Purpose of the certificate.',
      ).required(),
    }),
    'Certificates that exist already.',
  );

const mounts: () => Field<K0smotronMount[]> = once(() => {
  const { schema } = object(
    {
      ...coreFields('VolumeSource'),
      path: string('Mount path.').required(),
      readOnly: boolean('Mount it read-only.'),
    },
    '',
  );
  return list(fieldOf<K0smotronMount>(schema), 'Volumes of the controllers.');
});

const patches = (): Field<NonNullable<K0smotronClusterSpec['patches']>> =>
  list(
    object({
      patch: object(
        {
          content: string('The patch, as text.').required(),
          type: oneOf(['json', 'strategic', 'merge'], 'Format of the patch.').required(),
        },
        'The change.',
      ).required(),
      target: object(
        {
          component: string('Value of the label app.kubernetes.io/component.').required(),
          kind: string('Kind of the objects.').required(),
        },
        'Objects to change.',
      ).required(),
    }),
    'Patches for the objects of a control plane before they are applied.',
  );

const monitoring = (): Field<NonNullable<K0smotronClusterSpec['monitoring']>> =>
  object(
    {
      enabled: boolean('Collect metrics of the control plane.').required(),
      prometheusImage: string('Image that collects.').default('quay.io/k0sproject/prometheus:v2.44.0').required(),
      proxyImage: string('Image that serves them.').default('nginx:1.19.10').required(),
    },
    'Metrics of the control plane for the Prometheus of the management cluster.',
  );

/** Fields with the same name and form in both versions. */
const sharedFields = () => ({
  certificateRefs: certificateRefs(),
  externalAddress: string('Address for the nodes; set automatically for load balancers and node ports.'),
  image: string('Image of k0s; a tag in it counts as the version.').default('quay.io/k0sproject/k0s'),
  ingress: ingress(),
  k0sConfig: anyObject('Configuration of k0s: a ClusterConfig of k0s.k0sproject.io/v1beta1.'),
  kubeconfigSecretMetadata: templateMetadata().describe('Labels and annotations of the kubeconfig Secret.'),
  manifests: list(coreType<Volume>('Volume'), 'Volumes with manifests that k0s applies to the cluster.'),
  monitoring: monitoring(),
  mounts: mounts(),
  replicas: int32('Desired number of controllers.').default(1),
  resources: resources('Resources of each controller.'),
  service: service(),
  serviceAccount: string('Service account of the pods.'),
  topologySpreadConstraints: list(
    coreType<TopologySpreadConstraint>('TopologySpreadConstraint'),
    'How the pods are spread over nodes.',
  ),
  version: string('Version of k0s, e.g. v1.32.6-k0s.0 or v1.32.6+k0s.0; v1.32.6 means its first release.'),
});

export const k0smotronClusterSpec: () => Field<K0smotronClusterSpec> = once(() =>
  object(
    {
      ...sharedFields(),
      controlPlaneFlags: list(string(), 'Additional flags of `k0s controller`.'),
      patches: patches(),
      persistence: persistence(),
      remoteHostCluster: object(
        { kubeconfigRef: kubeconfigReference('Secret with the kubeconfig of that cluster.') },
        'Run the pods on another cluster.',
      ),
      storage: storage(),
    },
    'Desired state.',
  ),
);

export const k0smotronClusterSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...sharedFields(),
      controllerPlaneFlags: list(string(), 'Additional flags of `k0s controller`.'),
      etcd: etcd(),
      kineDataSourceSecretName: string('Secret with the URL under K0SMOTRON_KINE_DATASOURCE_URL.'),
      kineDataSourceURL: string('URL of a SQL database, through kine.'),
      kubeconfigRef: kubeconfigReference('Secret with the kubeconfig of the cluster that runs the pods.'),
      persistence: persistence().default({ type: 'emptyDir' }),
    },
    'Desired state.',
  ),
);

const selector = (): Field<string> => string('Selector of the pods as text, for the scale subresource.');
const reconciliationStatus = (): Field<string> => string('Result of the last reconciliation.');

export const k0smotronClusterStatus: () => Field<K0smotronClusterStatus> = once(() =>
  object(
    {
      conditions: plainConditions(),
      controlPlaneEndpoint: apiEndpoint(),
      deprecated: object(
        {
          v1beta1: object(
            { ready: boolean('True while the control plane works.'), reconciliationStatus: reconciliationStatus() },
            'Status in the form of v1beta1.',
          ),
        },
        'Kept for old clients.',
      ),
      readyReplicas: int32('Controllers that are ready.'),
      replicas: int32('Controllers that exist.'),
      selector: selector(),
      updatedReplicas: int32('Controllers that match the spec.'),
    },
    'Observed state.',
  ),
);

export const k0smotronClusterStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ready: boolean('True while the control plane works.'),
      reconciliationStatus: reconciliationStatus().required(),
      replicas: int32('Controllers that exist.'),
      selector: selector(),
    },
    'Observed state.',
  ),
);

const expiry = (): Field<string> => string('How long the token is valid; 0s means forever.').default('0s');
const role = (): Field<'worker' | 'controller'> =>
  oneOf(['worker', 'controller'], 'Role of the nodes that join with the token.').default('worker');

export const joinTokenRequestSpec: () => Field<JoinTokenRequestSpec> = once(() =>
  object(
    {
      clusterName: string('Name of the cluster, in the same namespace.', { minLength: 1, maxLength: 63 }).required(),
      expiry: expiry(),
      role: role(),
    },
    'Desired state.',
  ),
);

export const joinTokenRequestSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      clusterRef: object(
        { name: string('Name of the cluster.').required(), namespace: string('Namespace of the cluster.').required() },
        'The cluster.',
      ).required(),
      expiry: expiry(),
      role: role(),
    },
    'Desired state.',
  ),
);

export const joinTokenRequestStatus: () => Field<JoinTokenRequestStatus> = once(() =>
  object(
    {
      conditions: plainConditions(),
      deprecated: object(
        {
          v1beta1: object(
            { clusterUID: string('UID of the cluster.'), reconciliationStatus: reconciliationStatus() },
            'Status in the form of v1beta1.',
          ),
        },
        'Kept for old clients.',
      ),
      tokenID: string('The public part of the token.'),
    },
    'Observed state.',
  ),
);

export const joinTokenRequestStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      clusterUID: string('UID of the cluster.'),
      reconciliationStatus: reconciliationStatus().required(),
      tokenID: string('The public part of the token.'),
    },
    'Observed state.',
  ),
);
