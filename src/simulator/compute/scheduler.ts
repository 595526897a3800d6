import type { Compute } from './compute.ts';
import type { Host, Server } from './tables.ts';

/** Allocation ratios of nova's defaults. */
const coreRatio = 16;
const ramRatio = 1.5;

export interface HostHints {
  readonly different: readonly string[];
  readonly same: readonly string[];
}

/** Chooses the fitting host with the most free memory. */
export function chooseHost(compute: Compute, server: Readonly<Server>, hints: HostHints): Readonly<Host> | undefined {
  const group = compute.serverGroups.get(server.groupId);
  const taken = new Set<string>();
  for (const { host, id } of compute.servers.by('group', server.groupId)) {
    if (host !== '' && id !== server.id) taken.add(host);
  }
  const hostsOf = (ids: readonly string[]): Set<string> =>
    new Set(ids.map((id) => compute.servers.get(id)?.host ?? '').filter((host) => host !== ''));
  const avoid = hostsOf(hints.different);
  const need = hints.same.length > 0 ? hostsOf(hints.same) : undefined;

  let best: { host: Readonly<Host>; score: number } | undefined;
  for (const host of compute.hosts.all()) {
    if (!host.enabled || !host.up || avoid.has(host.id) || (need && !need.has(host.id))) continue;
    // Hosts without a zone are shown in "nova", so this zone does not restrict the choice.
    if (server.wantedZone !== '' && server.wantedZone !== 'nova' && host.zone !== server.wantedZone) continue;
    const ramLeft = host.ram * ramRatio - compute.servers.sum('hostRam', host.id);
    const coresLeft = host.vcpus * coreRatio - compute.servers.sum('hostCores', host.id);
    if (ramLeft < server.flavor.ram || coresLeft < server.flavor.vcpus) continue;
    const isTaken = taken.has(host.id);
    if (group?.policy === 'anti-affinity') {
      const most = group.rules['max_server_per_host'] ?? 1;
      if (isTaken && membersOn(compute, server.groupId, host.id) >= most) continue;
    }
    if (group?.policy === 'affinity' && taken.size > 0 && !isTaken) continue;
    const desired =
      group?.policy === 'soft-affinity' ? isTaken : group?.policy === 'soft-anti-affinity' ? !isTaken : true;
    const score = ramLeft + (desired ? 2 ** 40 : 0);
    if (!best || score > best.score) best = { host, score };
  }
  return best?.host;
}

function membersOn(compute: Compute, groupId: string, hostId: string): number {
  let count = 0;
  for (const { host } of compute.servers.by('group', groupId)) if (host === hostId) count++;
  return count;
}
