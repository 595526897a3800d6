import type { Command } from 'commander';
import type { Runs } from './verbs.ts';

const timeout = ['--timeout <duration>', 'how long to wait at most; 0 waits without end', '1h'] as const;

/** Clusters that manage themselves, from nothing and back. */
export function addLatticeVerbs(program: Command, runs: Runs): void {
  const lattice = program.command('lattice').description('clusters that manage themselves');
  lattice
    .command('install')
    .description('make a LatticeCluster that manages itself, with this program as the bootstrap cluster')
    .requiredOption(
      '-f, --filename <file>',
      'the LatticeCluster, and what else is to be applied first; - reads standard input',
    )
    .option(
      '--clouds-yaml <file>',
      'credentials of the cloud; default: OS_CLIENT_CONFIG_FILE, or the Secret in the file',
    )
    .option('--image <image>', 'which the controllers in the cluster are run from')
    .option('--kubeconfig-out <file>', 'where the kubeconfig of the cluster is written; default: NAME.kubeconfig')
    .option(...timeout)
    .addHelpText('after', '\nExamples:\n  capstan lattice install -f my-cluster.yaml --clouds-yaml clouds.yaml\n')
    .action(
      runs(async (options, context) =>
        (await import('./commands/lattice-install.ts')).latticeInstall(options, context),
      ),
    );
  lattice
    .command('uninstall')
    .description('take a cluster that manages itself back into this program, and delete it')
    .argument('[name]', 'its LatticeCluster; default: the only one that stands for the cluster itself')
    .option('-k, --kubeconfig <file>', 'kubeconfig of the cluster; not needed to go on with what was begun here')
    .option('--context <name>', 'context in the kubeconfig')
    .option('-y, --yes', 'do not ask')
    .option(...timeout)
    .addHelpText('after', '\nExamples:\n  capstan lattice uninstall -k my-cluster.kubeconfig\n')
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/lattice-uninstall.ts')).latticeUninstall(options, context, name),
      ),
    );
}
