import { conditions, templateMetadata, text } from '../../cluster/common-schema.ts';
import type { ResourceRequirements } from '../../core/pod-types.ts';
import { coreType } from '../../kind/core-type.ts';
import {
  anyObject,
  boolean,
  type Field,
  int32,
  int64,
  list,
  mapOf,
  object,
  once,
  oneOf,
  quantity,
  string,
  stringMap,
  time,
} from '../../kind/schema.ts';
import { defaultAuthorityDuration } from './authority-duration.ts';
import type {
  HostedApiServer,
  HostedAudit,
  HostedBackup,
  HostedClaim,
  HostedControlPlaneSpec,
  HostedControlPlaneStatus,
  HostedControlPlaneTemplateSpec,
  HostedEtcd,
  HostedMount,
  HostedOidcProvider,
} from './types.ts';

const containerFields = (what: string) => ({
  args: stringMap(`Arguments of ${what}, by name without dashes; those of the control plane itself win.`),
  image: object(
    {
      registry: string('Registry of the image.'),
      repository: string('Path of the image.'),
      tag: string('Tag of the image.'),
    },
    `Image of ${what}; missing fields keep their defaults.`,
  ),
  imagePullPolicy: oneOf(['Always', 'IfNotPresent', 'Never'], 'When the image is pulled.').default('Always'),
  resources: coreType<ResourceRequirements>('ResourceRequirements', `Resources of ${what}.`),
});

const podFields = (what: string) => ({
  ...containerFields(what),
  priorityClassName: string('Priority class of the pods.'),
});

const scalable = (what: string, replicas: number) =>
  object(
    { ...podFields(what), replicas: int32('Desired number of pods.', { minimum: 0 }).default(replicas) },
    `Settings of ${what}.`,
  );

const mount: () => Field<HostedMount> = once(() =>
  object({
    configMap: coreType<NonNullable<HostedMount['configMap']>>('ConfigMapVolumeSource', 'Files from a ConfigMap.'),
    path: string('Path of the files.', { minLength: 1 }).required(),
    secret: coreType<NonNullable<HostedMount['secret']>>('SecretVolumeSource', 'Files from a Secret.'),
  }),
);

const audit: () => Field<HostedAudit> = once(() =>
  object(
    {
      mode: oneOf(['batch', 'blocking', 'blocking-strict'], 'Whether requests wait for the log.').default('batch'),
      policy: anyObject('Audit policy: a Policy of audit.k8s.io.').required(),
      webhook: object(
        {
          targets: list(
            object({
              authentication: object(
                {
                  secretName: string('Name of the Secret.', { minLength: 1 }).required(),
                  secretNamespace: string('Namespace of the Secret; the same when empty.'),
                  tokenKey: string('Key of the token in the Secret.').default('token'),
                },
                'A token for the server.',
              ),
              server: string('URL of the server.', { minLength: 1 }).required(),
            }),
            'Targets of the log.',
            { minItems: 1 },
          ).required(),
        },
        'Sends the log to a server instead of printing it.',
      ),
    },
    'The audit log.',
  ),
);

const certSANs = (): Field<string[]> => list(string(), 'Additional names of the serving certificate.');

const apiServer: () => Field<HostedApiServer> = once(() =>
  object(
    {
      ...podFields('the API server'),
      audit: audit(),
      certSANs: certSANs(),
      konnectivity: object(containerFields('the konnectivity server'), 'Settings of the konnectivity server.'),
      mounts: mapOf(mount(), 'Files of ConfigMaps and Secrets, by name.'),
    },
    'Settings of the API server.',
  ),
);

const backup: () => Field<HostedBackup> = once(() =>
  object(
    {
      schedule: string('Schedule: five single values in the order of cron, or @daily.', { minLength: 1 }).required(),
      secret: object(
        {
          accessKeyIDKey: string('Key of the access key id.').default('accessKeyID'),
          bucketKey: string('Key of the bucket, which may be bucket/prefix.').default('bucket'),
          hostKey: string('Key of the host.').default('host'),
          name: string('Name of the Secret.', { minLength: 1 }).required(),
          namespace: string('Namespace of the Secret; the same when empty.'),
          regionKey: string('Key of the region.').default('region'),
          secretAccessKeyKey: string('Key of the secret access key.').default('secretAccessKey'),
        },
        'Secret with the S3 server and the bucket.',
      ).required(),
    },
    'Scheduled copies of the data.',
  ),
);

const etcd: () => Field<HostedEtcd> = once(() =>
  object(
    {
      ...podFields('etcd'),
      autoGrow: boolean('Enlarge the volumes when they fill up; true unless volumeSize is set.'),
      backup: backup(),
      volumeSize: quantity('Size of each volume; cannot shrink.'),
    },
    'Settings of etcd.',
  ),
);

