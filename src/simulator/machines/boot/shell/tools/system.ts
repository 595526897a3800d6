import { flagsOf, pathIn, type Tool } from '../../../../../simkube/index.ts';
import { journal } from '../../console-text.ts';
import { disableUnit, enableUnit, isUnitEnabled, knownUnit, restartUnit, unitName } from '../../systemd/control.ts';
import { machineOf } from '../shell-machine.ts';

/** Programs of a node image that have no effect here. */
const quiet = [
  [
    'sysctl',
    'modprobe',
    'swapoff',
    'swapon',
    'mount',
    'umount',
    'mkfs',
    'mkfs.ext4',
    'mkfs.xfs',
    'resize2fs',
    'growpart',
  ],
  ['update-ca-certificates', 'update-ca-trust', 'ldconfig', 'depmod', 'udevadm', 'sync', 'logger', 'setenforce'],
  ['iptables', 'ip6tables', 'iptables-save', 'iptables-restore', 'nft', 'ufw', 'firewall-cmd', 'ethtool', 'netplan'],
  ['useradd', 'usermod', 'groupadd', 'userdel', 'passwd', 'chpasswd', 'timedatectl', 'localectl', 'resolvectl'],
  ['ctr', 'crictl', 'containerd', 'nerdctl', 'docker', 'snap', 'partprobe', 'blkid', 'lsblk'],
  ['dmesg', 'journalctl', 'kill', 'killall', 'pkill', 'update-grub', 'grubby', 'tuned-adm', 'setcap', 'semodule'],
  ['apt-mark', 'apt-key', 'gpg', 'debconf-set-selections', 'systemd-tmpfiles', 'systemd-sysusers', 'cloud-init'],
].flat();

/** Programs that succeed without output. */
export const silentTools: Readonly<Record<string, Tool>> = Object.fromEntries(quiet.map((name) => [name, () => 0]));

/** Package manager: takes time and reports success. */
const install =
  (name: string): Tool =>
  async ({ state, streams }, args) => {
    const [verb = '', ...packages] = args.filter((arg) => !arg.startsWith('-'));
    await machineOf(state).machine.pass(machineOf(state).machine.timings.sample('machine.install'));
    streams.out('Reading package lists...\nBuilding dependency tree...\n');
    if (/install|upgrade/.test(verb)) {
      const { machine, software } = machineOf(state);
      const found = packages.map((each) => ({ each, content: software.packaged?.(machine, each) }));
      const unknown = found.filter(({ content }) => content === 'unknown');
      // apt installs nothing if one package is unknown
      for (const { each } of unknown) streams.error(`E: Unable to locate package ${each}\n`);
      if (unknown.length > 0) return 100;
      for (const { each, content } of found) {
        if (typeof content === 'object') machine.disk.write(content.path, content.content, 0o755);
        streams.out(`Setting up ${each} ...\n`);
      }
      if (packages.length === 0) streams.out(`${name}: nothing to do\n`);
    }
    return 0;
  };

const systemctl: Tool = async ({ state, streams }, args) => {
  const { flags, rest } = flagsOf(args, 't');
  const [verb = '', ...names] = rest;
  const own = machineOf(state);
  const { machine, software } = own;
  let status = 0;
  for (const name of names.map(unitName)) {
    const isKnown = knownUnit(machine, software, name);
    switch (verb) {
      case 'enable':
      case 'reenable':
      case 'disable':
      case 'mask':
      case 'unmask':
        if (!isKnown && verb !== 'mask') {
          streams.error(`Failed to ${verb} unit: Unit file ${name} does not exist.\n`);
          status = 1;
          break;
        }
        if (verb.endsWith('enable')) enableUnit(machine, name);
        else if (verb !== 'unmask') disableUnit(machine, name);
        if (verb === 'enable' && flags.has('now')) await restartUnit(own, name);
        break;
      case 'start':
      case 'restart':
      case 'reload':
      case 'reload-or-restart':
      case 'try-restart':
        if (!isKnown) {
          streams.error(`Failed to ${verb} ${name}: Unit ${name} not found.\n`);
          status = 5;
        } else if (!(await restartUnit(own, name))) {
          streams.error(
            `Job for ${name} failed because the control process exited with error code.\nSee "systemctl status ${name}" and "journalctl -xeu ${name}" for details.\n`,
          );
          status = 1;
        }
        break;
      case 'is-enabled':
        streams.out(isUnitEnabled(machine, name) ? 'enabled\n' : isKnown ? 'disabled\n' : 'not-found\n');
        status = isUnitEnabled(machine, name) ? 0 : 1;
        break;
      case 'is-active':
      case 'status':
        if (!isKnown) {
          streams.out(verb === 'status' ? `Unit ${name} could not be found.\n` : 'inactive\n');
          status = verb === 'status' ? 4 : 3;
        } else streams.out(verb === 'status' ? `● ${name}\n     Active: active (running)\n` : 'active\n');
        break;
    }
  }
  return status;
};

