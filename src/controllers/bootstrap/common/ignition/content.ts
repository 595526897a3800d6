import type { BootstrapFile, BootstrapUser, DiskPartitions } from '../../../../api/index.ts';
import { BootstrapInputError, type MachineContent } from '../machine-content.ts';
import { base64Url, dataUrl, systemdPathName } from './encode.ts';
import type { IgnitionContent, IgnitionDisk, IgnitionFile, IgnitionUnit, IgnitionUser } from './types.ts';

/** Files of the image are overwritten, as cloud-init does. Without this flag Ignition fails the boot. */
const overwrite = true;

export function ignitionFile(path: string, mode: number, text: string): IgnitionFile {
  return { path, overwrite, mode, contents: { source: dataUrl(text) } };
}

/** Expresses cloud-init features with Ignition and systemd. */
export function ignitionContent(content: MachineContent): IgnitionContent {
  const { users = [], ntp, diskSetup, mounts = [] } = content;
  const { partitions = [], filesystems = [] } = diskSetup ?? {};
  const devices = new Map(filesystems.map(({ label, device }) => [label, device]));
  return {
    users: users.map(userEntry),
    units: [
      ...(ntp?.enabled === true ? [{ name: 'ntpd.service', enabled: true }] : []),
      ...mounts.map((mount) => mountUnit(mount, devices)),
    ],
    disks: partitions.map(diskEntry),
    filesystems: filesystems.map((desired) => ({
      device: desired.device,
      format: desired.filesystem,
      ...(desired.label !== undefined && { label: desired.label }),
      ...(desired.overwrite !== undefined && { wipeFilesystem: desired.overwrite }),
      ...(desired.extraOpts && { options: desired.extraOpts }),
    })),
    files: [...sudoFiles(users), ...passwordLogin(users), ...content.files.map(fileEntry), ...timeServers(ntp)],
  };
}

function userEntry(user: BootstrapUser): IgnitionUser {
  const groups = user.groups
    ?.split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
  return {
    name: user.name,
    ...(user.gecos !== undefined && { gecos: user.gecos }),
    ...(groups && { groups }),
    ...(user.homeDir !== undefined && { homeDir: user.homeDir }),
    ...(user.shell !== undefined && { shell: user.shell }),
    ...(user.passwd !== undefined && { passwordHash: user.passwd }),
    ...(user.primaryGroup !== undefined && { primaryGroup: user.primaryGroup }),
    ...(user.sshAuthorizedKeys && { sshAuthorizedKeys: user.sshAuthorizedKeys }),
  };
}

function sudoFiles(users: readonly BootstrapUser[]): IgnitionFile[] {
  return users.flatMap(({ name, sudo }) =>
    sudo === undefined ? [] : [ignitionFile(`/etc/sudoers.d/${name}`, 0o600, `${name} ${sudo}\n`)],
  );
}

/**
 * Enables password login. Flatcar's sshd denies it by default; the other lines repeat Flatcar's defaults, because this
 * file replaces them.
 */
function passwordLogin(users: readonly BootstrapUser[]): IgnitionFile[] {
  const names = users.filter(({ lockPassword }) => lockPassword === false).map(({ name }) => name);
  if (names.length === 0) return [];
  const lines = [
    'Subsystem sftp internal-sftp',
    'ClientAliveInterval 180',
    'UseDNS no',
    'UsePAM yes',
    'PrintLastLog no',
    'PrintMotd no',
    '',
    `Match User ${names.join(',')}`,
    '  PasswordAuthentication yes',
    '',
  ];
  return [ignitionFile('/etc/ssh/sshd_config', 0o600, lines.join('\n'))];
}

function timeServers(ntp: MachineContent['ntp']): IgnitionFile[] {
  if (ntp?.enabled !== true || !ntp.servers?.length) return [];
  const lines = [
    ...ntp.servers.map((server) => `server ${server}`),
    'restrict default nomodify nopeer noquery notrap limited kod',
    'restrict 127.0.0.1',
    'restrict [::1]',
    '',
  ];
  return [ignitionFile('/etc/ntp.conf', 0o644, lines.join('\n'))];
}

function fileEntry({ path, owner, permissions, encoding, append, content = '' }: BootstrapFile): IgnitionFile {
  if (encoding === 'gzip' || encoding === 'gzip+base64') {
    throw new BootstrapInputError(`spec.files ${path}: encoding ${encoding} does not exist in Ignition; use base64`);
  }
  const [user, group] = (owner ?? '').split(':').map((part) => part.trim());
  const resource = { source: encoding === 'base64' ? base64Url(content) : dataUrl(content) };
  return {
    path,
    ...(append === true ? { append: [resource] } : { overwrite, contents: resource }),
    ...(permissions !== undefined && { mode: Number.parseInt(permissions, 8) }),
    ...(user && { user: { name: user } }),
    ...(group && { group: { name: group } }),
  };
}

function diskEntry({ device, overwrite: wipeTable, layout, diskLayout }: DiskPartitions): IgnitionDisk {
  if (diskLayout && diskLayout.length > 1) {
    throw new BootstrapInputError(
      `spec.diskSetup.partitions ${device}: Ignition knows sizes, not shares of a disk; use layout, or additionalConfig`,
    );
  }
  return {
    device,
    ...(wipeTable !== undefined && { wipeTable }),
    // one partition without a size spans the whole disk
    ...((layout === true || diskLayout) && { partitions: [{ number: 1 }] }),
  };
}

/**
 * Builds a mount unit. The first field of a mount is the label of a configured file system, or a device name for
 * systemd.
 */
function mountUnit(mount: readonly string[], devices: ReadonlyMap<string | undefined, string>): IgnitionUnit {
  const [label = '', where, ...options] = mount;
  if (where === undefined) {
    throw new BootstrapInputError(`spec.mounts [${mount.join(', ')}]: a mount needs a device and a directory`);
  }
  const lines = [
    '[Unit]',
    `Description=Mount ${label}`,
    '',
    '[Mount]',
    `What=${devices.get(label) ?? label}`,
    `Where=${where}`,
    ...(options.length > 0 ? [`Options=${options.join(',')}`] : []),
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ];
  return { name: `${systemdPathName(where)}.mount`, enabled: true, contents: lines.join('\n') };
}
