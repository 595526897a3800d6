import { Document, isScalar, Scalar, visit } from 'yaml';
import type { BootstrapFile, BootstrapUser, DiskFilesystem, DiskPartitions } from '../../../api/index.ts';
import type { MachineContent } from './machine-content.ts';

export interface CloudConfig extends MachineContent {
  /** run early on every boot */
  bootCommands?: readonly string[];
  /** run once, in this order, by a shell */
  commands: readonly string[];
}

/**
 * The first line makes cloud-init render Jinja expressions such as `{{ ds.meta_data.local_hostname }}` before it parses
 * the YAML.
 */
const header = '## template: jinja\n#cloud-config\n';

/**
 * Renders cloud-init user data. `besides` is the user's own configuration; its files and commands come after the
 * generated ones.
 */
export function renderCloudConfig(config: CloudConfig, besides: Readonly<Record<string, unknown>> = {}): string {
  const { write_files: moreFiles, runcmd: moreCommands, ...others } = besides;
  const { files, bootCommands, commands, ntp, users, diskSetup, mounts } = config;
  const { partitions, filesystems } = diskSetup ?? {};
  const document = new Document(
    {
      ...others,
      write_files: [...files.map(fileEntry), ...listOf(moreFiles)],
      ...(bootCommands?.length && { bootcmd: bootCommands }),
      runcmd: [...commands, ...listOf(moreCommands)],
      ...(ntp && { ntp: present({ enabled: ntp.enabled, servers: ntp.servers }) }),
      ...(users?.length && { users: users.map(userEntry) }),
      ...(partitions?.length && {
        disk_setup: Object.fromEntries(partitions.map((one) => [one.device, partitionsEntry(one)])),
      }),
      ...(filesystems?.length && { fs_setup: filesystems.map(filesystemEntry) }),
      ...(mounts?.length && { mounts }),
    },
    // cloud-init parses YAML 1.1, where unquoted `yes` or `0600` is not a string
    { version: '1.1', aliasDuplicateObjects: false },
  );
  keepExpressionsWhole(document);
  return header + document.toString({ lineWidth: 0, singleQuote: true });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const expression = /\{[{%#]/;
const escapable = /['"\\]/;

/**
 * Renders strings with Jinja expressions as block scalars. cloud-init renders Jinja before it parses YAML, so quotes
 * inside an expression must not be escaped.
 */
function keepExpressionsWhole(document: Document): void {
  visit(document, (key, node) => {
    if (key === 'key' || !isScalar(node) || typeof node.value !== 'string') return;
    if (expression.test(node.value) && escapable.test(node.value)) node.type = Scalar.BLOCK_LITERAL;
  });
}

/** Drops undefined fields. */
function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) result[key] = fields[key];
  return result;
}

function fileEntry({ path, encoding, owner, permissions, append, content }: BootstrapFile): Record<string, unknown> {
  return present({
    path,
    encoding,
    owner,
    permissions,
    append: append === true ? true : undefined,
    content: content ?? '',
  });
}

function userEntry(user: BootstrapUser): Record<string, unknown> {
  return present({
    name: user.name,
    passwd: user.passwd,
    gecos: user.gecos,
    groups: user.groups,
    homedir: user.homeDir,
    // cloud-init's own `inactive` is the number of days after password expiry; an expired account denies every login
    expiredate: user.inactive === true ? '1970-01-02' : undefined,
    lock_passwd: user.lockPassword,
    shell: user.shell,
    primary_group: user.primaryGroup,
    sudo: user.sudo,
    ssh_authorized_keys: user.sshAuthorizedKeys,
  });
}

/**
 * Partition types as fdisk codes in hexadecimal. cloud-init wants codes of decimal digits as numbers; other values such
 * as GUIDs are passed as they are.
 */
const partitionTypes: Readonly<Record<string, string | number>> = {
  Linux: 83,
  LinuxSwap: 82,
  LinuxRAID: 'fd',
  LVM: '8e',
  Fat32: '0c',
  NTFS: '07',
  LinuxExtended: 85,
};

function partitionsEntry({ tableType, diskLayout, layout, overwrite }: DiskPartitions): Record<string, unknown> {
  return present({
    table_type: tableType,
    layout: diskLayout
      ? diskLayout.map(({ percentage, partitionType }) =>
          partitionType === undefined ? percentage : [percentage, partitionTypes[partitionType] ?? partitionType],
        )
      : (layout ?? false),
    overwrite,
  });
}

const digits = /^\d+$/;

function filesystemEntry(desired: DiskFilesystem): Record<string, unknown> {
  const { label, filesystem, device, partition, overwrite, replaceFS, extraOpts } = desired;
  return present({
    label,
    filesystem,
    device,
    partition: partition !== undefined && digits.test(partition) ? Number(partition) : partition,
    overwrite,
    replace_fs: replaceFS,
    extra_opts: extraOpts,
  });
}
