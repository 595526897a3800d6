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
    `Image of ${what}; what is left out stays as it is.`,
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
    { ...podFields(what), replicas: int32('How many pods are wanted.', { minimum: 0 }).default(replicas) },
    `Settings of ${what}.`,
  );

const mount: () => Field<HostedMount> = once(() =>
  object({
    configMap: coreType<NonNullable<HostedMount['configMap']>>('ConfigMapVolumeSource', 'Files from a ConfigMap.'),
    path: string('Where the files go.', { minLength: 1 }).required(),
    secret: coreType<NonNullable<HostedMount['secret']>>('SecretVolumeSource', 'Files from a Secret.'),
  }),
);

const audit: () => Field<HostedAudit> = once(() =>
  object(
    {
      mode: oneOf(['batch', 'blocking', 'blocking-strict'], 'Whether requests wait for the log.').default('batch'),
      policy: anyObject('What is logged: a Policy of audit.k8s.io.').required(),
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
            'Where the log is sent.',
            { minItems: 1 },
          ).required(),
        },
        'Sends the log away instead of printing it.',
      ),
    },
    'The audit log.',
  ),
);

const certSANs = (): Field<string[]> => list(string(), 'Further names of the serving certificate.');

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
      schedule: string('When: five single values in the order of cron, or @daily.', { minLength: 1 }).required(),
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
        'Secret that says which bucket of which S3 server.',
      ).required(),
    },
    'Copies of the data, made on a schedule.',
  ),
);

const etcd: () => Field<HostedEtcd> = once(() =>
  object(
    {
      ...podFields('etcd'),
      autoGrow: boolean('Make the volumes larger when they fill up; true unless volumeSize is given.'),
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
      prefix: string('Put before the value.'),
    },
    description,
  );

const oidcProvider: () => Field<HostedOidcProvider> = once(() =>
  object({
    audiences: list(string(), 'Audiences that are accepted.', { minItems: 1 }).required(),
    certificateAuthority: string('Certificates the provider is trusted by, as PEM.'),
    claimMappings: object(
      { groups: claim('Groups of the user.'), username: claim('Name of the user.').required() },
      'Who the user is.',
    ).required(),
    claimValidationRules: list(
      object({
        claim: string('Claim that is looked at.'),
        expression: string('CEL expression that must be true.'),
        message: string('Said when it is not.'),
        requiredValue: string('Value the claim must have.'),
      }),
      'What must hold of a token.',
    ),
  }),
);

const sharedFields = () => ({
  /** Existing stacks write fields of the deployment here. */
  apiServer: object({ certSANs: certSANs() }, 'The same as deployment.apiServer.certSANs, where stacks write it.'),
  certificates: object(
    {
      caCertificateDuration: string('How long the authorities below the root live.').default(defaultAuthorityDuration),
      rootCaCertificateDuration: string(
        'How long the root lives. Workers trust the one they joined with until it ends.',
      ).default(defaultAuthorityDuration),
    },
    'How long authorities live.',
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
    'The Gateway the control plane is reached through; without one, by the load balancer of its Service.',
  ),
  konnectivityClient: scalable('the konnectivity agents', 2),
  kubeProxy: object(
    { ...podFields('kube-proxy'), disabled: boolean('Leave kube-proxy out.') },
    'Settings of kube-proxy.',
  ),
  oidcProviders: mapOf(oidcProvider(), 'Who else says who users are, by the URL of the issuer.'),
});

const replicas = (): Field<number> =>
  int32('How many API servers are wanted; 0 puts the control plane to sleep.', { minimum: 0 });

export const hostedControlPlaneSpec: () => Field<HostedControlPlaneSpec> = once(() =>
  object(
    {
      ...sharedFields(),
      replicas: replicas().default(2),
      version: text('Kubernetes version wanted.', 256).required(),
    },
    'What is wanted.',
  ),
);

export const hostedControlPlaneTemplateSpec: () => Field<HostedControlPlaneTemplateSpec> = once(() =>
  object(
    {
      template: object(
        {
          metadata: templateMetadata(),
          spec: object(
            { ...sharedFields(), replicas: replicas().describe('Ignored: a class gives its replicas another way.') },
            'Spec of the control planes.',
          ).required(),
        },
        'What control planes are made from.',
      ).required(),
    },
    'What is wanted.',
  ),
);

export const hostedControlPlaneStatus: () => Field<HostedControlPlaneStatus> = once(() =>
  object(
    {
      availableReplicas: int32('API servers that are available.'),
      conditions: conditions(),
      etcdLastAttemptedDefragTime: time('When defragmenting was tried last.'),
      etcdLastBackupTime: time('When the last backup was made.'),
      etcdLastDefragTime: time('When etcd was defragmented last.'),
      etcdNextBackupTime: time('When the next backup is due.'),
      etcdVolumeSize: quantity('Size of the volumes of etcd.'),
      etcdVolumeUsage: quantity('What of it is used at most.'),
      externalManagedControlPlane: boolean('Always true: there are no machines of a control plane.').default(true),
      initialization: object(
        { controlPlaneInitialized: boolean('True once the control plane has answered; never goes back.') },
        'What of the first provisioning is done.',
      ),
      legacyIP: string('Address of the load balancer, for clients that come by address.'),
      observedGeneration: int64('Generation of the spec this status is about.'),
      ready: boolean('True while the control plane works.'),
      readyReplicas: int32('API servers that are ready.'),
      replicas: int32('API servers that exist.'),
      selector: string('Selector of the pods as text, for the scale subresource.'),
      upToDateReplicas: int32('API servers that match the spec.'),
      version: string('Kubernetes version that runs.'),
    },
    'What is there.',
  ),
);
