import type { ImageHardware, ImageProperties } from '../../../api/index.ts';

/** Property names in Glance. */
const hardwareNames: Readonly<Record<keyof ImageHardware, string>> = {
  cdromBus: 'hw_cdrom_bus',
  cpuCores: 'hw_cpu_cores',
  cpuPolicy: 'hw_cpu_policy',
  cpuSockets: 'hw_cpu_sockets',
  cpuThreadPolicy: 'hw_cpu_thread_policy',
  cpuThreads: 'hw_cpu_threads',
  diskBus: 'hw_disk_bus',
  qemuGuestAgent: 'hw_qemu_guest_agent',
  rngModel: 'hw_rng_model',
  scsiModel: 'hw_scsi_model',
  vifModel: 'hw_vif_model',
};

/** Converts image properties to Glance properties. */
export function glanceProperties(properties: ImageProperties | undefined): Record<string, string> {
  const { architecture, hypervisorType, operatingSystem, hardware = {} } = properties ?? {};
  const named: [string, unknown][] = [
    ['architecture', architecture],
    ['hypervisor_type', hypervisorType],
    ['os_distro', operatingSystem?.distro],
    ['os_version', operatingSystem?.version],
    ...(Object.entries(hardware) as [keyof ImageHardware, unknown][]).map(([field, value]): [string, unknown] => [
      hardwareNames[field],
      value,
    ]),
  ];
  return Object.fromEntries(
    named.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  );
}
