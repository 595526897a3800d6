import { beforeEach, describe, expect, it } from 'vitest';
import {
  MutatingWebhookConfigurations,
  Namespaces,
  ValidatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/index.ts';
import { type MemoryClient, memoryClient } from '../../client/index.ts';
import { ManualClock, type Resource, seededRandom } from '../../machinery/index.ts';
import { nullLogger } from '../../runtime/index.ts';
import { configurationName } from '../../webhooks/index.ts';
import { writeAdoption } from '../adopt/record.ts';
import { keepWebhooksServed } from './keep-webhooks-served.ts';

const ours = 'https://127.0.0.1:1001';
const others = 'https://127.0.0.1:1002';
const resources: readonly Resource<WebhookConfiguration>[] = [
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
];

describe('webhook configurations of several instances', () => {
  let clock: ManualClock;
  let administrator: MemoryClient;
  let taken: number;
  let served: Set<string>;
  let stop: AbortController;
  let watching: Promise<void>;

  const remove = async (): Promise<void> => {
    for (const resource of resources) await administrator.delete(resource, { name: configurationName }).catch(() => {});
  };
  const point = async (clientConfig: object): Promise<void> => {
    await remove();
    for (const { group, version, kind, ...resource } of resources) {
      administrator.seed({ group, version, kind, ...resource }, {
        apiVersion: `${group}/${version}`,
        kind,
        metadata: { name: configurationName },
        webhooks: [{ name: 'a.capstan.dev', clientConfig }],
      } as never);
    }
  };

  beforeEach(async () => {
    clock = new ManualClock(0);
    administrator = memoryClient({ clock });
    administrator.seed(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'capstan-system' } });
    taken = 0;
    served = new Set([ours, others]);
    stop = new AbortController();
    await point({ url: `${others}/mutate` });
    watching = keepWebhooksServed(
      {
        administrator,
        url: ours,
        answers: async (url) => served.has(url),
        take: async () => {
          taken += 1;
          await point({ url: `${ours}/mutate` });
        },
        clock,
        random: seededRandom(1),
        log: nullLogger,
      },
      stop.signal,
    );
  });

  const takenAfter = async (ms: number): Promise<number> => {
    await clock.advance(ms);
    return taken;
  };

  it('stay unchanged while somebody serves them', async () => {
    expect(await takenAfter(60_000)).toBe(0);
    await point({ service: { namespace: 'capstan-system', name: 'capstan-webhooks' } });
    served.clear();
    expect(await takenAfter(60_000)).toBe(0);
    stop.abort();
    await watching;
  });

  it('are taken over once when their server is gone', async () => {
    served.delete(others);
    expect(await takenAfter(10_000)).toBe(1);
    expect(await takenAfter(60_000)).toBe(1);
  });

  it('are written again when another instance removed them', async () => {
    await remove();
    expect(await takenAfter(10_000)).toBe(1);
  });

  it('stay unchanged for a moment in which another instance may write them', async () => {
    await remove();
    expect(await takenAfter(3000)).toBe(0);
    await point({ url: `${others}/mutate` });
    expect(await takenAfter(60_000)).toBe(0);
  });

  it('stay removed while clusters are given back to upstream', async () => {
    const { signal } = new AbortController();
    const record = { managers: [], saved: [], stoppedWebhooks: [], hadNamespace: false, hadKinds: [] };
    await writeAdoption(administrator, { ...record, phase: 'releasing' }, signal);
    await remove();
    expect(await takenAfter(60_000)).toBe(0);
    await writeAdoption(administrator, { ...record, phase: 'adopted' }, signal);
    expect(await takenAfter(10_000)).toBe(1);
  });

  it('stay removed when the installation is uninstalled', async () => {
    await remove();
    await administrator.delete(Namespaces, { name: 'capstan-system' });
    expect(await takenAfter(60_000)).toBe(0);
  });
});
