import { gunzipSync } from 'node:zlib';
import type { HostedMachine } from '../../host/running-machine.ts';
import { failedLine, okLine, serviceLine } from '../console-text.ts';
import { enableUnit } from '../systemd/control.ts';
import { type IgnitionConfig, IgnitionError, isIgnitionText, parseIgnition } from './config.ts';

const resultFile = '/etc/.ignition-result.json';

/** Returns the text of the user data, decompressed if needed, or undefined if there is none. */
export function userDataText({ server }: HostedMachine): string | undefined {
  const data = server.userData;
  if (!data || data.length === 0) return undefined;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  try {
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
  } catch {
    return bytes.toString();
  }
}

/**
 * Runs Ignition, once and before anything else. Returns whether the boot continues. A bad config ends in the emergency
 * shell at every boot, because the machine was never provisioned.
 */
export function runIgnition(machine: HostedMachine): boolean {
  const say = (line: string): void => machine.screen.write(serviceLine(machine, 'ignition[512]', line));
  if (machine.disk.read(resultFile) !== undefined) return true;
  const text = userDataText(machine);
  say('Ignition 2.20.0');
  say('Stage: fetch-offline');
  try {
    if (text === undefined) say('no config at "/usr/lib/ignition/user.ign"; provisioning with defaults');
    else if (!isIgnitionText(text)) say('user data is no Ignition config; it is left to others');
    else apply(machine, parseIgnition(text), say);
  } catch (error) {
    if (!(error instanceof IgnitionError)) throw error;
    say(`failed to acquire config: ${error.message}`);
    say(`Ignition failed: ${error.message}`);
    machine.screen.write(
      `${failedLine('Failed to start Ignition (fetch-offline)')}${okLine('Reached target Emergency Mode')}\nGenerating "/run/initramfs/rdsosreport.txt"\n\nEntering emergency mode. Exit the shell to continue.\nType "journalctl" to view system logs.\n`,
    );
    return false;
  }
  machine.disk.write(resultFile, `{"provisioningBootID":"${machine.server.id}"}\n`);
  machine.screen.write(okLine('Finished Ignition (files)'));
  return true;
}

function apply(machine: HostedMachine, config: IgnitionConfig, say: (line: string) => void): void {
  const { disk } = machine;
  say(`parsed config of version ${config.version}`);
  for (const { name, keys, home } of config.users) {
    say(`files: ensureUsers: op(1): [finished] creating or modifying user "${name}"`);
    const passwd =
      disk.read('/etc/passwd') ?? 'root:x:0:0:root:/root:/bin/bash\ncore:x:500:500::/home/core:/bin/bash\n';
    const isKnown = passwd.split('\n').some((line) => line.startsWith(`${name}:`));
    disk.write('/etc/passwd', isKnown ? passwd : `${passwd}${name}:x:1000:1000::${home}:/bin/bash\n`);
    if (keys.length > 0) disk.write(`${home}/.ssh/authorized_keys.d/ignition`, `${keys.join('\n')}\n`, 0o600);
  }
  for (const path of config.directories) disk.makeDirectory(path);
  for (const { path, content, mode, isOverwriting, appended } of config.files) {
    const before = disk.read(path);
    if (content !== undefined && before !== undefined && !isOverwriting) {
      throw new IgnitionError(`failed to create files: "${path}" exists already and overwrite is false`);
    }
    disk.write(path, (content ?? before ?? '') + appended.join(''), mode);
    say(`files: createFilesystemsFiles: [finished] writing file "${path}"`);
  }
  for (const { name, contents, isEnabled, isMasked, dropIns } of config.units) {
    if (contents !== undefined) disk.write(`/etc/systemd/system/${name}`, contents);
    for (const dropIn of dropIns) disk.write(`/etc/systemd/system/${name}.d/${dropIn.name}`, dropIn.contents);
    if (isEnabled && !isMasked) enableUnit(machine, name);
    say(`files: [finished] processing unit "${name}"`);
  }
}
