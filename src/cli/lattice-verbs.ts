import { type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { type Runs, withConnectionFlags } from './verbs.ts';

const timeout = ['--timeout <duration>', 'how long to wait at most; 0 waits without end', '1h'] as const;

/** Adds verbs that install and uninstall self-managed clusters. */
export function addLatticeVerbs(program: Command, runs: Runs): void {
  const lattice = program.command('lattice').description('clusters that manage themselves');
  lattice
    .command('install')
    .description('make a LatticeCluster that manages itself, with this program as the bootstrap cluster')
    .option('-f, --filename <file>', 'the LatticeCluster, and what else is to be applied first; - reads standard input')
    .option('--cluster <file>', 'the same as --filename')
    .option('--config <file>', 'the same as --filename')
    .option(
      '--clouds-yaml <file>',
      'credentials of the cloud; default: the Secret in the file, OPENSTACK_CLOUD_CONFIG, OS_CLIENT_CONFIG_FILE, or the OS_* variables',
    )
    .option('--image <image>', 'which the controllers in the cluster are run from')
    .option('--registry-credentials-file <file>', 'config.json of docker, for the registry the image is in')
    .addOption(
      new Option('--bootstrap <how>', 'what makes nodes of machines, whatever the file says').choices([
        'kubeadm',
        'rke2',
      ]),
    )
    .option('--dry-run', 'check what is given, print what would be applied, and make nothing')
    .option('--keep-bootstrap-on-failure', 'accepted: what was begun is always kept, for the same command to go on')
    .option('--kubeconfig-out <file>', 'where the kubeconfig of the cluster is written; default: NAME.kubeconfig')
    .option(...timeout)
    .addHelpText('after', '\nExamples:\n  capstan lattice install -f my-cluster.yaml --clouds-yaml clouds.yaml\n')
    .action(
      runs(async (options, context) =>
        (await import('./commands/lattice-install.ts')).latticeInstall(options, context),
      ),
    );
  withConnectionFlags(
    lattice
      .command('token')
      .description(
        'make a token with which a cluster that its parent does not reach dials in, and print how it is used',
      )
      .argument('<name>', 'the LatticeCluster'),
  )
    .addHelpText('after', '\nExamples:\n  capstan lattice token my-cluster\n')
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/lattice-token.ts')).latticeToken(
          options,
          context,
          must(name, 'the name of the LatticeCluster'),
        ),
      ),
    );
  lattice
    .command('uninstall')
    .description('take a cluster that manages itself back into this program, and delete it')
    .argument('[name]', 'its LatticeCluster; default: the only one that stands for the cluster itself')
    .option('-k, --kubeconfig <file>', 'kubeconfig of the cluster; not needed to go on with what was begun here')
    .option('--context <name>', 'context in the kubeconfig')
    .option('-y, --yes', 'do not ask')
    .option('--keep-bootstrap-on-failure', 'accepted: what was begun is always kept, for the same command to go on')
    .option(...timeout)
    .addHelpText('after', '\nExamples:\n  capstan lattice uninstall -k my-cluster.kubeconfig\n')
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/lattice-uninstall.ts')).latticeUninstall(options, context, name),
      ),
    );
}
