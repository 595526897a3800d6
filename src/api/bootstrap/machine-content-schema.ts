import { boolean, type Field, int32, list, object, oneOf, string } from '../kind/schema.ts';
import { anyItems, type Era, items, some, text } from './common-schema.ts';
import type { KubeadmConfigSpec, SecretKeySource } from './types.ts';

// Schema of the machine settings outside of kubeadm's own configuration.

const secretKey = (description: string): Field<SecretKeySource> =>
  object(
    {
      secret: object(
        { name: text('Name of the Secret.', 253).required(), key: text('Key in the Secret.', 256).required() },
        'A Secret in the same namespace.',
      ).required(),
    },
    description,
  );

const files = (era: Era): Field<NonNullable<KubeadmConfigSpec['files']>> =>
  items(
    era,
    object({
      path: text('Path of the file.', 512).required(),
      owner: text('Owner of the file, as root:root.', 256),
      permissions: text('Permissions of the file, as 0644.', 16),
      encoding: oneOf(['base64', 'gzip', 'gzip+base64'], 'How the content is encoded.'),
      append: boolean('Add the content to a file that exists.'),
      content: text('The content.', 10240),
      contentFormat: oneOf(['Raw', 'Template'], 'Whether the content is a template.'),
      contentFrom: secretKey('Source of the content.'),
    }),
    'Files put on the machine.',
    200,
  );

const partitionTypePattern =
  '^(Linux|LinuxSwap|LinuxRAID|LVM|Fat32|NTFS|LinuxExtended|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$';

const diskLayout = (era: Era) =>
  list(
    object({
      percentage: int32('Share of the disk.', { minimum: 1, maximum: 100 }).required(),
      partitionType: text('Type of the partition; absent means Linux.', 36).rule(
        `self.matches('${partitionTypePattern}')`,
        'partitionType must be one of Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a full GPT partition GUID',
      ),
    }),
    'Partitions in their order.',
    era === 'v1beta2'
      ? { 'x-kubernetes-list-type': 'atomic', minItems: 1, maxItems: 100 }
      : { minItems: 1, maxItems: 100 },
  );

/** v1beta1 requires `layout`; v1beta2 requires either the layout or the list of partitions. */
function partition(era: Era): Field<NonNullable<NonNullable<KubeadmConfigSpec['diskSetup']>['partitions']>[number]> {
  const layout = boolean('One partition over the whole disk, or none.');
  const shape = object({
    device: text('The disk.', 256).required(),
    layout,
    diskLayout: diskLayout(era),
    overwrite: boolean('Overwrite existing data.'),
    tableType: oneOf(['mbr', 'gpt'], 'Kind of the partition table.'),
  });
  return era === 'v1beta2'
    ? shape.rule(
        '[has(self.layout),has(self.diskLayout)].filter(x,x==true).size() == 1',
        'exactly one of the fields in [layout diskLayout] must be set',
      )
    : shape.with({ required: ['device', 'layout'] });
}

const filesystem = (era: Era) =>
  object({
    device: text('The device.', 256).required(),
    filesystem: text('Kind of the file system.', 128).required(),
    label: text('Label of the file system.', 512),
    partition: text('Partition: a number, auto, any or none.', 128),
    overwrite: boolean('Overwrite existing data.'),
    replaceFS: text('Kind of file system that may be replaced.', 128),
    extraOpts: anyItems(era, text('', 256), 'Additional options for its creation.', 100),
  });

const users = (era: Era): Field<NonNullable<KubeadmConfigSpec['users']>> =>
  items(
    era,
    object({
      name: text('Name of the user.', 256).required(),
      gecos: text('Real name of the user.', 256),
      groups: text('Additional groups of the user.', 256),
      homeDir: text('Home directory of the user.', 256),
      inactive: boolean('Create the user with a locked password.'),
      shell: text('Shell of the user.', 256),
      passwd: text('Hash of the password.', 256),
      passwdFrom: secretKey('Source of the password hash.'),
      primaryGroup: text('Primary group of the user.', 256),
      lockPassword: boolean('Disable log-in with a password.'),
      sudo: text('Sudo rule of the user.', 256),
      sshAuthorizedKeys: anyItems(era, text('', 2048), 'Public keys that may log in.', 100),
    }),
    'Users to create on the machine.',
    100,
  );

const commands = (era: Era, description: string): Field<string[]> => items(era, text('', 10240), description, 1000);

const mounts = (era: Era): Field<string[][]> =>
  items(
    era,
    list(text('', 512), '', era === 'v1beta2' ? { minItems: 1, maxItems: 100 } : {}),
    'Mounts, each as the fields of a line of fstab.',
    100,
  );

type ContentName = Exclude<keyof KubeadmConfigSpec, 'clusterConfiguration' | 'initConfiguration' | 'joinConfiguration'>;

export const machineContentFields = (era: Era): { [K in ContentName]: Field<NonNullable<KubeadmConfigSpec[K]>> } => ({
  files: files(era),
  diskSetup: some(
    era,
    {
      partitions: anyItems(era, partition(era), 'Partitions of disks.', 100),
      filesystems: anyItems(era, filesystem(era), 'File systems.', 100),
    },
    'Disks, partitions and file systems.',
  ),
  mounts: mounts(era),
  bootCommands: commands(era, 'Commands run early in every boot.'),
  preKubeadmCommands: commands(era, 'Commands run before kubeadm.'),
  postKubeadmCommands: commands(era, 'Commands run after kubeadm.'),
  users: users(era),
  ntp: some(
    era,
    {
      servers: anyItems(era, text('', 512), 'Time servers.', 100),
      enabled: boolean('Whether time synchronisation is on.'),
    },
    'Time servers.',
  ),
  format: oneOf(['cloud-config', 'ignition'], 'Format of the user data; absent means cloud-config.'),
  verbosity: int32('Log level of kubeadm.'),
  ignition: some(
    era,
    {
      containerLinuxConfig: some(
        era,
        {
          additionalConfig: string('Additional configuration, merged with what is generated.', {
            minLength: 1,
            maxLength: 32768,
          }),
          strict: boolean('Refuse configuration with warnings.'),
        },
        'Configuration for Ignition.',
      ),
    },
    'Settings for Ignition only.',
  ),
});
