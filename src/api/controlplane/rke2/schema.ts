import { rke2Component, rke2ConfigFields } from '../../bootstrap/rke2/schema.ts';
import { duration, nodeTimeouts } from '../../cluster/cluster-v1beta1.ts';
import { contractReference, nodeDeletion, objectReference, templateMetadata } from '../../cluster/common-schema.ts';
import { boolean, type Field, int32, list, object, once, oneOf, string, type UntypedField } from '../../kind/schema.ts';
import {
  lastRemediationWithTimestamp,
  machinesDescription,
  maxSurge,
  planeReplicas,
  planeStatusFields,
  planeStatusFieldsV1beta1,
  planeVersion,
} from '../schema.ts';
import type {
  RKE2ControlPlaneSpec,
  RKE2ControlPlaneStatus,
  RKE2ControlPlaneTemplateSpec,
  RKE2Etcd,
  RKE2ServerConfig,
} from './types.ts';

const etcd = (): Field<RKE2Etcd> =>
  object(
    {
      backupConfig: object(
        {
          directory: string('Directory for snapshots.'),
          disableAutomaticSnapshots: boolean('Disable scheduled snapshots.'),
          retention: string('Number of snapshots to keep; absent means 5.'),
          s3: object(
            {
              bucket: string('The bucket.'),
              endpoint: string('Address of the object store.').required(),
              endpointCAsecret: objectReference('Secret with the CA of the object store, key ca.pem.'),
              enforceSslVerify: boolean('Whether the certificate of the object store is checked; default true.'),
              folder: string('Folder in the bucket.'),
              region: string('Region of the bucket.'),
              s3CredentialSecret: objectReference('Secret with the keys aws_access_key_id and aws_secret_access_key.'),
            },
            'Object store snapshots are copied to.',
          ),
          scheduleCron: string('Schedule of snapshots, as cron; absent means every twelve hours.'),
          snapshotName: string('Prefix of the names of snapshots.'),
        },
        'Snapshots of etcd.',
      ),
      customConfig: rke2Component('etcd'),
      exposeMetrics: boolean('Serve the metrics of etcd outside of the machine.'),
    },
    'The etcd on the machines.',
  );

const serverConfig = (): Field<RKE2ServerConfig> =>
  object(
    {
      advertiseAddress: string('Address that the API server advertises.'),
      auditPolicySecret: objectReference('Secret with an audit policy, key audit-policy.yaml.'),
      bindAddress: string('Address rke2 listens on.'),
      cloudControllerManager: rke2Component("rke2's own cloud controller"),
      cloudProviderConfigMap: objectReference(
        'ConfigMap with the configuration of a cloud provider, key cloud-config.',
      ),
      cloudProviderName: string('Name of the cloud provider.'),
      clusterDNS: string('Address of the DNS of the cluster.'),
      clusterDomain: string('Domain of the cluster.'),
      cni: oneOf(['none', 'calico', 'canal', 'cilium'], 'Network plugin rke2 installs; absent means canal.'),
      cniMultusEnable: boolean('Install Multus before the network plugin.'),
      disableComponents: object(
        {
          kubernetesComponents: list(
            oneOf(['scheduler', 'kubeProxy', 'cloudController'], ''),
            'Kubernetes components that do not run.',
          ),
          pluginComponents: list(string(), 'Charts of rke2 that are not installed, e.g. rke2-ingress-nginx.'),
        },
        'Components to leave out.',
      ),
      embeddedRegistry: boolean('Let machines pull images from each other.'),
      etcd: etcd(),
      externalDatastoreSecret: objectReference('Secret with the address of another datastore, key endpoint.'),
      ingressController: list(oneOf(['none', 'traefik', 'ingress-nginx'], ''), 'Ingress controllers to install.'),
      kubeAPIServer: rke2Component('the API server'),
      kubeControllerManager: rke2Component('the controller manager'),
      kubeScheduler: rke2Component('the scheduler'),
      pauseImage: string('Image of the sandbox of Pods.'),
      secretsEncryption: object(
        {
          encryptionKeySecret: objectReference('Secret with the key, key encryptionKey.'),
          provider: oneOf(['aescbc', 'secretbox'], 'How Secrets are encrypted.'),
        },
        'Encryption of stored Secrets.',
      ),
      serviceNodePortRange: string('Ports for Services of type NodePort.'),
      supervisorMetrics: boolean('Serve metrics on port 9345.'),
      tlsSan: list(string(), 'Additional names and addresses in the certificate of the API server.'),
    },
    'How the servers run.',
  );

