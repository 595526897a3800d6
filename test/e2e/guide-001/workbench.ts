import { readFile } from 'node:fs/promises';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';
import { describeOutcome, runProcess } from '../../support/process.ts';

/** The bench of the guide, with a shell its commands are copied into. */
export interface Workbench extends HostedBench {
  /** runs commands of the guide, after its environment variables, in the directory with clouds.yaml; must succeed */
  shell(commands: string): Promise<string>;
  /** the commands of one of its sections */
  section(name: string): Promise<string>;
}

/** On a bench of its own, or on one that is there. */
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
