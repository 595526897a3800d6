import { describe, expect, it } from 'vitest';
import { type MeasuredPod, resourceMetrics } from './resource-metrics.ts';

const startedAt = Date.parse('2026-01-01T00:00:00Z');
const seconds = 1_000;

function pod(name: string, requests?: Record<string, string>): MeasuredPod {
  return {
    metadata: { name, namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'main', ...(requests && { resources: { requests } }) }] },
    status: {
      containerStatuses: [
        {
          name: 'main',
          image: 'main',
          imageID: 'main',
          ready: true,
          restartCount: 0,
          state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
        },
      ],
    },
  };
}

/** Returns the value of the only line with this prefix. */
function figureOf(text: string, beginning: string): number {
  const [line, ...others] = text.split('\n').filter((candidate) => candidate.startsWith(beginning));
  expect(others).toEqual([]);
  return Number(line?.split(' ').at(-1));
}

describe('resource metrics of a simulated kubelet', () => {
  it.each([
    ['what was asked for', { cpu: '100m', memory: '64Mi' }, 0.1, 64 * 1024 ** 2],
    ['more than a core', { cpu: '2500m', memory: '1Gi' }, 2.5, 1024 ** 3],
    ['little, where nothing was asked for', undefined, 0.01, 32 * 1024 ** 2],
  ])('show a share of %s', (_, requests, cores, bytes) => {
    const text = resourceMetrics([pod('one', requests)], startedAt, startedAt + 50 * seconds);
    const used = figureOf(text, 'container_cpu_usage_seconds_total{') / 50;
    expect(used).toBeGreaterThanOrEqual(cores * 0.25);
    expect(used).toBeLessThanOrEqual(cores * 0.75);
    const resident = figureOf(text, 'container_memory_working_set_bytes{');
    expect(resident).toBeGreaterThanOrEqual(Math.floor(bytes * 0.25));
    expect(resident).toBeLessThanOrEqual(Math.ceil(bytes * 0.75));
  });

  it('add up to what the node uses', () => {
    const pods = ['one', 'two', 'three'].map((name) => pod(name, { cpu: '50m', memory: '16Mi' }));
    const text = resourceMetrics(pods, startedAt, startedAt + 10 * seconds);
    expect(figureOf(text, 'node_cpu_usage_seconds_total') / 10).toBeLessThan(0.06 + 3 * 0.05);
  });
});
