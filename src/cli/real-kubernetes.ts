import { type Command, Option } from 'commander';
import { withControllerFlags } from './controller-flags.ts';
import { cellFlags } from './lattice/cell-flags.ts';
import { type Runs, withConnectionFlags } from './verbs.ts';

/** Adds commands for a Kubernetes that somebody else operates. */
export function addRealKubernetesCommands(program: Command, runs: Runs): void {
  const controller = program
    .command('controller')
    .description('run the controllers against a Kubernetes, in the foreground')
    .option('--kubeconfig <file>', "kubeconfig of the Kubernetes (default: the Pod's service account)")
    .option('--context <name>', 'context of the kubeconfig')
    .option(
      '--install',
      'try it from outside: install CRDs and permissions, and let the API server call the webhooks of this process',
    )
    .option('--controllers <list>', 'controllers to run: all, none, or names; -NAME leaves one out', 'all')
    .option('--watch-filter <value>', 'manage only objects whose label cluster.x-k8s.io/watch-filter has this value')
    .option('--namespace <name>', 'manage only clusters in this namespace')
    .option('--no-leader-elect', 'do not check whether another instance runs')
    .option('--shares', 'all instances share the clusters, instead of one leader and standby instances')
    .option(...cellFlags.bootstrap)
    .option(...cellFlags.agents)
    .option(...cellFlags.host)
    .option('--metrics-bind-address <host:port>', 'address of /metrics; 0 disables it', '127.0.0.1:8080')
    .option('--health-probe-bind-address <host:port>', 'address of /healthz and /readyz; 0 disables them', '0')
    .option('--webhook-port <port>', 'port of the webhooks; 0 takes a free port', '9443');
  withControllerFlags(controller)
    .addHelpText(
      'after',
      '\nExamples:\n  capstan controller --kubeconfig ./kubeconfig --install\n  capstan controller --health-probe-bind-address :9440 --metrics-bind-address :8080\n',
    )
    .action(
      runs(async (options, context) =>
        (await import('./commands/controller.ts')).controller(options as never, context),
      ),
    );

  program
    .command('node')
    .description(
      'run a simulated node for a Kubernetes, in the foreground: hosted control planes run there without images',
    )
    .option('--simulated', 'required: Pods are programs in this process; you cannot join real machines')
    .option('--kubeconfig <file>', 'kubeconfig of the Kubernetes to join')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--name <name>', 'name of the node (default: simulated-HOSTNAME)')
    .option(
      '--data-dir <dir>',
      'directory for volumes and logs of its Pods (default: $XDG_DATA_HOME/capstan/nodes/NAME)',
    )
    .option('--install', 'create its account and permissions, a CSIDriver and the StorageClass capstan-simulated')
    .option(
      '--gateways',
      'also serve Gateways, TLSRoutes and Ingresses of the class capstan; --install installs these kinds if they are missing',
    )
    .option('--dry-run', 'print what --install would create, and change nothing')
    .option('--pod-cidr <cidr>', 'addresses of its Pods, which only its own Pods can reach', '10.244.0.0/16')
    .option(
      '--register-with-taints <list>',
      'initial taints, KEY=VALUE:EFFECT (default: capstan.dev/simulated=true:NoSchedule beside real nodes)',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  capstan node --simulated --install --kubeconfig ./kubeconfig\n  capstan node --simulated --install --dry-run > node.yaml\n',
    )
    .action(runs(async (options, context) => (await import('./commands/node.ts')).node(options as never, context)));

  const withTarget = (command: Command): Command =>
    command
      .option('--kubeconfig <file>', 'kubeconfig of the Kubernetes')
      .option('--context <name>', 'context of the kubeconfig');

  withTarget(
    program.command('install').description('install the controllers into a Kubernetes, or upgrade an installation'),
  )
    .option('--image <name>', 'image of the controllers (default: capstan:VERSION)')
    .option('--registry <host/path>', 'registry and path of that image')
    .option('--replicas <count>', 'number of instances; all serve the webhooks, one leads', '2')
    .option('--shares', 'all instances share the clusters, instead of one leader')
    .option('--dry-run', 'print the objects and change nothing')
    .addOption(new Option('-o, --output <format>', 'format of --dry-run (default: yaml)').choices(['yaml', 'json']))
    .addHelpText(
      'after',
      '\nExamples:\n  capstan install --dry-run -o yaml > capstan.yaml\n  capstan install --kubeconfig ./kubeconfig --registry registry.example.org/platform\n',
    )
    .action(
      runs(async (options, context) => (await import('./commands/install.ts')).install(options as never, context)),
    );

  withTarget(program.command('uninstall').description('remove the controllers; clusters keep running'))
    .option('--include-crd', 'also remove the CRDs; refused while they have objects')
    .option('--dry-run', 'only print what would be deleted')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExamples:\n  capstan uninstall --kubeconfig ./kubeconfig\n')
    .action(
      runs(async (options, context) => (await import('./commands/uninstall.ts')).uninstall(options as never, context)),
    );

  withTarget(
    program
      .command('adopt')
      .description('take clusters over from Cluster API and its providers in the same Kubernetes, or give them back'),
  )
    .option('--image <name>', 'image of the controllers (default: capstan:VERSION)')
    .option('--registry <host/path>', 'registry and path of that image')
    .option('--replicas <count>', 'number of instances; all serve the webhooks, one leads', '2')
    .option(
      '--no-controllers',
      'do not install the controllers; run them from outside with `capstan controller --install`',
    )
    .option('--release', 'restore the previous state, and start the upstream managers again')
    .option('--dry-run', 'only print what would be done, what would differ, and obstacles')
    .addOption(new Option('-o, --output <format>', 'format of --dry-run').choices(['text', 'json', 'yaml']))
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nNo cloud resource is changed and no machine is replaced; the command refuses if one would be. If it is interrupted, run it again to continue.\n\nExamples:\n  capstan adopt --kubeconfig ./kubeconfig --dry-run\n  capstan adopt --kubeconfig ./kubeconfig --registry registry.example.org/platform\n  capstan adopt --kubeconfig ./kubeconfig --release\n',
    )
    .action(runs(async (options, context) => (await import('./commands/adopt.ts')).adopt(options as never, context)));

  withConnectionFlags(
    program
      .command('move')
      .description('move the clusters of a namespace to another management API, with all their objects'),
  )
    .option('--to-kubeconfig <file>', 'kubeconfig of the target')
    .option('--to-kubeconfig-context <name>', 'context of the target (default: capstan, else the current one)')
    .option('--dry-run', 'only print what would be moved, or why it cannot be moved')
    .option('--cancel', 'cancel an interrupted move, before the target takes over')
    .addHelpText(
      'after',
      '\nIf a move is interrupted, run the same command again to continue.\n\nExamples:\n  capstan move -n clusters --to-kubeconfig ./real.kubeconfig\n',
    )
    .action(runs(async (options, context) => (await import('./commands/move.ts')).move(options as never, context)));
}
