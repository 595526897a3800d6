import { Argument, type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { cloudLists } from './cloud-lists.ts';
import type { CommandContext } from './context.ts';

/** Wraps a function of options, context and arguments as the action of a command. */
export type Runs = (
  action: (options: never, context: CommandContext, ...args: (string | undefined)[]) => Promise<number>,
) => (...received: unknown[]) => Promise<void>;

/** Commander passes a variadic argument as a list, although the type differs. */
export const listed = (argument: unknown): string[] => argument as string[];

/** Adds the common verbs for clusters, which need no kubectl. */
export function addVerbs(program: Command, runs: Runs): void {
  addGet(program, runs);
  addDescribe(program, runs);
  addApply(program, runs);
  addDelete(program, runs);
  addInit(program, runs);
}

/** Adds the flags of verbs that use a management API, with the meaning of kubectl. */
export function withConnectionFlags(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option(
      '--kubeconfig <file>',
      'how to reach another management API (default: the one of `capstan up` on this computer)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: capstan, which `capstan up` writes)');
}

export function outputFlag(choices: readonly string[]): Option {
  return new Option('-o, --output <format>', 'output format').choices(choices);
}

function addGet(program: Command, runs: Runs): void {
  const get = program.command('get').description('read clusters, their kubeconfigs, and what a cloud has for them');
  withConnectionFlags(
    get
      .command('kubeconfig')
      .description('print the kubeconfig of a workload cluster')
      .argument('<name>', 'the cluster'),
  )
    .addHelpText('after', '\nExamples:\n  capstan get kubeconfig basic-1 > basic-1.kubeconfig\n')
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/get-kubeconfig.ts')).getKubeconfig(
          options,
          context,
          must(name, 'the name of the cluster'),
        ),
      ),
    );
  withConnectionFlags(get.command('clusters').alias('cluster').description('list clusters and how far they are'))
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <labels>', 'only those with these labels, as key=value')
    .addOption(outputFlag(['table', 'name', 'json', 'yaml']).default('table'))
    .action(
      runs(async (options, context) => (await import('./commands/get-clusters.ts')).getClusters(options, context)),
    );
  for (const { name, description } of cloudLists) {
    get
      .command(name)
      .description(description)
      .option('--cloud <name>', 'the cloud of clouds.yaml to ask (default: $OS_CLOUD, or the only one)')
      .option('--region <name>', 'one of the regions of the cloud')
      .addOption(outputFlag(['table', 'name', 'json', 'yaml']).default('table'))
      .addHelpText('after', `\nExamples:\n  capstan get ${name} --cloud mycloud\n`)
      .action(
        runs(async (options, context) =>
          (await import('./commands/get-cloud-list.ts')).getCloudList(options, context, name),
        ),
      );
  }
}

function addDescribe(program: Command, runs: Runs): void {
  const describe = program.command('describe').description('show what something consists of and how it is');
  withConnectionFlags(
    describe
      .command('cluster')
      .description('show the tree of a cluster: what is ready, what is not, and why')
      .argument('<name>', 'the cluster'),
  )
    .option(
      '--show-conditions <list>',
      'show all conditions of these kinds or kind/name; "all" for everything; a + at the end for those that are not as they should be',
    )
    .option('--show-machinesets', 'show MachineSets')
    .option('--show-templates', 'show the templates machines are made from')
    .option('--show-resourcesets', 'show ClusterResourceSets')
    .option('--echo', 'show infrastructure and bootstrap of machines also when they say what the machine says')
    .option('--grouping', 'let machines in the same state share a line (default)', true)
    .option('--no-grouping', 'give every machine a line of its own')
    .addOption(new Option('--disable-grouping', 'the same as --no-grouping').hideHelp())
    .option('--v1beta2', 'show replica counts beside the conditions, as clusterctl does since v1.11')
    .addOption(new Option('--v1beta1', 'show the deprecated conditions of v1beta1').conflicts('v1beta2'))
    .option('--wide', 'do not break long messages')
    .option('--color', 'colour the output (default: on terminals; NO_COLOR switches it off)')
    .option('--no-color', 'never colour the output')
    .option('-w, --watch', 'show it anew whenever something changes')
    .addOption(outputFlag(['tree', 'json', 'yaml']).default('tree'))
    .addHelpText(
      'after',
      '\nExamples:\n  capstan describe cluster basic-1\n  capstan describe cluster basic-1 --watch\n  capstan describe cluster basic-1 --grouping=false --show-conditions Machine\n',
    )
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/describe-cluster.ts')).describeCluster(
          options,
          context,
          must(name, 'the name of the cluster'),
        ),
      ),
    );
}

