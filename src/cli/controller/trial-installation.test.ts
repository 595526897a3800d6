import { beforeEach, describe, expect, it } from 'vitest';
import {
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/index.ts';
import { type Client, type MemoryClient, memoryClient } from '../../client/index.ts';
import { ManualClock, type Resource } from '../../machinery/index.ts';
import { type LogFields, type Logger, nullLogger } from '../../runtime/index.ts';
import { runUntil } from '../../runtime/testkit/index.ts';
import { configurationName } from '../../webhooks/index.ts';
import { removeConfigurations } from './trial-installation.ts';

const resources: readonly Resource<WebhookConfiguration>[] = [
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
];

describe('webhook configurations at the end', () => {
  let clock: ManualClock;
  let server: MemoryClient;
  let isDown: boolean;
  let administrator: Client;
  let errors: [string, LogFields | undefined][];
  let log: Logger;

  beforeEach(() => {
    clock = new ManualClock(0);
    server = memoryClient({ clock });
    isDown = false;
    errors = [];
    log = { ...nullLogger, error: (message, fields) => void errors.push([message, fields]) };
    for (const resource of resources) {
      server.seed(resource, {
        apiVersion: `${resource.group}/${resource.version}`,
        kind: resource.kind,
        metadata: { name: configurationName },
        webhooks: [{ name: 'a.capstan.dev', clientConfig: { url: 'https://127.0.0.1:1001/mutate' } }],
      } as never);
    }
    administrator = new Proxy(server, {
      get: (over, member, receiver) => {
        if (isDown && member === 'get') return () => Promise.reject(new Error('connect ECONNREFUSED'));
        return Reflect.get(over, member, receiver);
      },
    });
  });

  const left = async (): Promise<number> => {
    const lists = await Promise.all(resources.map((resource) => server.list(resource)));
    return lists.flatMap(({ items }) => items).length;
  };

  it('are taken away', async () => {
    await removeConfigurations(administrator, { service: { port: 1001 }, clock, log });
    expect(await left()).toBe(0);
  });

  it('of another instance stay', async () => {
    await removeConfigurations(administrator, { service: { port: 1002 }, clock, log });
    expect(await left()).toBe(2);
  });

  it('are taken away when the API server is back', async () => {
    isDown = true;
    const removal = removeConfigurations(administrator, { service: { port: 1001 }, clock, log });
    await runUntil(clock, () => clock.now() >= 5000);
    isDown = false;
    await runUntil(clock, async () => (await left()) === 0);
    await removal;
    expect([await left(), errors]).toEqual([0, []]);
  });

  it('that cannot be removed are reported, with the consequences', async () => {
    isDown = true;
    const removal = removeConfigurations(administrator, { service: { port: 1001 }, clock, log });
    await runUntil(clock, () => errors.length > 0);
    await removal;
    expect(errors).toEqual([
      [
        expect.stringContaining('objects cannot be written'),
        { name: configurationName, error: expect.objectContaining({ message: 'connect ECONNREFUSED' }) },
      ],
    ]);
  });
});
