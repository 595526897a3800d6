import { duration } from '../cluster/cluster-v1beta1.ts';
import {
  boolean,
  type Field,
  int32,
  listKeyedBy,
  mapOf,
  object,
  once,
  oneOf,
  quantity,
  string,
  stringMap,
  type UntypedField,
} from '../kind/schema.ts';
import { type Era, items, some, text } from './common-schema.ts';
import type {
  ConfigKeyReference,
  KubeadmArgument,
  KubeadmClusterConfiguration,
  KubeadmComponent,
  KubeadmEncryptionAlgorithm,
  KubeadmEnvironmentVariable,
  KubeadmHostPathMount,
} from './types.ts';

/** Command line arguments are a map until v1beta2, so each name can appear only once. */
export const argumentMap = (what: string): Field<Record<string, string>> =>
  stringMap(`Arguments of ${what} without their leading dashes.`);

export function argumentList(name: 'extraArgs' | 'kubeletExtraArgs', what: string): Field<KubeadmArgument[]> {
  return listKeyedBy(
    ['name', 'value'],
    object({
      name: text('Name of the argument without leading dashes.', 256).required(),
      value: string('Value of the argument.', { minLength: 0, maxLength: 1024 }).required(),
    }),
    `Arguments of ${what}.`,
    { minItems: 1, maxItems: 100 },
  ).rule('self.all(x, self.exists_one(y, x.name == y.name))', `${name} name must be unique`);
}

const atomic = { 'x-kubernetes-map-type': 'atomic' } as const;

const keyReference = (what: string): Field<ConfigKeyReference> =>
  object(
    {
      name: string(`Name of the ${what}.`).default(''),
      key: string(`Key in the ${what}.`).required(),
      optional: boolean('Whether it may be missing.'),
    },
    `A key of a ${what}.`,
    atomic,
  );

const environmentVariables = (era: Era): Field<KubeadmEnvironmentVariable[]> =>
  items(
    era,
    object({
      name: string('Name of the variable.').required(),
      value: string('Value of the variable.'),
      valueFrom: object(
        {
          configMapKeyRef: keyReference('ConfigMap'),
          secretKeyRef: keyReference('Secret'),
          fieldRef: object(
            {
              apiVersion: string('API version of the path.'),
              fieldPath: string('Path of a field of the pod.').required(),
            },
            'A field of the pod.',
            atomic,
          ),
          fileKeyRef: object(
            {
              key: string('Key in the file.').required(),
              optional: boolean('Whether it may be missing.').default(false),
              path: string('Path of the file in the volume.').required(),
              volumeName: string('Volume the file is in.').required(),
            },
            'A key of a file in a volume.',
            atomic,
          ),
          resourceFieldRef: object(
            {
              containerName: string('Container of the resource.'),
              divisor: quantity('Unit the amount is given in.'),
              resource: string('Resource of this amount.').required(),
            },
            'An amount of a resource.',
            atomic,
          ),
        },
        'Source of the value.',
      ),
    }),
    'Environment variables of the container.',
    100,
  );

const hostPathMounts = (era: Era): Field<KubeadmHostPathMount[]> =>
  items(
    era,
    object({
      name: text('Name of the volume.', 512).required(),
      hostPath: text('Path on the machine.', 512).required(),
      mountPath: text('Path in the container.', 512).required(),
      readOnly: boolean('Whether the mount is read-only.'),
      pathType: string('Required type of the path on the machine.'),
    }),
    'Directories and files of the machine the container sees.',
    100,
  );

const componentFields = (era: Era) => ({
  extraEnvs: environmentVariables(era),
  extraVolumes: hostPathMounts(era),
});
const argumentNames = 'the component';

const component = (description: string): Field<KubeadmComponent> =>
  some('v1beta2', { ...componentFields('v1beta2'), extraArgs: argumentList('extraArgs', argumentNames) }, description);

const componentV1beta1 = (description: string): UntypedField =>
  some('v1beta1', { ...componentFields('v1beta1'), extraArgs: argumentMap(argumentNames) }, description);

const certificateNames = (era: Era, what: string): Field<string[]> =>
  items(era, text('', 253), `Additional names and addresses in the certificate ${what}.`, 100);

