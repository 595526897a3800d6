import type { SimulatedProcess } from '../process.ts';

type Severity = 'I' | 'W' | 'E' | 'F';

/** Logs a line in klog format. */
export function klog(process: SimulatedProcess, severity: Severity, where: string, message: string): void {
  process.log(`${severity}${stamp(process.clock.now())}       1 ${where}] ${message}`);
}

function stamp(now: number): string {
  const iso = new Date(now).toISOString();
  return `${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, 23)}000`;
}
