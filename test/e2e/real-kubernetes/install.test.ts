import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';
import { kubectlOn, missingKubectl } from '../../support/kubectl.ts';

// An installation without nodes: no Pod starts, but the API server sees every object. CAPSTAN_REAL_KUBECONFIG is a
// kubeconfig with cluster-admin rights, without Cluster API installed.
const kubeconfig = process.env['CAPSTAN_REAL_KUBECONFIG'] ?? '';
const missing = kubeconfig === '' ? 'needs CAPSTAN_REAL_KUBECONFIG' : await missingKubectl();
const parts = [
  ...['crds', 'clusterroles', 'clusterrolebindings'],
  ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
].join(',');

describe.skipIf(missing !== undefined)(
  `an installation in a real Kubernetes${missing ? ` (${missing})` : ''}`,
  { timeout: 300_000 },
  () => {
    let directory: string;
    let run: (...args: string[]) => Promise<string>;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-install-'));
      run = kubectlOn(kubeconfig, directory);
    });
    afterAll(async () => {
      await capstan(['uninstall', '--kubeconfig', kubeconfig, '--yes', '--include-crd']);
      await rm(directory, { recursive: true, force: true });
    }, 300_000);

    const verb = async (...args: string[]): Promise<string[]> => {
      const { code, stdout, stderr } = await capstan([...args, '--kubeconfig', kubeconfig]);
      expect(code, stderr).toBe(0);
      // An API server warns about fields that it does not know and drops.
      expect(stderr).not.toMatch(/warning/i);
      return stdout.trimEnd().split('\n');
    };
    const ours = async (): Promise<string[]> =>
      (await run('get', parts, '-l', 'app.kubernetes.io/part-of=capstan', '-o', 'name')).split('\n').filter(Boolean);

    it('is accepted with every field, and unchanged the second time', async () => {
      const first = await verb('install');
      expect(first.filter((line) => !line.endsWith(' created'))).toEqual([]);
      const second = await verb('install');
      expect(second.filter((line) => !line.endsWith(' unchanged'))).toEqual([]);
      expect(second.length).toBe(first.length);
    });

    it('is what the manifests say, to the last field', async () => {
      for (const file of ['deploy/chart/crds', 'deploy/capstan.yaml']) {
        await run('diff', '--server-side', '--force-conflicts', '--field-manager=capstan', '-f', file);
      }
    });

    it('is removed without leftovers', async () => {
      await verb('uninstall', '--yes', '--include-crd');
      expect(await ours()).toEqual([]);
      expect(await run('get', 'namespace', 'capstan-system', '--ignore-not-found')).toBe('');
    });
  },
);
