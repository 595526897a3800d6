import { readFile } from 'node:fs/promises';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';
import { describeOutcome, runProcess } from '../../support/process.ts';

/** Environment of the guide, with a shell for its commands. */
export interface Workbench extends HostedBench {
  /**
   * runs commands of the guide in the directory of clouds.yaml, with the guide's environment variables; must succeed
   */
  shell(commands: string): Promise<string>;
  /** returns the commands of a section */
  section(name: string): Promise<string>;
}

/** Uses a new environment, or the given one. */
export async function openWorkbench(there?: HostedBench): Promise<Workbench> {
  const bench = there ?? (await openHostedBench());
  const { directory, kubeconfig } = bench.capstan;
  const environment = await testdata('environment.sh');
  return {
    ...bench,
    section: (name) => testdata(`${name}.sh`),
    shell: async (commands) => {
      const outcome = await runProcess('bash', ['-euo', 'pipefail', '-c', `${environment}\n${commands}`], {
        cwd: directory,
        env: { PATH: process.env['PATH'] ?? '', HOME: directory, TMPDIR: directory, KUBECONFIG: kubeconfig },
      });
      if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
      return outcome.stdout;
    },
  };
}

const testdata = (file: string): Promise<string> => readFile(new URL(`testdata/${file}`, import.meta.url), 'utf8');
