import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { runProcess } from '../../support/process.ts';
import { type KubeadmFile, kubeadmFiles } from './golden-files.ts';
import { findKubeadms, type Kubeadm } from './judges.ts';

const kubeadms = await findKubeadms(process.env);
const directory = mkdtempSync(join(tmpdir(), 'capstan-kubeadm-judge-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Reports whether a kubeadm release reads a format. Every format is read by at least one of the built releases. */
function reads({ minor }: Kubeadm, format: string): boolean {
  if (format === 'v1beta4') return minor >= 31;
  if (format === 'v1beta3') return minor >= 22 && minor <= 30;
  return minor <= 24;
}

/** On a machine, kubeadm has the version of the cluster and the discovery file exists. */
function asOnTheMachine(document: Record<string, unknown>, { version }: Kubeadm): Record<string, unknown> {
  const adapted = structuredClone(document);
  if (adapted['kind'] === 'ClusterConfiguration') adapted['kubernetesVersion'] = version;
  const { file } = (adapted['discovery'] ?? {}) as { file?: { kubeConfigPath: string } };
  if (file) {
    file.kubeConfigPath = join(directory, 'discovery.conf');
    writeFileSync(file.kubeConfigPath, '');
  }
  return adapted;
}

/** `validate` exists since 1.26. Before, `migrate` parses a configuration as strictly. */
async function judge(kubeadm: Kubeadm, file: KubeadmFile): Promise<{ code: number | undefined; words: string }> {
  const path = join(directory, `${kubeadm.version}-${file.name}`);
  writeFileSync(
    path,
    file.documents.map((one) => `---\n${stringify(asOnTheMachine(one, kubeadm), { version: '1.1' })}`).join(''),
  );
  const args = kubeadm.minor >= 26 ? ['validate', '--config', path] : ['migrate', '--old-config', path];
  const { code, stdout, stderr } = await runProcess(kubeadm.path, ['config', ...args]);
  return { code, words: stderr + (kubeadm.minor >= 26 ? stdout : '') };
}

describe.skipIf(kubeadms.length === 0)(
  'real kubeadm (CAPSTAN_KUBEADM, or built by conformance:bootstrap-judges)',
  () => {
    describe.each(kubeadms)('$version', (kubeadm) => {
      it.each(kubeadmFiles().filter(({ format }) => reads(kubeadm, format)))(
        'accepts $format of $name',
        async (file) => {
          const { code, words } = await judge(kubeadm, file);
          expect(code, words).toBe(0);
          // `migrate` only warns about unknown fields.
          expect(words).not.toMatch(/unknown field|error unmarshaling/i);
        },
      );

      it('refuses a configuration with an error, so its verdict counts', async () => {
        const [good] = kubeadmFiles().filter(
          ({ format, documents }) => reads(kubeadm, format) && documents.length === 1,
        );
        const broken = {
          ...good!,
          documents: [{ ...good!.documents[0]!, discovery: { bootstrapToken: { token: 'x' } } }],
        };
        expect((await judge(kubeadm, broken)).code).not.toBe(0);
      });
    });
  },
);
