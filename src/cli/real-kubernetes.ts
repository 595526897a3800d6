import { type Command, Option } from 'commander';
import { cellFlags } from './lattice/cell-flags.ts';
import { stacksSourceOption } from './stacks-option.ts';
import { type Runs, withConnectionFlags } from './verbs.ts';

/** Adds commands for a Kubernetes that somebody else operates. */
export function addRealKubernetesCommands(program: Command, runs: Runs): void {
  program
    .command('controller')
    .description('run the controllers against a Kubernetes, in the foreground')
    .option('--kubeconfig <file>', "how to reach it (default: the Pod's service account)")
    .option('--context <name>', 'context of the kubeconfig')
    .option('--install', 'to try it from outside: bring kinds and rights, and point the API server at this process')
    .option('--controllers <list>', 'controllers to run: all, none, or names; -NAME leaves one out', 'all')
    .option(
      '--watch-filter <value>',
      'look after objects whose label cluster.x-k8s.io/watch-filter has this value only',
    )
    .option('--namespace <name>', 'look after clusters of this namespace only')
    .option('--no-leader-elect', 'work without asking whether another instance does')
    .option('--shares', 'divide the clusters among all instances, instead of one that leads and others that stand by')
    .option(...cellFlags.bootstrap)
    .option(...cellFlags.agents)
    .option(...cellFlags.host)
    .option('--metrics-bind-address <host:port>', 'where metrics are served; 0 for nowhere', '127.0.0.1:8080')
    .option('--health-probe-bind-address <host:port>', 'where /healthz and /readyz are served; 0 for nowhere', '0')
    .option('--webhook-port <port>', 'port of the webhooks; 0 takes a free one', '9443')
    .option('--prices <file>', 'price table: costs of clusters are shown in the metrics (see capstan cost)')
    .option(
      '--backup-directory <dir>',
      'where hosted control planes are backed up to (default: below the data directory)',
    )
    .addOption(stacksSourceOption())
    .option('--deny-peers <networks>', 'addresses not asked on the word of tenants: clouds, kubeconfigs, buckets')
    .option('--allow-peers <networks>', 'exceptions from --deny-peers')
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
    .option('--simulated', 'what it is: Pods are programs of this process; real machines cannot be joined')
    .option('--kubeconfig <file>', 'the Kubernetes it is a node of')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--name <name>', 'of the node (default: simulated-HOSTNAME)')
    .option(
      '--data-dir <dir>',
      'where volumes and logs of its Pods are kept (default: $XDG_DATA_HOME/capstan/nodes/NAME)',
    )
    .option('--install', 'bring its account and rights, a CSIDriver and the StorageClass capstan-simulated')
    .option(
      '--gateways',
      'be a gateway, too: Gateways, TLSRoutes and Ingresses of the class capstan; --install brings the kinds where nobody has',
    )
    .option('--dry-run', 'print what --install would bring, and change nothing')
    .option('--pod-cidr <cidr>', 'addresses of its Pods; nobody reaches them but its own Pods', '10.244.0.0/16')
    .option(
      '--register-with-taints <list>',
      'taints to begin with, KEY=VALUE:EFFECT (default: capstan.dev/simulated=true:NoSchedule beside real nodes)',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  capstan node --simulated --install --kubeconfig ./kubeconfig\n  capstan node --simulated --install --dry-run > node.yaml\n',
    )
    .action(runs(async (options, context) => (await import('./commands/node.ts')).node(options as never, context)));

  const withTarget = (command: Command): Command =>
    command
      .option('--kubeconfig <file>', 'the Kubernetes to act on')
      .option('--context <name>', 'context of the kubeconfig');

  withTarget(
    program
      .command('install')
      .description('install the controllers into a Kubernetes, or bring an installation up to date'),
  )
    .option('--image <name>', 'image of the controllers (default: capstan:VERSION)')
    .option('--registry <host/path>', 'where that image is')
    .option('--replicas <count>', 'how many instances share the webhooks and stand by', '2')
    .option('--shares', 'the instances divide the clusters among themselves, instead of one that leads')
    .option('--dry-run', 'print the objects and change nothing')
    .addOption(new Option('-o, --output <format>', 'format of --dry-run (default: yaml)').choices(['yaml', 'json']))
    .addHelpText(
      'after',
      '\nExamples:\n  capstan install --dry-run -o yaml > capstan.yaml\n  capstan install --kubeconfig ./kubeconfig --registry registry.example.org/platform\n',
    )
    .action(
      runs(async (options, context) => (await import('./commands/install.ts')).install(options as never, context)),
    );

  withTarget(program.command('uninstall').description('take the controllers away; clusters stay as they are'))
    .option('--include-crd', 'the kinds, too; refused while objects of them exist')
    .option('--dry-run', 'only tell what would be deleted')
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
    .option('--registry <host/path>', 'where that image is')
    .option('--replicas <count>', 'how many instances share the webhooks and stand by', '2')
    .option('--no-controllers', 'do not install the controllers: `capstan controller --install` runs them from outside')
    .option('--release', "give everything back as it was, and start upstream's managers again")
    .option('--dry-run', 'only tell what would be done, what would differ and what stands against it')
    .addOption(new Option('-o, --output <format>', 'format of --dry-run').choices(['text', 'json', 'yaml']))
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nNo cloud resource is touched and no machine rolled; what would roll one is refused. Interrupted, the same command goes on.\n\nExamples:\n  capstan adopt --kubeconfig ./kubeconfig --dry-run\n  capstan adopt --kubeconfig ./kubeconfig --registry registry.example.org/platform\n  capstan adopt --kubeconfig ./kubeconfig --release\n',
    )
    .action(runs(async (options, context) => (await import('./commands/adopt.ts')).adopt(options as never, context)));

  withConnectionFlags(
    program
      .command('move')
      .description('move the clusters of a namespace to another management API, with all their objects'),
  )
    .option('--to-kubeconfig <file>', 'kubeconfig of the target')
    .option('--to-kubeconfig-context <name>', 'context of the target (default: capstan, else the current one)')
    .option('--dry-run', 'only tell what would be moved, or why it cannot be')
    .option('--cancel', 'call off a move that was interrupted before it was handed over')
    .addHelpText(
      'after',
      '\nA move that was interrupted goes on when the same command is run again.\n\nExamples:\n  capstan move -n clusters --to-kubeconfig ./real.kubeconfig\n',
    )
    .action(runs(async (options, context) => (await import('./commands/move.ts')).move(options as never, context)));
}