const sharedFields = () => ({
  ...rke2ConfigFields(),
  manifestsConfigMapReference: objectReference(
    'ConfigMap with manifests that are applied when the cluster is created.',
  ),
  registrationAddress: string('Address where machines register, with the method address.'),
  registrationMethod: oneOf(
    ['internal-first', 'internal-only-ips', 'external-only-ips', 'address', 'control-plane-endpoint', ''],
    'How joining machines find a server; absent means control-plane-endpoint.',
  ),
  remediationStrategy: object(
    {
      maxRetry: int32('Maximum number of attempts to replace a machine; absent means no limit.'),
      minHealthyPeriod: duration('How long a replacement must be healthy to count as done.'),
      retryPeriod: duration('How long to wait between two tries.'),
    },
    'How unhealthy machines are replaced.',
  ),
  rolloutStrategy: object(
    {
      type: string('RollingUpdate.'),
      rollingUpdate: object({ maxSurge: maxSurge() }, 'Limits of a step by step replacement.'),
    },
    'How old machines are replaced by new ones.',
  ),
  serverConfig: serverConfig(),
});

export const rke2ControlPlaneSpec: () => Field<RKE2ControlPlaneSpec> = once(() =>
  object(
    {
      ...sharedFields(),
      replicas: planeReplicas(),
      version: planeVersion(),
      machineTemplate: object(
        {
          metadata: templateMetadata(1),
          spec: object(
            {
              infrastructureRef: contractReference('Template of the infrastructure of the machines.').required(),
              deletion: nodeDeletion(),
            },
            'Spec of the machines.',
          ).required(),
        },
        machinesDescription,
      ).required(),
    },
    'Desired state.',
  ),
);

/** v1beta1 has two fields both in the spec and in the machine template. */
const fieldsV1beta1 = () => ({
  ...sharedFields(),
  replicas: planeReplicas(),
  version: string('Desired version of RKE2.'),
  infrastructureRef: objectReference('Template of the infrastructure of the machines; write machineTemplate instead.'),
  nodeDrainTimeout: duration('How long draining a Node may take; write machineTemplate instead.'),
  machineTemplate: object(
    {
      metadata: templateMetadata(),
      infrastructureRef: objectReference('Template of the infrastructure of the machines.'),
      ...nodeTimeouts(),
    },
    machinesDescription,
  ),
});

export const rke2ControlPlaneSpecV1beta1: () => UntypedField = once(() => object(fieldsV1beta1(), 'Desired state.'));

const availableServerIPs = (): Field<string[]> =>
  list(string(), 'Addresses of servers that machines can register with.');

export const rke2ControlPlaneStatus: () => Field<RKE2ControlPlaneStatus> = once(() =>
  object(
    {
      ...planeStatusFields(),
      availableServerIPs: availableServerIPs(),
      lastRemediation: lastRemediationWithTimestamp(),
    },
    'Observed state.',
  ),
);

export const rke2ControlPlaneStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...planeStatusFieldsV1beta1(),
      availableServerIPs: availableServerIPs(),
      dataSecretName: string('No longer used.'),
    },
    'Observed state.',
  ),
);

const templateDescription = 'Template of the control planes.';

export const rke2ControlPlaneTemplateSpec: () => Field<RKE2ControlPlaneTemplateSpec> = once(() =>
  object(
    {
      template: object(
        {
          metadata: templateMetadata(1),
          spec: object(
            {
              ...sharedFields(),
              machineTemplate: object(
                {
                  metadata: templateMetadata(1),
                  spec: object(
                    {
                      infrastructureRef: contractReference('Without effect here: a class sets this elsewhere.'),
                      deletion: nodeDeletion(),
                    },
                    'Spec of the machines.',
                  ),
                },
                machinesDescription,
              ),
            },
            'Spec of the control planes.',
          ).required(),
        },
        templateDescription,
      ).required(),
    },
    'Desired state.',
  ),
);

export const rke2ControlPlaneTemplateSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      template: object(
        { metadata: templateMetadata(), spec: object(fieldsV1beta1(), 'Spec of the control planes.').required() },
        templateDescription,
      ).required(),
    },
    'Desired state.',
  ),
);
