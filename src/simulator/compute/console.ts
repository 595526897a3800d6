import type { Compute } from './compute.ts';
import type { Server } from './tables.ts';

/** Maximum stored length of a console. Hypervisors truncate consoles too. */
const maxConsoleLength = 64 * 1024;

/** Appends to a server's console, inside a transaction. Does nothing if the server no longer exists. */
export function appendConsole(compute: Compute, serverId: string, text: string): void {
  if (!compute.servers.has(serverId)) return;
  const before = compute.consoles.get(serverId)?.text ?? '';
  const all = before + text;
  const kept = all.length > maxConsoleLength ? all.slice(-maxConsoleLength) : all;
  if (compute.consoles.has(serverId)) compute.consoles.update(serverId, { text: kept });
  else compute.consoles.insert({ id: serverId, text: kept });
}

/**
 * Writes the console text of a server without a machine: firmware that found its disk. Generated on request, not
 * stored.
 */
export function bootLines(compute: Compute, server: Readonly<Server>): void {
  // A machine that boots writes its own console.
  if (!compute.core.machineHost) return;
  appendConsole(compute, server.id, firmwareText(server));
}

export function firmwareText({ flavor }: Readonly<Server>): string {
  return `SeaBIOS (simulated)\nMachine: ${flavor.vcpus} vCPU, ${flavor.ram} MiB\nBooting from Hard Disk...\n`;
}

/** Returns the whole console, or its last lines. */
export function consoleText(compute: Compute, server: Readonly<Server>, lines: number | undefined): string {
  const kept = compute.consoles.get(server.id)?.text;
  const text = kept ?? (server.launchedAt === undefined ? '' : firmwareText(server));
  if (lines === undefined || lines < 0) return text;
  if (lines === 0) return '';
  return text
    .replace(/\n$/, '')
    .split('\n')
    .slice(-lines)
    .join('\n')
    .concat(text.endsWith('\n') ? '\n' : '');
}
