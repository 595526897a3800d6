import type { HostedMachine } from '../host/running-machine.ts';

/** Versions shown by a simulated image. */
export const journal = {
  kernel: '6.8.0-86-generic',
  cloudInit: '24.4.1-0ubuntu0~22.04.1',
  systemd: '249.11-0ubuntu3.16',
} as const;

/** Kernel messages, each with the fraction of the boot time at which it appears. */
const kernelLines: readonly (readonly [number, (machine: HostedMachine) => string])[] = [
  [0, () => `Linux version ${journal.kernel} (simulated) #1 SMP PREEMPT_DYNAMIC`],
  [
    0,
    () =>
      `Command line: BOOT_IMAGE=/vmlinuz-${journal.kernel} root=LABEL=cloudimg-rootfs ro console=tty1 console=ttyS0`,
  ],
  [0, () => 'Hypervisor detected: KVM'],
  [0.02, ({ server }) => `smpboot: Allowing ${server.flavor.vcpus} CPUs, 0 hotplug CPUs`],
  [0.03, ({ server }) => `Memory: ${server.flavor.ramMiB * 1024}K/${server.flavor.ramMiB * 1024}K available`],
  [0.1, () => 'Run /init as init process'],
  [0.2, () => 'virtio_blk virtio1: [vda] 512-byte logical blocks'],
  [0.25, () => 'EXT4-fs (vda1): mounted filesystem with ordered data mode. Quota mode: none.'],
  [0.3, () => `systemd[1]: systemd ${journal.systemd} running in system mode`],
  [0.3, () => 'systemd[1]: Detected virtualization kvm.'],
  [0.31, ({ hostname }) => `systemd[1]: Set hostname to <${hostname}>.`],
];

const systemdLines: readonly string[] = [
  'Started Journal Service',
  'Finished Remount Root and Kernel File Systems',
  'Started Rule-based Manager for Device Events and Files',
  'Reached target Local File Systems',
  'Started Network Configuration',
  'Reached target Network',
  'Started Network Name Resolution',
];

/** Formats the time since power-on like the kernel. */
function stamp(ms: number): string {
  return `[${(ms / 1000).toFixed(6).padStart(12)}]`;
}

/** Firmware output of a restart. On the first boot nova already wrote it. */
export function firmwareText({ server: { flavor } }: HostedMachine): string {
  return `\nSeaBIOS (simulated)\nMachine: ${flavor.vcpus} vCPU, ${flavor.ramMiB} MiB\nBooting from Hard Disk...\n`;
}

/** Builds the output from the kernel to the first program of the image. */
export function bootText(machine: HostedMachine, bootMs: number): string {
  let text = '';
  for (const [share, line] of kernelLines) text += `${stamp(bootMs * share)} ${line(machine)}\n`;
  for (const line of systemdLines) text += `[  OK  ] ${line}.\n`;
  return text;
}

/** Builds the login prompt at the end of a boot. */
export function loginText({ hostname, server }: HostedMachine): string {
  const name = server.image?.name ?? 'Linux';
  return `\n${name} ${hostname} ttyS0\n\n${hostname} login: `;
}

/** Builds a console line of a service. */
export function serviceLine(machine: HostedMachine, service: string, line: string): string {
  return `${stamp(machine.uptime())} ${service}: ${line}\n`;
}

/** Writes the output of a service with a timestamp on each line. Incomplete lines are buffered. */
export function stampedWriter(machine: HostedMachine, service: string): { write(text: string): void; end(): void } {
  let rest = '';
  return {
    write(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) machine.screen.write(serviceLine(machine, service, line));
    },
    end() {
      if (rest !== '') machine.screen.write(serviceLine(machine, service, rest));
      rest = '';
    },
  };
}

export function okLine(what: string): string {
  return `[  OK  ] ${what}.\n`;
}

export function failedLine(what: string): string {
  return `[FAILED] ${what}.\n`;
}

/** Formats a time like Python's logging. */
export function logTime(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('.', ',').slice(0, 23);
}
