import { runScript, type Streams } from '../../../../simkube/index.ts';
import type { HostedMachine } from '../../host/running-machine.ts';
import type { Software } from '../../types.ts';
import { failedLine, okLine, serviceLine, stampedWriter } from '../console-text.ts';
import type { MachineShell } from '../shell/shell-machine.ts';
import { parseUnit, type Unit } from './unit.ts';

const unitDirectory = '/etc/systemd/system';
const directories = [unitDirectory, '/usr/local/lib/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];

/** Units that node images contain. */
const builtIn: ReadonlySet<string> = new Set(
  [
    ['containerd', 'crio', 'docker', 'kubelet', 'ssh', 'sshd', 'chrony', 'chronyd', 'ntp', 'ntpd', 'cron', 'rsyslog'],
    ['systemd-timesyncd', 'systemd-resolved', 'systemd-networkd', 'systemd-modules-load', 'systemd-sysctl', 'dbus'],
    ['systemd-journald', 'systemd-hostnamed', 'networking', 'NetworkManager', 'ufw', 'firewalld', 'apparmor', 'auditd'],
    ['multipathd', 'iscsid', 'open-iscsi', 'qemu-guest-agent', 'snapd', 'unattended-upgrades', 'locksmithd'],
    ['update-engine', 'apt-daily', 'apt-daily-upgrade', 'tuned', 'irqbalance', 'getty@tty1', 'coreos-metadata'],
  ].flat(),
);

const readyPollMs = 200;

/** File that a service of type notify creates once it is up. */
export const readyFile = (name: string): string => `/run/systemd/notify/${name}`;

/** Number of starts of a failing service before systemd gives up. */
const maxStarts = 5;

/** Returns the full name of a unit. */
export function unitName(name: string): string {
  return /\.(?:service|mount|timer|socket|target|path|swap)$/.test(name) ? name : `${name}.service`;
}

/** Reads a unit with its drop-ins, or undefined if it is not on the disk. */
function readUnit({ disk }: HostedMachine, name: string): Unit | undefined {
  for (const directory of directories) {
    const text = disk.read(`${directory}/${name}`);
    if (text === undefined) continue;
    const dropIns = disk.list(`${directory}/${name}.d/`).filter((path) => path.endsWith('.conf'));
    return parseUnit(text, ...dropIns.map((path) => disk.read(path) ?? ''));
  }
  return undefined;
}

/** Reports whether the unit exists on the disk, in the image, or in the installed software. */
export function knownUnit(machine: HostedMachine, software: Software, name: string): boolean {
  const plain = name.replace(/\.[a-z]+$/, '');
  if (builtIn.has(plain) || software.services.some((service) => unitName(service.name) === name)) return true;
  return directories.some((directory) => machine.disk.read(`${directory}/${name}`) !== undefined);
}

const wantsPath = (name: string): string => `${unitDirectory}/multi-user.target.wants/${name}`;

export function enableUnit({ disk }: HostedMachine, name: string): void {
  disk.write(wantsPath(name), '');
}

export function disableUnit({ disk }: HostedMachine, name: string): void {
  disk.remove(wantsPath(name));
}

export function isUnitEnabled({ disk }: HostedMachine, name: string): boolean {
  return disk.read(wantsPath(name)) !== undefined || builtIn.has(name.replace(/\.service$/, ''));
}

/** Implements `systemctl restart`. Returns whether the unit is up. */
export async function restartUnit(on: MachineShell, name: string): Promise<boolean> {
  const { machine, software } = on;
  const service = software.services.find((each) => unitName(each.name) === name);
  if (service) {
    if (service.enabled(machine.disk)) service.start(machine);
    return true;
  }
  const unit = readUnit(machine, name);
  return unit ? startUnit(on, name, unit) : true;
}

/** Starts the enabled units in the order of their dependencies. */
export async function startEnabledUnits(on: MachineShell): Promise<void> {
  const { machine } = on;
  const prefix = `${unitDirectory}/multi-user.target.wants/`;
  const wanted = new Map<string, Unit>();
  for (const path of machine.disk.list(prefix)) {
    const name = path.slice(prefix.length);
    const unit = readUnit(machine, name);
    if (unit) wanted.set(name, unit);
  }
  for (const [name, unit] of ordered(wanted)) await startUnit(on, name, unit);
}

function ordered(units: ReadonlyMap<string, Unit>): Map<string, Unit> {
  const done = new Map<string, Unit>();
  const visiting = new Set<string>();
  const visit = (name: string, unit: Unit): void => {
    if (done.has(name) || visiting.has(name)) return;
    visiting.add(name);
    for (const earlier of unit.after) {
      const found = units.get(earlier);
      if (found) visit(earlier, found);
    }
    for (const [other, candidate] of units) if (candidate.before.includes(name)) visit(other, candidate);
    done.set(name, unit);
  };
  for (const [name, unit] of units) visit(name, unit);
  return done;
}

async function startUnit(on: MachineShell, name: string, unit: Unit): Promise<boolean> {
  const { machine } = on;
  const title = unit.description ?? name;
  const failing = unit.conditions.find(({ kind, path, isNegated }) => meets(machine, kind, path) === isNegated);
  if (failing) {
    const why = `Condition check resulted in ${title} being skipped`;
    machine.screen.write(serviceLine(machine, 'systemd[1]', why));
    return true;
  }
  if (!name.endsWith('.service')) {
    machine.screen.write(okLine(`Started ${title}`));
    return true;
  }
  if (unit.type === 'oneshot' || unit.start.length === 0) {
    const isUp = (await runUnit(on, name, unit)) === 0;
    machine.screen.write(isUp ? okLine(`Finished ${title}`) : failedLine(`Failed to start ${title}`));
    if (isUp || unit.restart === 'no') return isUp;
    void keepTrying(on, name, unit).catch(() => {});
    return false;
  }
  if (unit.type === 'notify') return await startNotifying(on, name, unit, title);
  machine.screen.write(okLine(`Started ${title}`));
  void keepTrying(on, name, unit, 0).catch(() => {});
  return true;
}

/** Waits until the service reports readiness or its first run fails. Later restarts happen in the background. */
async function startNotifying(on: MachineShell, name: string, unit: Unit, title: string): Promise<boolean> {
  const { machine } = on;
  machine.disk.remove(readyFile(name));
  let ended: number | undefined;
  const first = runUnit(on, name, unit).then((status) => {
    ended = status;
  });
  first.catch(() => {});
  while (ended === undefined && machine.disk.read(readyFile(name)) === undefined) await machine.pass(readyPollMs);
  if (ended === undefined) {
    machine.screen.write(okLine(`Started ${title}`));
    return true;
  }
  machine.screen.write(failedLine(`Failed to start ${title}`));
  if (unit.restart !== 'no') void keepTrying(on, name, unit).catch(() => {});
  return false;
}

function meets({ disk }: HostedMachine, kind: string, path: string): boolean {
  if (kind === 'ConditionPathIsDirectory') return disk.isDirectory(path);
  const content = disk.read(path);
  if (kind === 'ConditionFileNotEmpty') return content !== undefined && content !== '';
  return content !== undefined || disk.isDirectory(path);
}

/** Restarts a failing service according to its unit, until systemd would give up. */
async function keepTrying(on: MachineShell, name: string, unit: Unit, started = 1): Promise<void> {
  const { machine } = on;
  for (let starts = started; ; starts++) {
    if (starts > 0) await machine.pass(unit.restartMs * machine.timings.scale);
    const status = await runUnit(on, name, unit);
    const continues = unit.restart === 'always' || (unit.restart.startsWith('on-') && status !== 0);
    if (!continues) {
      if (status !== 0) machine.screen.write(failedLine(`Failed to start ${unit.description ?? name}`));
      return;
    }
    if (starts + 1 >= maxStarts && unit.restartMs < 2_000) {
      const words = `${name}: Start request repeated too quickly.`;
      machine.screen.write(serviceLine(machine, 'systemd[1]', words));
      return;
    }
  }
}

async function runUnit({ machine, open }: MachineShell, name: string, unit: Unit): Promise<number> {
  const writer = stampedWriter(machine, name.replace(/\.service$/, ''));
  const streams: Streams = { input: { text: '' }, out: writer.write, error: writer.write };
  const environment = { ...unit.environment };
  for (const file of unit.environmentFiles) {
    for (const line of (machine.disk.read(file.replace(/^-/, '')) ?? '').split('\n')) {
      const match = /^([A-Za-z_]\w*)=(.*)$/.exec(line.trim());
      if (match) environment[match[1] ?? ''] = (match[2] ?? '').replace(/^(["'])(.*)\1$/, '$2');
    }
  }
  const state = open(name, environment);
  if (unit.workingDirectory !== undefined) state.directory = unit.workingDirectory;
  let status = 0;
  for (const line of [...unit.startPre, ...unit.start, ...unit.startPost]) {
    const mayFail = /^[@:+!]*-/.test(line);
    status = await runScript(state, line.replace(/^[-@:+!]+/, ''), streams);
    if (status !== 0 && !mayFail) break;
    status = 0;
  }
  writer.end();
  if (status !== 0) {
    const words = `${name}: Main process exited, code=exited, status=${status}/FAILURE`;
    machine.screen.write(serviceLine(machine, 'systemd[1]', words));
  }
  return status;
}
