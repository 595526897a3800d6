import { gunzipSync } from 'node:zlib';
import type { HostedMachine } from '../../host/running-machine.ts';
import { isDictionary, pythonType } from './config.ts';
import { listOf, type Module, type ModuleContext, ModuleError, quoted } from './module.ts';
import { aptConfigure, packages, yumAddRepo } from './packages.ts';

const scriptDirectory = '/var/lib/cloud/instance/scripts';

/** Builds a shell script. A command is a line, used as is, or a list of words, which are quoted. */
export function shellify(commands: readonly unknown[]): string {
  let text = '#!/bin/sh\n';
  for (const command of commands) {
    if (Array.isArray(command)) text += `${command.map(quoted).join(' ')}\n`;
    else if (typeof command === 'string') text += `${command}\n`;
    else if (command !== null && command !== undefined) {
      throw new ModuleError(`Unable to shellify type '${pythonType(command)}'. Expected list, string, tuple.`);
    }
  }
  return text;
}

const bootcmd: Module = async (context) => {
  const commands = listOf(context, 'bootcmd');
  if (!commands) return;
  const status = await context.script('/tmp/bootcmd.sh', shellify(commands));
  if (status !== 0) throw new ModuleError(`bootcmd exited with ${status}`);
};

const runcmd: Module = (context) => {
  const commands = listOf(context, 'runcmd');
  if (commands) context.machine.disk.write(`${scriptDirectory}/runcmd`, shellify(commands), 0o700);
};

const writeFiles =
  (isDeferred: boolean): Module =>
  (context) => {
    for (const [index, entry] of (listOf(context, 'write_files') ?? []).entries()) {
      if (!isDictionary(entry)) throw new ModuleError(`entry ${index + 1} of write_files is ${pythonType(entry)}`);
      if ((entry['defer'] === true) === isDeferred) writeFile(context, entry, index + 1);
    }
  };

function writeFile(context: ModuleContext, entry: Readonly<Record<string, unknown>>, number: number): void {
  const { path, owner } = entry;
  if (typeof path !== 'string' || path === '') {
    context.warn(`cc_write_files.py[WARNING]: No path provided to write for entry ${number} in module write_files`);
    return;
  }
  const { disk } = context.machine;
  if (typeof owner === 'string') checkOwner(context.machine, owner);
  const content = decoded(context, entry['content'], entry['encoding']);
  const before = entry['append'] === true ? (disk.read(path) ?? '') : '';
  disk.write(path, before + content, permissions(context, entry['permissions']));
}

/** Users are created after files, so a file of a new user must be deferred. */
function checkOwner({ disk }: HostedMachine, owner: string): void {
  const [user = 'root'] = owner.split(':');
  const system = ['root', 'daemon', 'bin', 'sys', 'nobody', 'www-data', 'syslog', 'messagebus', 'systemd-network', ''];
  if (
    system.includes(user) ||
    (disk.read('/etc/passwd') ?? '').split('\n').some((line) => line.startsWith(`${user}:`))
  ) {
    return;
  }
  throw new ModuleError(`Unknown user or group: "getpwnam(): name not found: '${user}'"`);
}

function permissions(context: ModuleContext, value: unknown): number {
  if (value === undefined || value === null) return 0o644;
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && /^(?:0o?)?[0-7]+$/.test(value)) return Number.parseInt(value.replace('o', ''), 8);
  context.warn(`cc_write_files.py[WARNING]: Undecodable permissions ${JSON.stringify(value)}, returning default 0o644`);
  return 0o644;
}

function decoded(context: ModuleContext, content: unknown, encoding: unknown): string {
  if (content === undefined || content === null) return '';
  const text = typeof content === 'string' ? content : String(content);
  const kind = typeof encoding === 'string' ? encoding.toLowerCase().trim() : '';
  try {
    switch (kind) {
      case '':
      case 'text/plain':
        return text;
      case 'b64':
      case 'base64':
        return Buffer.from(text, 'base64').toString();
      case 'gz+b64':
      case 'gz+base64':
      case 'gzip+b64':
      case 'gzip+base64':
        return gunzipSync(Buffer.from(text, 'base64')).toString();
      case 'gz':
      case 'gzip':
        return gunzipSync(Buffer.from(text, 'latin1')).toString();
    }
  } catch (error) {
    throw new ModuleError(
      `Failed to decode content of encoding ${kind}: ${error instanceof Error ? error.message : ''}`,
    );
  }
  context.warn(`cc_write_files.py[WARNING]: Unknown encoding type ${kind}, assuming text/plain`);
  return text;
}