const claim = (description: string): Field<HostedClaim> =>
  object(
    {
      claim: string('Claim of the token.'),
      expression: string('CEL expression over the claims.'),
      prefix: string('Prefix of the value.'),
    },
    description,
  );

const oidcProvider: () => Field<HostedOidcProvider> = once(() =>
  object({
    audiences: list(string(), 'Audiences that are accepted.', { minItems: 1 }).required(),
    certificateAuthority: string('Certificate authorities of the provider, as PEM.'),
    claimMappings: object(
      { groups: claim('Groups of the user.'), username: claim('Name of the user.').required() },
      'How claims map to the user.',
    ).required(),
    claimValidationRules: list(
      object({
        claim: string('Claim to check.'),
        expression: string('CEL expression that must be true.'),
        message: string('Message if the rule fails.'),
        requiredValue: string('Value the claim must have.'),
      }),
      'Rules for the claims of a token.',
    ),
  }),
);

const sharedFields = () => ({
  /** Existing stacks write fields of the deployment here. */
  apiServer: object({ certSANs: certSANs() }, 'The same as deployment.apiServer.certSANs, as cluster stacks write it.'),
  certificates: object(
    {
      caCertificateDuration: string('How long the authorities below the root are valid.').default(
        defaultAuthorityDuration,
      ),
      rootCaCertificateDuration: string(
        'How long the root is valid. Workers trust the root that they joined with until it expires.',
      ).default(defaultAuthorityDuration),
    },
    'How long authorities are valid.',
  ),
  coredns: scalable('CoreDNS', 2),
  deployment: object(
    {
      apiServer: apiServer(),
      controllerManager: scalable('the controller manager', 1),
      scheduler: scalable('the scheduler', 1),
    },
    'Settings of the programs.',
  ),
  etcd: etcd(),
  gateway: object(
    {
      name: string('Name of the Gateway; empty: none.'),
      namespace: string('Namespace of the Gateway; the same when empty.'),
    },
    'The Gateway of the control plane. Without one, the load balancer of its Service is used.',
  ),
  konnectivityClient: scalable('the konnectivity agents', 2),
  kubeProxy: object(
    { ...podFields('kube-proxy'), disabled: boolean('Do not install kube-proxy.') },
    'Settings of kube-proxy.',
  ),
  oidcProviders: mapOf(oidcProvider(), 'Additional identity providers, by the URL of the issuer.'),
});

const replicas = (): Field<number> =>
  int32('Desired number of API servers; 0 hibernates the control plane.', { minimum: 0 });

export const hostedControlPlaneSpec: () => Field<HostedControlPlaneSpec> = once(() =>
  object(
    {
      ...sharedFields(),
      replicas: replicas().default(2),
      version: text('Desired Kubernetes version.', 256).required(),
    },
    'Desired state.',
  ),
);

export const hostedControlPlaneTemplateSpec: () => Field<HostedControlPlaneTemplateSpec> = once(() =>
  object(
    {
      template: object(
        {
          metadata: templateMetadata(),
          spec: object(
            { ...sharedFields(), replicas: replicas().describe('Ignored: a class sets the replicas in another way.') },
            'Spec of the control planes.',
          ).required(),
        },
        'Template of the control planes.',
      ).required(),
    },
    'Desired state.',
  ),
);

export const hostedControlPlaneStatus: () => Field<HostedControlPlaneStatus> = once(() =>
  object(
    {
      availableReplicas: int32('API servers that are available.'),
      conditions: conditions(),
      etcdLastAttemptedDefragTime: time('Time of the last attempt to defragment.'),
      etcdLastBackupTime: time('Time of the last backup.'),
      etcdLastDefragTime: time('Time of the last defragmentation of etcd.'),
      etcdNextBackupTime: time('Time of the next backup.'),
      etcdVolumeSize: quantity('Size of the volumes of etcd.'),
      etcdVolumeUsage: quantity('Highest usage.'),
      externalManagedControlPlane: boolean('Always true: the control plane has no machines.').default(true),
      initialization: object(
        { controlPlaneInitialized: boolean('True once the control plane has answered; never becomes false again.') },
        'Progress of the first provisioning.',
      ),
      legacyIP: string('Address of the load balancer, for clients that connect by address.'),
      observedGeneration: int64('Generation of the spec that this status describes.'),
      ready: boolean('True while the control plane works.'),
      readyReplicas: int32('API servers that are ready.'),
      replicas: int32('API servers that exist.'),
      selector: string('Selector of the pods as text, for the scale subresource.'),
      upToDateReplicas: int32('API servers that match the spec.'),
      version: string('Kubernetes version that runs.'),
    },
    'Observed state.',
  ),
);