const etcdFields = (era: Era) => ({
  imageRepository: text('Repository of the image.', 512),
  imageTag: text('Tag of the image.', 256),
  dataDir: text('Directory of the data.', 512),
  extraEnvs: environmentVariables(era),
  serverCertSANs: certificateNames(era, 'of the server'),
  peerCertSANs: certificateNames(era, 'of the peer'),
});

const externalEtcd = (era: Era) =>
  object(
    {
      endpoints: items(era, text('', 512), 'Addresses of the members.', 50).required(),
      caFile: text('Authority of the server certificates.', 512).required(),
      certFile: text('Client certificate.', 512).required(),
      keyFile: text('Key of the client certificate.', 512).required(),
    },
    'An etcd that exists already.',
  );
const etcdDescription = 'etcd of the cluster: on its own machines, or external.';
const localEtcdDescription = 'etcd on the control plane machines.';

const algorithms: readonly KubeadmEncryptionAlgorithm[] = [
  'ECDSA-P256',
  'ECDSA-P384',
  'RSA-2048',
  'RSA-3072',
  'RSA-4096',
];

const plainFields = (era: Era) => ({
  controlPlaneEndpoint: text('Address of the control plane; absent means that of the Cluster.', 512),
  certificatesDir: text('Directory of the certificates.', 512),
  imageRepository: text('Repository of the images.', 512),
  featureGates: mapOf(boolean(), 'Features of kubeadm that are switched on or off.'),
  dns: some(
    era,
    { imageRepository: text('Repository of the image.', 512), imageTag: text('Tag of the image.', 256) },
    'The DNS of the cluster.',
  ),
  certificateValidityPeriodDays: int32('How long certificates are valid.', { minimum: 1, maximum: 1095 }),
  caCertificateValidityPeriodDays: int32('How long the authorities are valid.', { minimum: 1, maximum: 36500 }),
  encryptionAlgorithm: oneOf(algorithms, 'Kind of the keys.'),
});

const description = 'Configuration of the cluster for kubeadm.';
const descriptions = {
  apiServer: 'The API server.',
  controllerManager: 'The controller manager.',
  scheduler: 'The scheduler.',
} as const;

export const clusterConfiguration: () => Field<KubeadmClusterConfiguration> = once(() =>
  some(
    'v1beta2',
    {
      ...plainFields('v1beta2'),
      apiServer: some(
        'v1beta2',
        {
          ...componentFields('v1beta2'),
          extraArgs: argumentList('extraArgs', argumentNames),
          certSANs: certificateNames('v1beta2', 'of the API server'),
        },
        descriptions.apiServer,
      ),
      controllerManager: component(descriptions.controllerManager),
      scheduler: component(descriptions.scheduler),
      etcd: some(
        'v1beta2',
        {
          local: some(
            'v1beta2',
            { ...etcdFields('v1beta2'), extraArgs: argumentList('extraArgs', 'etcd') },
            localEtcdDescription,
          ),
          external: externalEtcd('v1beta2'),
        },
        etcdDescription,
      ),
    },
    description,
  ),
);

export const clusterConfigurationV1beta1: () => UntypedField = once(() =>
  some(
    'v1beta1',
    {
      ...plainFields('v1beta1'),
      apiVersion: string('No longer used.'),
      kind: string('No longer used.'),
      clusterName: text('No longer used: always the name of the Cluster.', 63),
      kubernetesVersion: text('No longer used: always the version of the machine.', 256),
      networking: object(
        {
          dnsDomain: text('Domain name of Services.', 253),
          podSubnet: text('Addresses of Pods.', 1024),
          serviceSubnet: text('Addresses of Services.', 1024),
        },
        'No longer used: always the network of the Cluster.',
      ),
      apiServer: object(
        {
          ...componentFields('v1beta1'),
          extraArgs: argumentMap(argumentNames),
          certSANs: certificateNames('v1beta1', 'of the API server'),
          timeoutForControlPlane: duration('How long kubeadm waits for the control plane.'),
        },
        descriptions.apiServer,
      ),
      controllerManager: componentV1beta1(descriptions.controllerManager),
      scheduler: componentV1beta1(descriptions.scheduler),
      etcd: object(
        {
          local: object({ ...etcdFields('v1beta1'), extraArgs: argumentMap('etcd') }, localEtcdDescription),
          external: externalEtcd('v1beta1'),
        },
        etcdDescription,
      ),
    },
    description,
  ),
);
