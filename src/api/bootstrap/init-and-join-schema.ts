import { duration } from '../cluster/cluster-v1beta1.ts';
import {
  boolean,
  type Field,
  int32,
  list,
  object,
  once,
  oneOf,
  string,
  stringMap,
  time,
  type UntypedField,
} from '../kind/schema.ts';
import { argumentList, argumentMap } from './cluster-configuration-schema.ts';
import { type Era, items, some, text } from './common-schema.ts';
import type {
  KubeadmBootstrapToken,
  KubeadmDiscoveryFile,
  KubeadmInitConfiguration,
  KubeadmJoinConfiguration,
  KubeadmLocalApiEndpoint,
  KubeadmNodeRegistration,
  KubeadmTimeouts,
} from './types.ts';

const tokenFields = (era: Era) => ({
  description: text('Description of the token.', 512),
  expires: time('Expiry time of the token, instead of its lifetime.'),
  usages: items(era, text('', 256), 'Usages of the token.', 100),
  groups: items(era, text('', 256), 'Groups of the owner of the token.', 100),
});

const bootstrapTokens = (): Field<KubeadmBootstrapToken[]> =>
  items(
    'v1beta2',
    object({
      ...tokenFields('v1beta2'),
      token: string('The token: six characters, a dot, sixteen characters.', {
        minLength: 1,
        maxLength: 23,
      }).required(),
      ttlSeconds: int32('How long the token lives.', { minimum: 0 }),
    }),
    'Tokens created with the cluster.',
    100,
  );

const bootstrapTokensV1beta1 = (): UntypedField =>
  items(
    'v1beta1',
    object({
      ...tokenFields('v1beta1'),
      token: string('The token: six characters, a dot, sixteen characters.').required(),
      ttl: duration('How long the token lives.'),
    }),
    'Tokens created with the cluster.',
    100,
  );

const registrationFields = (era: Era) => ({
  name: text('Name of the Node; absent means the host name.', 253),
  criSocket: text('Socket of the container runtime.', 512),
  taints: list(
    object({
      key: string('Key of the taint.').required(),
      value: string('Value of the taint.'),
      effect: string('Effect of the taint on pods.').required(),
      timeAdded: time('When the taint was added.'),
    }),
    "Taints of the Node at registration; absent means kubeadm's defaults, an empty list means none.",
    era === 'v1beta2' ? { minItems: 0, maxItems: 100 } : { maxItems: 100 },
  ),
  ignorePreflightErrors: items(era, text('', 512), 'Checks of kubeadm whose failure is only a warning.', 50),
  imagePullPolicy: oneOf(['Always', 'IfNotPresent', 'Never'], 'When images are pulled.'),
  imagePullSerial: boolean('Pull images one after the other.'),
});
const registrationDescription = 'How the Node registers.';

const nodeRegistration = (): Field<KubeadmNodeRegistration> =>
  some(
    'v1beta2',
    { ...registrationFields('v1beta2'), kubeletExtraArgs: argumentList('kubeletExtraArgs', 'the kubelet') },
    registrationDescription,
  );

const nodeRegistrationV1beta1 = (): UntypedField =>
  object({ ...registrationFields('v1beta1'), kubeletExtraArgs: argumentMap('the kubelet') }, registrationDescription);

const localApiEndpoint = (era: Era): Field<KubeadmLocalApiEndpoint> =>
  some(
    era,
    {
      advertiseAddress: text('Address the API server advertises.', 39),
      bindPort: int32('Port the API server listens on.', era === 'v1beta2' ? { minimum: 1 } : {}),
    },
    'Address of the API server of this machine.',
  );

const timeout = (description: string): Field<number> => int32(description, { minimum: 0 });
const timeouts: () => Field<KubeadmTimeouts> = once(() =>
  some(
    'v1beta2',
    {
      controlPlaneComponentHealthCheckSeconds: timeout('How long to wait for a control plane component.'),
      kubeletHealthCheckSeconds: timeout('How long to wait for the kubelet.'),
      kubernetesAPICallSeconds: timeout('How long a call of the Kubernetes API may take.'),
      etcdAPICallSeconds: timeout('How long a call of etcd may take.'),
      tlsBootstrapSeconds: timeout('How long the kubelet may take to get its certificate.'),
      discoverySeconds: timeout('How long finding the cluster may take.'),
    },
    'How long kubeadm waits.',
  ),
);

