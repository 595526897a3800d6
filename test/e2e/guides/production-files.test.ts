import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeOutcome, isInstalled, runProcess } from '../../support/process.ts';
import { blockOf } from './guide.ts';

const root = new URL('../../../', import.meta.url);
const hasSystemd = await isInstalled('systemd-analyze', '--version');

describe.skipIf(!hasSystemd)(`units of systemd${hasSystemd ? '' : ' (systemd-analyze is not installed)'}`, () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-units-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it.each<[string, () => Promise<string>]>([
    ['of the guide', async () => blockOf('production', 'The service', 'ini')],
    ['of deploy', () => readFile(new URL('deploy/capstan.service', root), 'utf8')],
  ])('%s are accepted by systemd as a whole', async (_, unit) => {
    const file = join(directory, 'capstan.service');
    // The program is not installed here.
    await writeFile(file, (await unit()).replace('/opt/capstan/bin/capstan', process.execPath));
    const outcome = await runProcess('systemd-analyze', ['verify', '--man=no', file]);
    expect(outcome.code, describeOutcome(outcome)).toBe(0);
    // systemd-analyze does not fail on unknown keys.
    expect(outcome.stderr).not.toContain(file);
  });
});

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}

interface Metric {
  readonly name: string;
  readonly labels: readonly string[];
}

describe('alerts of the production guide', () => {
  const { groups } = parse(blockOf('production', 'Monitoring', 'yaml')) as Rules;

  /** Metrics by queryable name: a histogram has three. */
  async function served(): Promise<Map<string, Metric>> {
    const page = await readFile(new URL('docs/reference/metrics.md', root), 'utf8');
    const metrics = new Map<string, Metric>();
    for (const [, name = '', type, labels = ''] of page.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm)) {
      const own = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const suffix of suffixes) {
        const more = suffix === '_bucket' ? ['le'] : [];
        metrics.set(`${name}${suffix}`, { name, labels: [...own, ...more] });
      }
    }
    // Added by Prometheus.
    metrics.set('up', { name: 'up', labels: ['job'] });
    return metrics;
  }

  it.each(groups.flatMap(({ rules }) => rules).map(({ alert, expr }) => [alert, expr] as const))(
    '%s queries existing metrics',
    async (_, expr) => {
      const metrics = await served();
      const withoutTexts = expr.replaceAll(/"[^"]*"/g, '""');
      const grouped = [...withoutTexts.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/, */));
      const matched = [...withoutTexts.matchAll(/(\w+)(?=(?:=|!=|=~|!~)"")/g)].map(([label]) => label);
      const names = withoutTexts
        .replaceAll(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, '')
        // Excludes functions and numbers with units.
        .match(/\b[a-z_]\w*\b(?! *\()/g);
      expect(names?.length).toBeGreaterThan(0);
      for (const name of names ?? []) {
        expect([...metrics.keys()]).toContain(name);
        expect(metrics.get(name)?.labels).toEqual(expect.arrayContaining([...grouped, ...matched]));
      }
    },
  );
});