function addApply(program: Command, runs: Runs): void {
  withConnectionFlags(withFileFlags(program.command('apply').description('create or change what manifests say')))
    .addOption(
      new Option('--dry-run [mode]', 'let the server check everything and change nothing')
        .choices(['none', 'server'])
        .preset('server'),
    )
    .option('--force-conflicts', 'take fields over that somebody else wrote')
    .addOption(outputFlag(['name', 'json', 'yaml']))
    .addHelpText(
      'after',
      '\nExamples:\n  capstan apply -f cluster.yaml\n  capstan apply -R -f clusters/\n  cat cluster.yaml | capstan apply -f -\n',
    )
    .action(runs(async (options, context) => (await import('./commands/apply.ts')).apply(options, context)));
}

function addDelete(program: Command, runs: Runs): void {
  withConnectionFlags(
    withFileFlags(
      program
        .command('delete')
        .description('delete clusters with everything they made, or what manifests name')
        .addArgument(new Argument('[kind]', 'what to delete').choices(['cluster']))
        .argument('[names...]', 'the clusters'),
    ),
  )
    .option('--wait', 'stay until it is gone, and say what is still there (default)')
    .option('--no-wait', 'return at once; not with -f, where the rest has to wait for the clusters')
    .option('--timeout <time>', 'how long to wait, as 90s or 10m; 0 waits without end', '0')
    .option('--ignore-not-found', 'what is not there is no failure')
    .option('-y, --yes', 'do not ask before deleting; without a terminal nobody is asked')
    .addHelpText(
      'after',
      '\nExamples:\n  capstan delete cluster basic-1 --timeout 10m\n  capstan delete cluster red blue --no-wait\n  capstan delete -f cluster.yaml\n',
    )
    .action(
      runs(async (options, context, kind, names) =>
        (await import('./commands/delete.ts')).deleteObjects(options, context, kind, listed(names)),
      ),
    );
}

function addInit(program: Command, runs: Runs): void {
  const list = (flag: string, what: string): Option =>
    new Option(`${flag} <names>`, `${what}, as name or name:version; several with commas`).argParser(
      (value: string, earlier: string[] | undefined) => [...(earlier ?? []), value],
    );
  withConnectionFlags(
    program.command('init').description('check that an API can be a management cluster: rights, providers, storage'),
  )
    .option('--core <name>', 'core provider (default: cluster-api)')
    .addOption(list('-b, --bootstrap', 'bootstrap providers (default: kubeadm)'))
    .addOption(list('-c, --control-plane', 'control plane providers (default: kubeadm)'))
    .addOption(list('-i, --infrastructure', 'infrastructure providers'))
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      '\nThe API of `capstan up` has its providers built in: nothing has to be installed.\n\nExamples:\n  capstan init --infrastructure openstack\n  capstan init --infrastructure openstack --control-plane kamaji\n',
    )
    .action(runs(async (options, context) => (await import('./commands/init.ts')).init(options, context)));
}

export function withFileFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '-f, --filename <file>',
        'file, directory, or - for standard input; may be given several times',
      ).argParser((value: string, earlier: string[] | undefined) => [...(earlier ?? []), value]),
    )
    .option('-R, --recursive', 'also look into the directories below');
}
