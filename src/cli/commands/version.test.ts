import { describe, expect, it } from 'vitest';
import { recordingContext } from '../testing/memory-api.ts';
import { version } from '../version.ts';
import { printVersion } from './version.ts';

describe('capstan version', () => {
  it.each([
    ['text', `capstan ${version} (node ${process.version}, ${process.platform}/${process.arch})\n`],
    ['yaml', `node: ${process.version}\nplatform: ${process.platform}/${process.arch}\nversion: ${version}\n`],
  ] as const)('prints the version as %s', async (output, text) => {
    const context = recordingContext();
    expect(await printVersion({ output }, context)).toBe(0);
    expect(context.out()).toBe(text);
  });

  it('prints version, node and platform as JSON, like clusterctl with -o json', async () => {
    const context = recordingContext();
    await printVersion({ output: 'json' }, context);
    expect(JSON.parse(context.out())).toEqual({
      version,
      node: process.version,
      platform: `${process.platform}/${process.arch}`,
    });
  });
});
