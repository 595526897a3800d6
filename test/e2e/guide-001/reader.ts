import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { HostedBench } from '../../support/hosted-bench.ts';
import { describeOutcome, type Outcome, runProcess, startProcess } from '../../support/process.ts';
import { capstanShellCommand } from '../../support/program.ts';

/** Names that readers of the guide choose. */
export interface Names {
  readonly CLUSTER_NAMESPACE: string;
  readonly CLUSTER_NAME: string;
  readonly CLUSTERSTACK_NAMESPACE: string;
  readonly CLUSTERSTACK_VERSION: string;
}

/** A reader who copies the guide's commands into a shell. */
export interface Reader {
  /** runs the commands below a comment of the guide; must succeed */
  follow(comment: string, change?: (commands: string) => string): Promise<string>;
  /** the same, but may fail */
  attempt(comment: string, change?: (commands: string) => string): Promise<Outcome>;
  /** runs the watching command below a comment until the condition holds */
  watch(comment: string, seen: (text: string) => boolean): Promise<void>;
  /** runs other commands in the same environment; must succeed */
  run(commands: string): Promise<string>;
}

const patienceMs = 180_000;

export async function openReader(bench: HostedBench, names: Names): Promise<Reader> {
  const { directory, kubeconfig } = bench.capstan;
  const desk = join(directory, `desk-${names.CLUSTER_NAME}`);
  const bin = join(desk, 'bin');
  await mkdir(bin, { recursive: true });
  await installCommands(bin);
  const blocks = await commandBlocks();
  const network = await bench.cloud.openstack.network.networks.find('public');
  const env = {
    ...names,
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: desk,
    KUBECONFIG: kubeconfig,
    OS_CLIENT_CONFIG_FILE: bench.cloudsYaml,
    OS_CLOUD: 'openstack',
    NO_COLOR: '1',
  };
  const shell = (commands: string): Promise<Outcome> =>
    runProcess('bash', ['-euo', 'pipefail', '-c', commands], { cwd: desk, env });
  const succeed = async (outcome: Promise<Outcome>): Promise<string> => {
    const ended = await outcome;
    expect(ended.code, describeOutcome(ended)).toBe(0);
    return ended.stdout;
  };
  const printed = (comment: string): string => {
    const commands = blocks.get(comment);
    if (commands === undefined) throw new Error(`the guide has no commands for "${comment}"`);
    // Avoids /tmp, which other tests share.
    return commands.replaceAll('/tmp/', `${desk}/`).replaceAll('YOUR-EXTERNAL-NETWORK-ID', network?.id ?? '');
  };
  const attempt: Reader['attempt'] = (comment, change = (commands) => commands) => shell(change(printed(comment)));
  return {
    attempt,
    async watch(comment, seen) {
      const watching = startProcess('bash', ['-euo', 'pipefail', '-c', `exec ${printed(comment)}`], { cwd: desk, env });
      await watching.until(seen, comment, patienceMs).finally(() => watching.stop());
    },
    follow: (comment, change) => succeed(attempt(comment, change)),
    run: (commands) => succeed(shell(commands)),
  };
}

/** Installs `capstan`, and as `clusterctl` too unless the real one is given, because it accepts the same commands. */
async function installCommands(bin: string): Promise<void> {
  const capstan = capstanShellCommand();
  const clusterctl = process.env['CAPSTAN_CLUSTERCTL'];
  for (const [name, command] of [
    ['capstan', capstan],
    ['clusterctl', clusterctl === undefined ? capstan : `'${clusterctl}'`],
  ] as const) {
    await writeFile(join(bin, name), `#!/bin/sh\nexec ${command} "$@"\n`);
    await chmod(join(bin, name), 0o755);
  }
}

/** Returns the commands of the guide by the comment above them. */
async function commandBlocks(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(new URL('testdata/commands.sh', import.meta.url), 'utf8');
  const blocks = new Map<string, string>();
  for (const block of text.split(/^# /m).slice(1)) {
    const end = block.indexOf('\n');
    blocks.set(block.slice(0, end), block.slice(end + 1));
  }
  return blocks;
}