const phasesAndPatches = (era: Era) => ({
  skipPhases: items(era, text('', 256), 'Phases of kubeadm to skip.', 50),
  patches: some(
    era,
    { directory: text('Directory with patches for the manifests kubeadm writes.', 512) },
    'Patches for the manifests kubeadm writes.',
  ),
});
const unused = () => ({ apiVersion: string('No longer used.'), kind: string('No longer used.') });
const initDescription = 'Configuration of the first control plane machine.';
const joinDescription = 'Configuration of machines that join.';

export const initConfiguration: () => Field<KubeadmInitConfiguration> = once(() =>
  some(
    'v1beta2',
    {
      ...phasesAndPatches('v1beta2'),
      bootstrapTokens: bootstrapTokens(),
      nodeRegistration: nodeRegistration(),
      localAPIEndpoint: localApiEndpoint('v1beta2'),
      timeouts: timeouts(),
    },
    initDescription,
  ),
);

export const initConfigurationV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...unused(),
      ...phasesAndPatches('v1beta1'),
      bootstrapTokens: bootstrapTokensV1beta1(),
      nodeRegistration: nodeRegistrationV1beta1(),
      localAPIEndpoint: localApiEndpoint('v1beta1'),
    },
    initDescription,
  ),
);

const discoveryFile = (era: Era): Field<KubeadmDiscoveryFile> =>
  object(
    {
      kubeConfigPath: text('Path or address of the kubeconfig.', 512).required(),
      kubeConfig: object(
        {
          cluster: some(
            era,
            {
              server: text('Address of the API server; absent means the endpoint of the Cluster.', 512),
              tlsServerName: text('Name expected in the certificate.', 512),
              insecureSkipTLSVerify: boolean('Accept any certificate.'),
              certificateAuthorityData: string('Authority of the certificate; absent means that of the Cluster.', {
                format: 'byte',
                minLength: 1,
                maxLength: 51200,
              }),
              proxyURL: text('Proxy to the API server.', 512),
            },
            'How the API server is reached.',
          ),
          user: some(
            era,
            {
              authProvider: object(
                {
                  name: text('Name of the plugin.', 256).required(),
                  config: stringMap('Configuration of the plugin.'),
                },
                'An authentication plugin.',
              ),
              exec: object(
                {
                  command: text('The command.', 1024).required(),
                  args: items(era, text('', 512), 'Arguments of the command.', 100),
                  env: items(
                    era,
                    object({
                      name: text('Name of the variable.', 512).required(),
                      value: text('Value of the variable.', 512).required(),
                    }),
                    'Environment of the command.',
                    100,
                  ),
                  apiVersion: text('API version of the command.', 512),
                  provideClusterInfo: boolean('Pass information about the cluster to the command.'),
                },
                'A command that returns credentials.',
              ),
            },
            'Client of the API server.',
          ).required(),
        },
        'A kubeconfig that is written to the path.',
      ),
    },
    'Finds the cluster with a kubeconfig.',
  );

const discoveryFields = (era: Era) => ({
  bootstrapToken: some(
    era,
    {
      token: text('The token; absent means that one is created.', 512),
      apiServerEndpoint: text('Address of the API server; absent means the endpoint of the Cluster.', 512),
      caCertHashes: items(era, text('', 512), 'Hashes of keys the authority may have, as sha256:….', 100),
      unsafeSkipCAVerification: boolean('Accept any authority.'),
    },
    'Finds the cluster with a bootstrap token.',
  ),
  file: discoveryFile(era),
  tlsBootstrapToken: text('Token for the certificate of the kubelet.', 512),
});
const discoveryDescription = 'How the cluster is found; missing fields are set automatically.';

const joinFields = (era: Era) => ({
  ...phasesAndPatches(era),
  caCertPath: text('Path of the authority of the cluster.', 512),
  controlPlane: object({ localAPIEndpoint: localApiEndpoint(era) }, 'Makes the machine a control plane machine.'),
});

export const joinConfiguration: () => Field<KubeadmJoinConfiguration> = once(() =>
  some(
    'v1beta2',
    {
      ...joinFields('v1beta2'),
      nodeRegistration: nodeRegistration(),
      discovery: some('v1beta2', discoveryFields('v1beta2'), discoveryDescription),
      timeouts: timeouts(),
    },
    joinDescription,
  ),
);

export const joinConfigurationV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...unused(),
      ...joinFields('v1beta1'),
      nodeRegistration: nodeRegistrationV1beta1(),
      discovery: object(
        { ...discoveryFields('v1beta1'), timeout: duration('How long finding the cluster may take.') },
        discoveryDescription,
      ),
    },
    joinDescription,
  ),
);
