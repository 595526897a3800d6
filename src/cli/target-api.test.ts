import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatYaml } from '../machinery/index.ts';
import { targetApi } from './target-api.ts';

describe('the API that a command uses', () => {
  let home = '';
  const path = (name: string): string => join(home, name);
  const write = (file: string, contexts: readonly string[], current: string): Promise<void> =>
    writeFile(
      path(file),
      formatYaml({
        contexts: contexts.map((name) => ({ name, context: { cluster: name } })),
        clusters: contexts.map((name) => ({ name, cluster: { server: `https://${file}.${name}` } })),
        'current-context': current,
      }),
    );
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'capstan-target-'));
    await mkdir(join(home, '.kube'));
    await write('.kube/config', ['prod', 'capstan'], 'prod');
    await write('workload', ['workload'], 'workload');
    await write('both', ['staging', 'capstan'], 'staging');
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it.each<[string, { kubeconfig?: string; context?: string }, Record<string, string>, string]>([
    ['is the one of this computer, whatever context is current', {}, {}, '.kube/config.capstan'],
    ['is the context that is named', { context: 'prod' }, {}, '.kube/config.prod'],
    ['is found beside a KUBECONFIG of another cluster', {}, { KUBECONFIG: 'workload' }, '.kube/config.capstan'],
    ['is that of KUBECONFIG when it has one', {}, { KUBECONFIG: 'workload:both' }, 'both.capstan'],
    [
      'is the context of KUBECONFIG that is named',
      { context: 'workload' },
      { KUBECONFIG: 'workload' },
      'workload.workload',
    ],
    ['is the current one of a file that is named', { kubeconfig: 'workload' }, {}, 'workload.workload'],
    ['is ours where such a file has it', { kubeconfig: 'both' }, {}, 'both.capstan'],
    ['is chosen by the environment', {}, { CAPSTAN_KUBECONFIG: 'both', CAPSTAN_CONTEXT: 'staging' }, 'both.staging'],
    [
      'is chosen by a flag before the environment',
      { context: 'capstan' },
      { CAPSTAN_CONTEXT: 'prod' },
      '.kube/config.capstan',
    ],
  ])('%s', async (_what, flags, env, server) => {
    const placed = Object.fromEntries(
      Object.entries(env).map(([name, value]) => [
        name,
        name === 'CAPSTAN_CONTEXT' ? value : value.split(':').map(path).join(':'),
      ]),
    );
    const options = { ...flags, ...(flags.kubeconfig !== undefined && { kubeconfig: path(flags.kubeconfig) }) };
    expect((await targetApi(options, { HOME: home, ...placed })).server).toBe(`https://${server}`);
  });

  it('is never the current context of KUBECONFIG by chance', async () => {
    const env = { HOME: join(home, 'nobody'), KUBECONFIG: path('workload') };
    await expect(targetApi({}, env)).rejects.toMatchObject({
      code: 'CAP_NO_MANAGEMENT_API',
      hint: expect.stringContaining('--context (workload)') as string,
    });
  });
});