const setHostname: Module = ({ machine, cloudConfig: { config } }) => {
  if (config['preserve_hostname'] === true) return;
  const given = config['hostname'] ?? config['fqdn'];
  const name = typeof given === 'string' ? (given.split('.')[0] ?? given) : machine.hostname;
  if (name !== machine.hostname) machine.rename(name);
  else if (machine.disk.read('/etc/hostname') === undefined) machine.disk.write('/etc/hostname', `${name}\n`);
};

const usersAndGroups: Module = (context) => {
  const { machine } = context;
  const users = listOf(context, 'users') ?? ['default'];
  let passwd = machine.disk.read('/etc/passwd') ?? 'root:x:0:0:root:/root:/bin/bash\n';
  let id = 1000;
  for (const entry of users) {
    const isDefault = entry === 'default';
    const user = isDictionary(entry) ? entry : { name: isDefault ? 'ubuntu' : entry };
    const name = user['name'];
    if (typeof name !== 'string' || name === '') {
      context.warn(`cc_users_groups.py[WARNING]: user entry without a name: ${JSON.stringify(entry)}`);
      continue;
    }
    if (passwd.split('\n').some((line) => line.startsWith(`${name}:`))) continue;
    const home = typeof user['homedir'] === 'string' ? user['homedir'] : `/home/${name}`;
    passwd += `${name}:x:${id}:${id}:${String(user['gecos'] ?? name)}:${home}:${String(user['shell'] ?? '/bin/bash')}\n`;
    id++;
    const keys = Array.isArray(user['ssh_authorized_keys'])
      ? (user['ssh_authorized_keys'] as unknown[]).map(String)
      : [];
    if (isDefault && machine.server.keyPair) keys.push(machine.server.keyPair.publicKey.trim());
    if (keys.length > 0) machine.disk.write(`${home}/.ssh/authorized_keys`, `${keys.join('\n')}\n`, 0o600);
    const rules = [user['sudo']].flat().filter((rule): rule is string => typeof rule === 'string');
    for (const rule of rules) {
      const file = '/etc/sudoers.d/90-cloud-init-users';
      machine.disk.write(file, `${machine.disk.read(file) ?? ''}${name} ${rule}\n`, 0o440);
    }
  }
  machine.disk.write('/etc/passwd', passwd);
};

const mounts: Module = (context) => {
  const lines = (listOf(context, 'mounts') ?? []).map((mount) => {
    if (!Array.isArray(mount)) throw new ModuleError(`Mount option is ${pythonType(mount)}, not a list`);
    const [device, target, type = 'auto', options = 'defaults,nofail,_netdev', dump = '0', pass = '2'] =
      mount as unknown[];
    if (typeof target === 'string') context.machine.disk.makeDirectory(target);
    return `${[device, target, type, `${String(options)},comment=cloudconfig`, dump, pass].map(String).join('\t')}\n`;
  });
  if (lines.length === 0) return;
  const fstab = context.machine.disk.read('/etc/fstab') ?? 'LABEL=cloudimg-rootfs\t/\text4\tdefaults\t0 1\n';
  context.machine.disk.write('/etc/fstab', fstab + lines.join(''));
};

