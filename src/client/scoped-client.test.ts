import { describe, expect, it } from 'vitest';
import { ManualClock } from '../machinery/index.ts';
import { memoryClient } from '../runtime/testkit/index.ts';
import { type ResourceScope, scopedClient } from './scoped-client.ts';

const secrets = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true } as const;
const pods = { ...secrets, kind: 'Pod', plural: 'pods' } as const;

describe('a scoped client', () => {
  const asked: string[] = [];
  const base = memoryClient({ clock: new ManualClock() });
  const note = (what: string, options: { fieldSelector?: string } | undefined): void => {
    asked.push(`${what} ${options?.fieldSelector ?? '-'}`);
  };
  const scope: ResourceScope = { resource: secrets, fieldSelector: 'type!=huge' };
  const client = scopedClient(
    {
      ...base,
      list: (resource, options) => {
        note(`list ${resource.plural}`, options);
        return base.list(resource, {});
      },
      watch: (resource, options) => {
        note(`watch ${resource.plural}`, options);
        return base.watch(resource, {});
      },
    },
    [scope],
  );

  it('combines its scope with the selectors of the caller in lists and watches', async () => {
    await client.list(secrets);
    await client.list(secrets, { fieldSelector: 'metadata.name=a' });
    await client.list(pods, { fieldSelector: 'metadata.name=a' });
    client.watch(secrets);
    expect(asked).toEqual([
      'list secrets type!=huge',
      'list secrets metadata.name=a,type!=huge',
      'list pods metadata.name=a',
      'watch secrets type!=huge',
    ]);
  });
});
