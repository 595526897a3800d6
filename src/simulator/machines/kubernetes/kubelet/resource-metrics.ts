import { createHash } from 'node:crypto';
import type { Container, Pod } from '../../../../api/index.ts';
import { parseRfc3339, quantityMilliValue, quantityValue } from '../../../../machinery/index.ts';

export type MeasuredPod = Pick<Pod, 'metadata' | 'spec' | 'status'>;

const mebibyte = 1024 ** 2;
/** resources used by the node itself */
const ofSystem = { cores: 0.06, bytes: 350 * mebibyte };

/**
 * Builds the kubelet's /metrics/resource. The usage of a simulated container is a constant fraction of its requests.
 */
export function resourceMetrics(pods: readonly MeasuredPod[], bootedAt: number, now: number): string {
  const lines: string[] = [];
  let cores = ofSystem.cores;
  let bytes = ofSystem.bytes;
  for (const { metadata, spec, status } of pods) {
    for (const container of spec.containers) {
      const running = status?.containerStatuses?.find(({ name }) => name === container.name)?.state?.running;
      const startedAt = running && parseRfc3339(running.startedAt ?? '');
      if (startedAt === undefined) continue;
      const usage = usageOf(container, `${metadata.namespace}/${metadata.name}/${container.name}`);
      cores += usage.cores;
      bytes += usage.bytes;
      const labels = `{container="${container.name}",namespace="${metadata.namespace}",pod="${metadata.name}"}`;
      const seconds = Math.max(0, (now - startedAt) / 1000);
      lines.push(`container_cpu_usage_seconds_total${labels} ${usage.cores * seconds}`);
      lines.push(`container_memory_working_set_bytes${labels} ${usage.bytes}`);
      lines.push(`container_start_time_seconds${labels} ${startedAt / 1000}`);
    }
  }
  const age = Math.max(1, (now - bootedAt) / 1000);
  lines.push(`node_cpu_usage_seconds_total ${cores * age}`);
  lines.push(`node_memory_working_set_bytes ${bytes}`);
  lines.push(`node_start_time_seconds ${now / 1000 - age}`);
  return `${lines.join('\n')}\n`;
}

function usageOf({ resources }: Container, id: string): { cores: number; bytes: number } {
  // Between a quarter and three quarters of the request.
  const share = 0.25 + createHash('sha256').update(id).digest().readUInt16BE(0) / 0xffff / 2;
  const { cpu = '10m', memory = '32Mi' } = resources?.requests ?? {};
  return { cores: (quantityMilliValue(cpu) / 1000) * share, bytes: Math.round(quantityValue(memory) * share) };
}
