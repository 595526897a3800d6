import { labelSelector } from '../cluster/common-schema.ts';
import { plainConditions } from '../k0smotron/schema.ts';
import { boolean, type Field, int64, integer, list, object, once, oneOf, string } from '../kind/schema.ts';
import type {
  CompoundValue,
  ContentOrSecret,
  DataStoreSpec,
  DataStoreStatus,
  KubeconfigGeneratorSpec,
  KubeconfigGeneratorStatus,
} from './types.ts';

const contentOrSecret = (description: string): Field<ContentOrSecret> =>
  object(
    {
      content: string('The value itself, in base64.', { format: 'byte' }),
      secretReference: object(
        {
          keyPath: string('Key of the Secret.', { minLength: 1 }).required(),
          name: string('Name of the Secret.'),
          namespace: string('Namespace of the Secret.'),
        },
        'A key of a Secret.',
        { 'x-kubernetes-map-type': 'atomic' },
      ),
    },
    description,
  );

/** Upstream has one CEL rule per requirement of etcd. */
const etcdNeeds = (path: string): string =>
  `(self.driver == "etcd") ? (self.tlsConfig != null && (has(self.tlsConfig.${path}.secretReference) || has(self.tlsConfig.${path}.content))) : true`;
const othersNeed = (name: string): string =>
  `(self.driver != "etcd" && has(self.basicAuth)) ? ((has(self.basicAuth.${name}.secretReference) || has(self.basicAuth.${name}.content))) : true`;

export const dataStoreSpec: () => Field<DataStoreSpec> = once(() =>
  object(
    {
      basicAuth: object(
        {
          password: contentOrSecret('The password.').required(),
          username: contentOrSecret('The user.').required(),
        },
        'User and password of a database.',
      ),
      driver: oneOf(['etcd', 'MySQL', 'PostgreSQL', 'NATS'], 'Type of the database; cannot change.')
        .rule('self == oldSelf', 'Datastore driver is immutable')
        .required(),
      endpoints: list(string(), 'Addresses, each as host:port.', { minItems: 1 }).required(),
      tlsConfig: object(
        {
          certificateAuthority: object(
            {
              certificate: contentOrSecret('Certificate of the authority.').required(),
              privateKey: contentOrSecret('Its key, with which users of etcd get their certificates.'),
            },
            'Certificate authority.',
          ).required(),
          clientCertificate: object(
            {
              certificate: contentOrSecret('The certificate.').required(),
              privateKey: contentOrSecret('Its key.').required(),
            },
            'User for the connection.',
          ),
        },
        'Certificates.',
      ),
    },
    'Desired state.',
  )
    .rule(
      etcdNeeds('certificateAuthority.privateKey'),
      'certificateAuthority privateKey must have secretReference or content when driver is etcd',
    )
    .rule(
      etcdNeeds('clientCertificate.certificate'),
      'clientCertificate must have secretReference or content when driver is etcd',
    )
    .rule(
      etcdNeeds('clientCertificate.privateKey'),
      'clientCertificate privateKey must have secretReference or content when driver is etcd',
    )
    .rule(
      '(self.driver != "etcd" && has(self.tlsConfig) && has(self.tlsConfig.clientCertificate)) ? (((has(self.tlsConfig.clientCertificate.certificate.secretReference) || has(self.tlsConfig.clientCertificate.certificate.content)))) : true',
      'When driver is not etcd and tlsConfig exists, clientCertificate must be null or contain valid content',
    )
    .rule(
      othersNeed('username'),
      'When driver is not etcd and basicAuth exists, username must have secretReference or content',
    )
    .rule(
      othersNeed('password'),
      'When driver is not etcd and basicAuth exists, password must have secretReference or content',
    )
    .rule(
      '(self.driver != "etcd") ? (has(self.tlsConfig) || has(self.basicAuth)) : true',
      'When driver is not etcd, either tlsConfig or basicAuth must be provided',
    )
    .rule(
      'oldSelf == null || self.driver == oldSelf.driver',
      'driver is immutable and cannot be changed after creation',
    ),
);

const observedGeneration = (): Field<number> => int64('Generation of the spec that this status describes.');

export const dataStoreStatus: () => Field<DataStoreStatus> = once(() =>
  object(
    {
      conditions: plainConditions(),
      observedGeneration: observedGeneration(),
      ready: boolean('True while it can be used.').required(),
      usedBy: list(string(), 'Control planes that use it, as namespace/name.'),
    },
    'Observed state.',
  ),
);

const compoundValue = (description: string): Field<CompoundValue> =>
  object(
    {
      fromDefinition: string('Dotted path of a text in the TenantControlPlane.'),
      stringValue: string('The text itself.'),
    },
    description,
  ).rule(
    '(has(self.stringValue) || has(self.fromDefinition)) && !(has(self.stringValue) && has(self.fromDefinition))',
    'Either stringValue or fromDefinition must be set, but not both.',
  );

export const kubeconfigGeneratorSpec: () => Field<KubeconfigGeneratorSpec> = once(() =>
  object(
    {
      controlPlaneEndpointFrom: string('Key of the admin kubeconfig whose endpoint is taken.').default('admin.svc'),
      groups: list(compoundValue(''), 'Groups of the user.'),
      namespaceSelector: labelSelector().describe('Namespaces; all if empty.'),
      tenantControlPlaneSelector: labelSelector().describe('Control planes; all if empty.'),
      user: compoundValue('Name of the user.').required(),
    },
    'Desired state.',
  ),
);

export const kubeconfigGeneratorStatus: () => Field<KubeconfigGeneratorStatus> = once(() =>
  object(
    {
      availableResources: integer('Kubeconfigs that exist.').default(0).required(),
      errors: list(
        object({
          message: string('Error message.').required(),
          resource: string('The control plane.').required(),
        }),
        'Errors, by control plane.',
      ),
      observedGeneration: observedGeneration(),
      resources: integer('Control planes to select.').default(0).required(),
    },
    'Observed state.',
  ),
);
