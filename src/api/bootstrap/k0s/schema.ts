import { templateMetadata } from '../../cluster/common-schema.ts';
import { embeddedMetadata, plainConditions } from '../../k0smotron/schema.ts';
import { boolean, type Field, list, object, once, oneOf, string, type UntypedField } from '../../kind/schema.ts';
import type {
  K0sFile,
  K0sIgnition,
  K0sWorkerConfigSpec,
  K0sWorkerConfigStatus,
  K0sWorkerConfigTemplateSpec,
  SecretOrConfigMapKey,
} from './types.ts';

const keyOf = (what: string): Field<{ name: string; key: string }> =>
  object(
    { key: string(`Key of the ${what}.`).required(), name: string(`Name of the ${what}.`).required() },
    `A key of a ${what} in the same namespace.`,
  );

const secretOrConfigMapKey = (description: string): Field<SecretOrConfigMapKey> =>
  object({ configMapRef: keyOf('ConfigMap'), secretRef: keyOf('Secret') }, description);

const files = (): Field<K0sFile[]> =>
  list(
    object({
      content: string('Content of the file.'),
      contentFrom: secretOrConfigMapKey('Source of the content, instead of content.'),
      path: string('Path of the file.'),
      permissions: string('Mode of the file, e.g. 0644.'),
    }),
    'Files written before k0s starts.',
  );

const ignition = (): Field<K0sIgnition> =>
  object(
    {
      additionalConfig: string('A Butane configuration merged into ours.'),
      variant: oneOf(['fcos', 'flatcar', 'openshift', 'r4e', 'fiot'], 'Variant of Butane.').required(),
      version: string('Version of that variant.').required(),
    },
    'For machines that read Ignition.',
  );

const customUserData = (): Field<SecretOrConfigMapKey> =>
  secretOrConfigMapKey('Your own user data, added to the generated one.');

const sharedFields = () => ({
  args: list(string(), 'Additional flags of `k0s install worker`.'),
  downloadURL: string('Alternative download URL of k0s; oci:// works, too.'),
  files: files(),
  k0sInstallDir: string('Directory for k0s.').default('/usr/local/bin'),
  preInstalledK0s: boolean('The image contains k0s: do not download it.'),
  secretMetadata: templateMetadata().describe('Labels and annotations of the Secret with the user data.'),
  useSystemHostname: boolean('Use the host name as the name of the Node, instead of that of the Machine.').default(
    false,
  ),
  version: string('Version of k0s, e.g. v1.32.6+k0s.0; that of the Machine when empty.'),
  workingDir: string('Directory for the files that k0s needs to join.'),
});
const commands = (when: string): Field<string[]> => list(string(), `Commands run ${when} k0s starts.`);

export const k0sWorkerConfigSpec: () => Field<K0sWorkerConfigSpec> = once(() =>
  object(
    {
      ...sharedFields(),
      postK0sCommands: commands('after'),
      preK0sCommands: commands('before'),
      provisioner: object(
        {
          customUserDataRef: customUserData(),
          ignition: ignition(),
          platform: oneOf(['linux', 'windows'], 'Operating system of the machine.').default('linux'),
          type: oneOf(
            ['cloud-config', 'ignition', 'powershell', 'powershell-xml'],
            'Program that reads the user data.',
          ).default('cloud-config'),
        },
        'How the machine reads its user data.',
      ),
    },
    'Desired state.',
  ),
);

export const k0sWorkerConfigSpecV1beta1: () => UntypedField = once(() =>
  object(
    {
      ...sharedFields(),
      customUserDataRef: customUserData(),
      ignition: ignition(),
      postStartCommands: commands('after'),
      preStartCommands: commands('before'),
    },
    'Desired state.',
  ),
);

const dataSecretName = (): Field<string> => string('Secret with the user data.');

export const k0sWorkerConfigStatus: () => Field<K0sWorkerConfigStatus> = once(() =>
  object(
    {
      conditions: plainConditions(),
      dataSecretName: dataSecretName(),
      initialization: object(
        { dataSecretCreated: boolean('True once the user data exist.') },
        'Progress of the first provisioning.',
      ),
    },
    'Observed state.',
  ),
);

export const k0sWorkerConfigStatusV1beta1: () => UntypedField = once(() =>
  object(
    {
      conditions: plainConditions(),
      dataSecretName: dataSecretName(),
      ready: boolean('True once the user data exist.'),
    },
    'Observed state.',
  ),
);

const templateDescription = 'Template of the bootstrap configurations.';

export const k0sWorkerConfigTemplateSpec: () => Field<K0sWorkerConfigTemplateSpec> = once(() =>
  object(
    {
      template: object(
        { metadata: embeddedMetadata(), spec: k0sWorkerConfigSpec().describe('Spec of the configurations.') },
        templateDescription,
      ),
    },
    'Desired state.',
  ),
);

export const k0sWorkerConfigTemplateSpecV1beta1: () => UntypedField = once(() =>
  object(
    { template: object({ metadata: embeddedMetadata(), spec: k0sWorkerConfigSpecV1beta1() }, templateDescription) },
    'Desired state.',
  ),
);
