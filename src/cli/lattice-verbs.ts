import { type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { type Runs, withConnectionFlags } from './verbs.ts';

const timeout = ['--timeout <duration>', 'maximum time to wait; 0 waits forever', '1h'] as const;

/** Adds verbs that install and uninstall self-managed clusters. */
export function addLatticeVerbs(program: Command, runs: Runs): void {
  const lattice = program.command('lattice').description('clusters that manage themselves');
  lattice
    .command('install')
    .description('create a LatticeCluster that manages itself, with this program as the bootstrap cluster')
    .option(
      '-f, --filename <file>',
      'file with the LatticeCluster and the objects that it needs; - reads standard input',
    )
    .option('--cluster <file>', 'the same as --filename')
    .option('--config <file>', 'the same as --filename')
    .option(
      '--clouds-yaml <file>',
      'credentials of the cloud; default: the Secret in the file, OPENSTACK_CLOUD_CONFIG, OS_CLIENT_CONFIG_FILE, or the OS_* variables',
    )
    .option('--image <image>', 'image of the controllers in the cluster')
    .option('--registry-credentials-file <file>', 'a docker config.json for the registry of the image')
    .addOption(
      new Option('--bootstrap <how>', 'bootstrap provider; overrides the value in the file').choices([
        'kubeadm',
        'rke2',
      ]),
    )
    .option('--dry-run', 'check the input and print what would be applied, and create nothing')
    .option(
      '--keep-bootstrap-on-failure',
      'accepted without effect: the state is always kept, so that the same command can continue',
    )
    .option('--kubeconfig-out <file>', 'file for the kubeconfig of the cluster (default: NAME.kubeconfig)')
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
      .description('print a token for a cluster that its parent cannot reach, and how to use it')
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
    .description('delete a cluster that manages itself, through this program')
    .argument('[name]', 'its LatticeCluster; default: the only one that stands for the cluster itself')
    .option(
      '-k, --kubeconfig <file>',
      'kubeconfig of the cluster; not needed to continue what was started on this computer',
    )
    .option('--context <name>', 'context in the kubeconfig')
    .option('-y, --yes', 'do not ask')
    .option(
      '--keep-bootstrap-on-failure',
      'accepted without effect: the state is always kept, so that the same command can continue',
    )
    .option(...timeout)
    .addHelpText('after', '\nExamples:\n  capstan lattice uninstall -k my-cluster.kubeconfig\n')
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/lattice-uninstall.ts')).latticeUninstall(options, context, name),
      ),
    );
}
