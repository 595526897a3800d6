import {
  conditions,
  deprecatedConditions,
  failureFields,
  objectReference,
  templateMetadata,
} from '../../cluster/common-schema.ts';
import {
  boolean,
  type Field,
  int64,
  integer,
  list,
  mapOf,
  object,
  once,
  oneOf,
  string,
  stringMap,
  type UntypedField,
} from '../../kind/schema.ts';
import type {
  RKE2AgentConfig,
  RKE2Component,
  RKE2ConfigSpec,
  RKE2ConfigStatus,
  RKE2ConfigTemplateSpec,
  RKE2File,
  RKE2FileSource,
  RKE2Registries,
} from './types.ts';

export const rke2Component = (what: string): Field<RKE2Component> =>
  object(
    {
      extraArgs: list(string(), 'Flags, each as name=value.'),
      extraEnv: stringMap('Environment variables.'),
      extraMounts: stringMap('Paths of the machine and where they are mounted.'),
      overrideImage: string('Image used instead of the one of the release.'),
    },
    `Settings of ${what}.`,
  );

const fileSource = (what: string): Field<RKE2FileSource> =>
  object(
    {
      name: string(`Name of the ${what}.`).required(),
      key: string(`Key in the ${what}.`).required(),
      namespace: string('Only the namespace of the object itself.'),
    },
    `A ${what} in the same namespace.`,
  );

const files = (): Field<RKE2File[]> =>
  list(
    object({
      path: string('Path of the file.').required(),
      owner: string('Owner of the file, as root:root.'),
      permissions: string('Permissions of the file, as 0644.'),
      encoding: oneOf(['base64', 'gzip', 'gzip+base64'], 'How the content is encoded.'),
      content: string('The content.'),
      contentFrom: object(
        { secret: fileSource('Secret'), configMap: fileSource('ConfigMap') },
        'Source of the content.',
      ).rule('!(has(self.secret) && has(self.configMap))', 'Only configMap or secret can be populated at once'),
    }),
    'Files put on the machine.',
  );

const agentConfig = (): Field<RKE2AgentConfig> =>
  object(
    {
      additionalUserData: object(
        {
          config: string('Your own user data, merged with the generated one: cloud-init or Ignition.'),
          strict: boolean('Refuse Ignition configuration with warnings.'),
          data: stringMap('Modules of cloud-init by name, each with its settings as YAML.'),
        },
        'Additional user data.',
      ).rule('!has(self.data) || !has(self.config)', 'Only config or data could be populated at once'),
      airGapped: boolean(
        'The image contains the installer in /opt/install.sh and the artifacts in /opt/rke2-artifacts.',
      ),
      airGappedChecksum: string('Required SHA-256 of the list of checksums beside the artifacts.'),
      cisProfile: oneOf(['cis', 'cis-1.23', 'cis-1.5', 'cis-1.6'], 'Harden the machine to this profile.'),
      containerRuntimeEndpoint: string('Socket of a container runtime used instead of the built-in one.'),
      dataDir: string('Directory for all state; absent means /var/lib/rancher/rke2.'),
      enableContainerdSElinux: boolean('Run containerd with SELinux.'),
      format: oneOf(['cloud-config', 'ignition'], 'Format of the user data; absent means cloud-config.'),
      imageCredentialProviderConfigMap: objectReference(
        'ConfigMap with the configuration of image credential providers, keys credential-config.yaml and credential-provider-binaries.',
      ),
      kubeProxy: rke2Component('kube-proxy'),
      kubelet: rke2Component('the kubelet'),
      kubeletPath: string('A kubelet used instead of the built-in one.'),
      loadBalancerPort: integer("Local port of the agent's load balancer."),
      nodeAnnotations: stringMap('Annotations of the Node.'),
      nodeLabels: list(string(), 'Labels of the Node, each as name=value.'),
      nodeName: string('Prefix of the name of the Node.'),
      nodeTaints: list(string(), 'Taints of the Node, each as key=value:effect.'),
      ntp: object(
        { enabled: boolean('Whether time synchronisation is on.'), servers: list(string(), 'Time servers.') },
        'Time servers.',
      ),
      podSecurityAdmissionConfigFile: string('Path of a configuration of Pod Security admission on the machine.'),
      protectKernelDefaults: boolean('Stop if the kernel settings are not those that the kubelet needs.'),
      resolvConf: objectReference('ConfigMap with a resolv.conf for the kubelet, key resolv.conf.'),
      runtimeImage: string('Image of the programs of the runtime.'),
      snapshotter: string('Snapshotter of containerd.'),
      systemDefaultRegistry: string('Registry of all system images.'),
    },
    'How the agent on the machine runs.',
  );

const registries = (): Field<RKE2Registries> =>
  object(
    {
      configs: mapOf(
        object({
          authSecret: objectReference('Secret with the keys username and password, or identity-token.'),
          tls: object(
            {
              insecureSkipVerify: boolean('Trust any certificate.'),
              tlsConfigSecret: objectReference('Secret with the keys tls.crt, tls.key and ca.crt.'),
            },
            'TLS settings for the registry.',
          ),
        }),
        'Credentials and certificates by registry.',
      ),
      mirrors: mapOf(
        object({
          endpoint: list(string(), 'Addresses tried in this order.'),
          rewrite: stringMap('Regular expressions for image names, and their replacements.'),
        }),
        'Mirrors, by registry.',
      ),
    },
    'Private registries and mirrors.',
  );

/** Both versions have the same fields, and the control plane embeds them beside its own. */
export const rke2ConfigFields = (): { [K in keyof RKE2ConfigSpec]-?: Field<NonNullable<RKE2ConfigSpec[K]>> } => ({
  agentConfig: agentConfig(),
  files: files(),
  gzipUserData: boolean('Compress the user data.'),
  postRKE2Commands: list(string(), 'Commands run after rke2 has started.'),
  preRKE2Commands: list(string(), 'Commands run before rke2 is installed.'),
  privateRegistriesConfig: registries(),
});

const description = 'How a machine becomes a Node.';

export const rke2ConfigSpec: () => Field<RKE2ConfigSpec> = once(() => object(rke2ConfigFields(), description));

const dataSecretName = (): Field<string> => string('Secret with the user data.');
const generation = (): Field<number> => int64('Generation of the spec that this status describes.');

export const rke2ConfigStatus: () => Field<RKE2ConfigStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      initialization: object(
        { dataSecretCreated: boolean('True once the user data has been created; never becomes false again.') },
        'Progress of the first provisioning.',
        { minProperties: 1 },
      ),
      dataSecretName: dataSecretName(),
      observedGeneration: generation(),
      deprecated: object(
        { v1beta1: object({ conditions: deprecatedConditions(), ...failureFields }, 'Status in the form of v1beta1.') },
        'Kept for old clients.',
      ),
    },
    'Observed state.',
  ),
);

export const rke2ConfigStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      conditions: deprecatedConditions(),
      ready: boolean('True once the user data has been created.'),
      dataSecretName: dataSecretName(),
      ...failureFields,
      observedGeneration: generation(),
      v1beta2: object({ conditions: conditions(32) }, 'Status fields of v1beta2.'),
    },
    'Observed state.',
  ),
);

export const rke2ConfigTemplateSpec: () => Field<RKE2ConfigTemplateSpec> = once(() =>
  object(
    {
      template: object(
        { metadata: templateMetadata(), spec: rke2ConfigSpec().required() },
        'Template of the configurations.',
      ).required(),
    },
    'Desired state.',
  ),
);
