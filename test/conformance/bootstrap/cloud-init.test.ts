import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeOutcome, runProcess } from '../../support/process.ts';
import { goldenFiles } from './golden-files.ts';
import { hasCloudInit } from './judges.ts';

const installed = await hasCloudInit();
const directory = mkdtempSync(join(tmpdir(), 'capstan-cloud-init-judge-'));
afterAll(() => rmSync(directory, { recursive: true }));

const instance = join(directory, 'instance-data.json');
writeFileSync(
  instance,
  JSON.stringify({
    ds: { meta_data: { local_hostname: 'node-1', uuid: '3f2c' } },
    v1: { local_hostname: 'node-1', instance_id: 'i-1' },
    local_hostname: 'node-1',
  }),
);

async function render(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  writeFileSync(path, text);
  const outcome = await runProcess('cloud-init', ['devel', 'render', '--instance-data', instance, path]);
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  return outcome.stdout;
}

/**
 * The schema of cloud-init 22.4 describes numeric partitions, and its code accepts them, but the list of allowed values
 * has only strings.
 */
const contradictsItself = /fs_setup\.\d+\.partition: \d+ is not valid under any of the given schemas/;

async function schemaProblems(name: string, text: string): Promise<string | undefined> {
  const path = join(directory, `rendered-${name}`);
  writeFileSync(path, text);
  const { code, stdout, stderr } = await runProcess('cloud-init', ['schema', '--config-file', path]);
  if (code === 0) return undefined;
  const [, listed] = /Cloud config schema errors: (.*)/.exec(stdout + stderr) ?? [];
  const problems = listed?.split(/, (?=[\w./-]+: )/).filter((problem) => !contradictsItself.test(problem));
  return problems?.length === 0 ? undefined : stdout + stderr;
}

describe.skipIf(!installed)('real cloud-init (from PATH)', () => {
  it.each(goldenFiles('.yaml'))('fills in and accepts $name', async ({ name, text }) => {
    const rendered = await render(name, text);
    expect(rendered).not.toContain('{{');
    expect(await schemaProblems(name, rendered)).toBeUndefined();
    // The structure is unchanged after rendering.
    expect(Object.keys(parse(rendered, { version: '1.1' }) as object)).toEqual(
      Object.keys(parse(text, { version: '1.1' }) as object),
    );
  });

  it('refuses a cloud-config with an error, so its verdict counts', async () => {
    expect(await schemaProblems('broken.yaml', '#cloud-config\nusers:\n- name: a\n  inactive: true\n')).toBeDefined();
  });
});