/** Disks have no partitions here. Only errors in the configuration are reported. */
const diskSetup: Module = (context) => {
  const { disk_setup: disks } = context.cloudConfig.config;
  for (const device of isDictionary(disks) ? Object.keys(disks) : []) {
    if (device === '/dev/vda') throw new ModuleError(`Device ${device} is in use: it holds the root file system`);
  }
  for (const desired of listOf(context, 'fs_setup') ?? []) {
    if (!isDictionary(desired)) throw new ModuleError(`Invalid file system definition: ${pythonType(desired)}`);
    if (desired['filesystem'] === undefined && desired['cmd'] === undefined) {
      context.warn(`cc_disk_setup.py[WARNING]: No filesystem for ${String(desired['device'] ?? 'a device')}`);
    }
  }
};

const ntp: Module = ({ machine, cloudConfig: { config } }) => {
  const desired = config['ntp'];
  if (!isDictionary(desired) || desired['enabled'] === false) return;
  const all = (key: string): string[] => (Array.isArray(desired[key]) ? (desired[key] as unknown[]).map(String) : []);
  const lines = [
    ...all('pools').map((each) => `pool ${each} iburst`),
    ...all('servers').map((each) => `server ${each} iburst`),
  ];
  machine.disk.write('/etc/chrony/chrony.conf', `${lines.join('\n')}\n`);
};

const boothooks: Module = async (context) => {
  for (const { name, text } of context.cloudConfig.boothooks) {
    await context.script(`/var/lib/cloud/instance/boothooks/${name}`, text.replace(/^#cloud-boothook/, '#!/bin/sh\n#'));
  }
};

/** Runs the scripts of the user data in order, then the script of runcmd. A failure does not stop the others. */
const scriptsUser: Module = async (context) => {
  const { machine, cloudConfig } = context;
  for (const { name, text } of cloudConfig.scripts) machine.disk.write(`${scriptDirectory}/${name}`, text, 0o700);
  const failed: string[] = [];
  const paths = machine.disk.list(`${scriptDirectory}/`);
  for (const path of paths) {
    const status = await context.script(path, machine.disk.read(path) ?? '');
    if (status !== 0) failed.push(path.slice(scriptDirectory.length + 1));
  }
  if (failed.length === 0) return;
  context.warn(`cc_scripts_user.py[WARNING]: Failed to run module scripts_user (scripts in ${scriptDirectory})`);
  throw new ModuleError(
    `Runparts: ${failed.length} failures (${failed.join(', ')}) in ${paths.length} attempted commands`,
  );
};

export interface ModuleDefinition {
  readonly name: string;
  readonly frequency: 'always' | 'once-per-instance';
  readonly run: Module;
  /** the machine may lose power while the module runs */
  readonly takesTime?: boolean;
}

export interface Stage {
  readonly name: 'init' | 'modules:config' | 'modules:final';
  readonly modules: readonly ModuleDefinition[];
}

/** Modules of cloud-init that have an effect here, in cloud-init's order. */
export const stages: readonly Stage[] = [
  {
    name: 'init',
    modules: [
      { name: 'boothooks', frequency: 'always', run: boothooks },
      { name: 'bootcmd', frequency: 'always', run: bootcmd },
      { name: 'write_files', frequency: 'once-per-instance', run: writeFiles(false) },
      { name: 'disk_setup', frequency: 'once-per-instance', run: diskSetup },
      { name: 'mounts', frequency: 'once-per-instance', run: mounts },
      { name: 'set_hostname', frequency: 'once-per-instance', run: setHostname },
      { name: 'users_groups', frequency: 'once-per-instance', run: usersAndGroups },
    ],
  },
  {
    name: 'modules:config',
    modules: [
      { name: 'apt_configure', frequency: 'once-per-instance', run: aptConfigure },
      { name: 'ntp', frequency: 'once-per-instance', run: ntp },
      { name: 'yum_add_repo', frequency: 'once-per-instance', run: yumAddRepo },
      { name: 'runcmd', frequency: 'once-per-instance', run: runcmd },
    ],
  },
  {
    name: 'modules:final',
    modules: [
      { name: 'package_update_upgrade_install', frequency: 'once-per-instance', run: packages, takesTime: true },
      { name: 'write_files_deferred', frequency: 'once-per-instance', run: writeFiles(true) },
      { name: 'scripts_user', frequency: 'once-per-instance', run: scriptsUser, takesTime: true },
    ],
  },
];
