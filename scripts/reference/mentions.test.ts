import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { wellKnownNames } from '../../src/api/index.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { errorCodes } from '../../src/machinery/index.ts';
import { allMetrics } from './metrics.ts';

const root = resolve(import.meta.dirname, '../..');
const docs = join(root, 'docs');

/** Handwritten pages by path. The reference has its own test. */
const pages = new Map(
  [
    join(root, 'README.md'),
    ...readdirSync(docs, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
      .map((entry) => join(entry.parentPath, entry.name)),
  ]
    .map((file) => [relative(root, file), readFileSync(file, 'utf8')] as const)
    .filter(([path]) => !path.startsWith('docs/reference/')),
);

function mentions(pattern: RegExp): { page: string; name: string }[] {
  return [...pages].flatMap(([page, text]) => [...text.matchAll(pattern)].map((match) => ({ page, name: match[1]! })));
}

describe('the documentation pages', () => {
  it('mention no error code that does not exist', () => {
    const linuxCapability = 'CAP_SYS_ADMIN';
    const unknown = mentions(/\b(CAP_[A-Z_]*[A-Z])\b/g).filter(
      ({ name }) => !(name in errorCodes) && name !== linuxCapability && !name.startsWith('CAP_NET'),
    );
    expect(unknown).toEqual([]);
  });

  it('mention no metric that does not exist', async () => {
    const metrics = new Set((await allMetrics()).map(({ name }) => name));
    const pattern =
      /\b((?:apiserver|capstan|controller_runtime|workqueue|rest_client|leader_election|process|nodejs)_[a-z0-9_]*[a-z0-9])\b/g;
    const unknown = mentions(pattern)
      .filter(({ page }) => page.startsWith('docs/guides/'))
      .filter(({ name }) => !metrics.has(name.replace(/_(bucket|sum|count)$/, '')) && !metrics.has(name));
    expect(unknown).toEqual([]);
  });

  it('show commands only with flags that these commands have', () => {
    const program = buildProgram(() => {});
    const find = (words: readonly string[]): Command | undefined =>
      words.reduce<Command | undefined>(
        (command, word) => command?.commands.find((child) => child.name() === word) ?? command,
        program,
      );
    const unknown: string[] = [];
    for (const [page, text] of pages) {
      for (const [, fence, block] of text.matchAll(/```(sh|ini)\n([\s\S]*?)```/g)) {
        for (const line of block!.replaceAll('\\\n', ' ').split(/\n|&&|\|/)) {
          const call = /(?:^|[\s/])capstan ((?:[a-z]+ ?)+.*)$/.exec(line.replace(/#.*/, ''));
          if (!call || (fence === 'sh' && !/^\s*(npx |\S*=\S* )*(\S*\/)?capstan /.test(line))) continue;
          const words = call[1]!.trim().split(/\s+/);
          const command = find(words.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2));
          const known = [...(command?.options ?? []), ...program.options].flatMap(({ long, short }) => [long, short]);
          for (const word of words.filter((each) => each.startsWith('--'))) {
            const flag = word.split('=')[0]!;
            if (!known.includes(flag) && flag !== '--help')
              unknown.push(`${page}: ${words.slice(0, 2).join(' ')} ${flag}`);
          }
        }
      }
    }
    expect(unknown).toEqual([]);
  });

  it('mention only annotations of our domains that exist', () => {
    const prefixes = [
      'pre-drain.delete.hook.machine.cluster.x-k8s.io/',
      'pre-terminate.delete.hook.machine.cluster.x-k8s.io/',
    ];
    const unknown = mentions(
      /`((?:[a-z-]+\.)*(?:cluster\.x-k8s\.io|k0smotron\.io|clastix\.io|capstan\.dev)\/[\w-]+)[`:=]/g,
    )
      .filter(({ name }) => !/\/v\d/.test(name) && !prefixes.some((prefix) => name.startsWith(prefix)))
      .filter(
        ({ name }) =>
          !wellKnownNames.has(name) && !wellKnownNames.has(name.replace(/(api|bastion)-floating/, '*-floating')),
      );
    expect(unknown).toEqual([]);
  });
});