const hostname: Tool = ({ state, streams }, args) => {
  const { machine } = machineOf(state);
  const [flag] = args;
  if (flag === undefined || flag === '-s' || flag === '-f' || flag === '--fqdn') streams.out(`${machine.hostname}\n`);
  else if (flag === '-I' || flag === '-i') streams.out(`${machine.addresses.join(' ')} \n`);
  else if (!flag.startsWith('-')) machine.rename(flag);
  return 0;
};

const date: Tool = ({ state, streams }, args) => {
  const now = new Date(machineOf(state).machine.clock.now());
  const format = args.find((arg) => arg.startsWith('+'))?.slice(1);
  const two = (value: number): string => String(value).padStart(2, '0');
  const parts: Readonly<Record<string, string>> = {
    Y: String(now.getUTCFullYear()),
    m: two(now.getUTCMonth() + 1),
    d: two(now.getUTCDate()),
    H: two(now.getUTCHours()),
    M: two(now.getUTCMinutes()),
    S: two(now.getUTCSeconds()),
    s: String(Math.floor(now.getTime() / 1000)),
    F: now.toISOString().slice(0, 10),
    T: now.toISOString().slice(11, 19),
    Z: 'UTC',
  };
  streams.out(
    `${format === undefined ? now.toUTCString() : format.replace(/%(\w)/g, (all, letter: string) => parts[letter] ?? all)}\n`,
  );
  return 0;
};

/** Commands that query or change the machine. */
export const systemTools: Readonly<Record<string, Tool>> = {
  'apt-get': install('apt-get'),
  apt: install('apt'),
  dnf: install('dnf'),
  yum: install('yum'),
  zypper: install('zypper'),
  systemctl,
  hostname,
  hostnamectl: ({ state, streams }, [verb, name]) => {
    if ((verb === 'set-hostname' || verb === 'hostname') && name !== undefined) machineOf(state).machine.rename(name);
    else streams.out(` Static hostname: ${machineOf(state).machine.hostname}\n`);
    return 0;
  },
  date,
  uname: ({ state, streams }, args) => {
    const { flags } = flagsOf(args);
    const all = { s: 'Linux', n: machineOf(state).machine.hostname, r: journal.kernel, m: 'x86_64' } as const;
    const shown = flags.has('a')
      ? Object.values(all)
      : [...flags].map((flag) => all[flag as keyof typeof all] ?? 'Linux');
    streams.out(`${shown.length === 0 ? all.s : shown.join(' ')}\n`);
    return 0;
  },
  arch: ({ streams }) => {
    streams.out('x86_64\n');
    return 0;
  },
  nproc: ({ state, streams }) => {
    streams.out(`${machineOf(state).machine.server.flavor.vcpus}\n`);
    return 0;
  },
  whoami: ({ streams }) => {
    streams.out('root\n');
    return 0;
  },
  id: ({ streams }, [flag]) => {
    streams.out(flag === '-u' || flag === '-g' ? '0\n' : 'uid=0(root) gid=0(root) groups=0(root)\n');
    return 0;
  },
  'cloud-init-per': ({ state, streams, runner }, [, name = '', ...words]) => {
    const mark = `/var/lib/cloud/instance/sem/bootper.${name}.instance`;
    if (machineOf(state).machine.disk.read(mark) !== undefined) return 0;
    machineOf(state).machine.disk.write(mark, '');
    return runner.run(state, words, streams);
  },
  getent: ({ state, streams }, [database, key = '']) => {
    if (database === 'hosts' && key === machineOf(state).machine.hostname) {
      streams.out(`${machineOf(state).machine.addresses[0] ?? '127.0.1.1'} ${key}\n`);
      return 0;
    }
    const file = machineOf(state).machine.disk.read(pathIn(state, `/etc/${database ?? ''}`)) ?? '';
    const line = file.split('\n').find((each) => each.startsWith(`${key}:`));
    if (line === undefined) return 2;
    streams.out(`${line}\n`);
    return 0;
  },
};
