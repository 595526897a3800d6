import { runScript } from '../../../../simkube/index.ts';
import type { HostedMachine } from '../../host/running-machine.ts';
import type { Software } from '../../types.ts';
import { journal, logTime, serviceLine, stampedWriter } from '../console-text.ts';
import { finishedMark } from '../marks.ts';
import { machineShell } from '../shell/machine-shell.ts';
import { combineParts } from './config.ts';
import { type ModuleContext, ModuleError } from './module.ts';
import { stages } from './modules.ts';
import { readUserData } from './parts.ts';

/** names of completed modules, one per line */
const semaphoreFile = '/var/lib/cloud/instance/sem/modules';

/**
 * Runs cloud-init stage by stage. Its messages go to the console as on a real machine. Errors in a module or in the
 * user data are logged there, and the boot continues.
 */
export async function runCloudInit(machine: HostedMachine, software: Software): Promise<void> {
  const { disk, clock } = machine;
  const say = (line: string): void => machine.screen.write(serviceLine(machine, 'cloud-init[612]', line));
  const warn = (text: string): void => say(`${logTime(clock.now())} - ${text}`);
  const banner = (what: string): string => {
    const at = new Date(clock.now()).toUTCString().replace('GMT', '+0000');
    return `Cloud-init v. ${journal.cloudInit} ${what} at ${at}.`;
  };
  const up = (): string => `Up ${(machine.uptime() / 1000).toFixed(2)} seconds`;
  const isFirst = disk.read(finishedMark) === undefined;
  const done = new Set((disk.read(semaphoreFile) ?? '').split('\n'));

  say(`${banner("running 'init-local'")} ${up()}.`);
  const cloudConfig = combineParts(readUserData(machine.server.userData), machine);
  const context: ModuleContext = {
    machine,
    cloudConfig,
    warn,
    script: (path, text) => script(machine, software, path, text),
  };
  for (const stage of stages) {
    say(`${banner(`running '${stage.name}'`)} ${up()}.`);
    if (stage.name === 'init') {
      networkTable(machine, say);
      // cloud-init reads the user data at every boot and repeats its warnings.
      for (const warning of cloudConfig.warnings) for (const line of warning.split('\n')) warnLine(warn, say, line);
    }
    for (const { name, frequency, run, takesTime } of stage.modules) {
      if (frequency === 'once-per-instance') {
        if (done.has(name)) continue;
        done.add(name);
        // Marked before it runs, as in cloud-init: an interrupted module is not repeated.
        if (takesTime) disk.write(semaphoreFile, [...done].join('\n'));
      }
      try {
        await run(context);
      } catch (error) {
        if (!(error instanceof ModuleError)) throw error;
        const file = `/usr/lib/python3/dist-packages/cloudinit/config/cc_${name}.py`;
        warn(`util.py[WARNING]: Running module ${name} (<module 'cloudinit.config.cc_${name}' from '${file}'>) failed`);
        say(`${name}: ${error.message}`);
      }
    }
  }
  const source = machine.server.configDrive
    ? 'DataSourceConfigDrive [net,ver=2][source=/dev/sr0]'
    : 'DataSourceOpenStackLocal [net,ver=2]';
  const { final_message: message } = cloudConfig.config;
  say(typeof message === 'string' ? message : `${banner('finished')} Datasource ${source}.  ${up()}`);
  if (isFirst) disk.write(finishedMark, `${(machine.uptime() / 1000).toFixed(2)} - ${banner('finished')}\n`);
}

/** Continuation lines of a warning have no timestamp. */
function warnLine(warn: (text: string) => void, say: (text: string) => void, line: string): void {
  if (/^\w+\.py\[/.test(line)) warn(line);
  else say(line);
}

/** Writes cloud-init's table of network devices, from which many tools extract the address. */
function networkTable({ server }: HostedMachine, say: (line: string) => void): void {
  say('ci-info: ++++++++++++++++++++++++++++++++Net device info++++++++++++++++++++++++++++++++');
  for (const [index, port] of server.interfaces.entries()) {
    for (const { address } of port.fixedIps) {
      say(`ci-info: |  ens${3 + index} | True | ${address.padEnd(39)} | global | ${port.macAddress} |`);
    }
  }
}

async function script(machine: HostedMachine, software: Software, path: string, text: string): Promise<number> {
  const writer = stampedWriter(machine, 'cloud-init[987]');
  const state = machineShell(machine, software, path, {
    INSTANCE_ID: machine.server.id,
    DEBIAN_FRONTEND: 'noninteractive',
  });
  const streams = { input: { text: '' }, out: writer.write, error: writer.write };
  const interpreter = /^#!\s*(\S+)(?:\s+(-\S+))?/.exec(text);
  if (interpreter && !/(?:^|\/)(?:ba|da|a|z)?sh$|\/env$/.test(interpreter[1] ?? '')) {
    writer.write(`${path}: ${interpreter[1]}: bad interpreter: No such file or directory\n`);
    return 127;
  }
  if (interpreter?.[2]?.includes('e')) state.options.stopsAtErrors = true;
  const status = await runScript(state, text, streams);
  writer.end();
  return status;
}
