import type { HostedMachine } from '../host/running-machine.ts';
import type { Software } from '../types.ts';
import { runCloudInit } from './cloud-init/run.ts';
import { bootText, firmwareText, loginText, okLine, serviceLine } from './console-text.ts';
import { isIgnitionText } from './ignition/config.ts';
import { runIgnition, userDataText } from './ignition/run.ts';
import { finishedMark } from './marks.ts';
import { shellsOf } from './shell/machine-shell.ts';
import { startEnabledUnits } from './systemd/control.ts';

export interface BootOptions {
  readonly machine: HostedMachine;
  readonly software: Software;
  /** the machine was suspended: everything continues without a boot */
  readonly isResumed: boolean;
}

/** Operating systems that run Ignition on first boot. */
const ignitionSystems: ReadonlySet<string> = new Set([
  'flatcar',
  'coreos',
  'fedora-coreos',
  'fcos',
  'rhcos',
  'rhel-coreos',
]);

/**
 * Boots a machine up to the login prompt. Returns early if the user data makes the boot fail, and rejects if the power
 * goes off.
 */
export async function boot({ machine, software, isResumed }: BootOptions): Promise<void> {
  const isFirst = machine.disk.read(finishedMark) === undefined;
  if (isResumed && !isFirst) {
    startServices(machine, software);
    return;
  }
  if (!isFirst) machine.screen.write(firmwareText(machine));
  const bootMs = machine.timings.sample('machine.boot');
  await machine.pass(bootMs);
  machine.screen.write(bootText(machine, bootMs));
  await (usesIgnition(machine) ? bootWithIgnition : bootWithCloudInit)(machine, software, isFirst);
}

function usesIgnition({ server }: HostedMachine): boolean {
  const distribution = server.image?.properties['os_distro'];
  if (distribution !== undefined) return ignitionSystems.has(distribution.toLowerCase());
  return /flatcar|coreos/i.test(server.image?.name ?? '');
}

async function bootWithCloudInit(machine: HostedMachine, software: Software, isFirst: boolean): Promise<void> {
  if (!isFirst) {
    startServices(machine, software);
    await startEnabledUnits(shellsOf(machine, software));
  }
  await runCloudInit(machine, software);
  // The first boot also starts services it has installed. Services installed later start at the next boot.
  if (isFirst) startServices(machine, software);
  machine.screen.write(okLine('Reached target Multi-User System') + loginText(machine));
}

async function bootWithIgnition(machine: HostedMachine, software: Software, isFirst: boolean): Promise<void> {
  if (!runIgnition(machine)) return;
  const text = userDataText(machine);
  if (!isFirst) startServices(machine, software);
  machine.screen.write(okLine('Started Getty on tty1') + loginText(machine));
  await startEnabledUnits(shellsOf(machine, software));
  if (text !== undefined && !isIgnitionText(text)) {
    const words = 'user data is a cloud-config or script: this image takes Ignition configs only';
    machine.screen.write(serviceLine(machine, 'coreos-cloudinit[701]', words));
  }
  if (!isFirst) return;
  machine.disk.write(finishedMark, `${(machine.uptime() / 1000).toFixed(2)}\n`);
  startServices(machine, software);
}

function startServices(machine: HostedMachine, software: Software): void {
  for (const service of software.services) {
    if (!service.enabled(machine.disk)) continue;
    machine.screen.write(okLine(`Started ${service.name}`));
    service.start(machine);
  }
}
