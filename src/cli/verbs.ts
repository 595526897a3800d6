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
    .option('-n, --namespace <name>', 'namespace (default: the namespace of the context)')
    .option(
      '--kubeconfig <file>',
      'kubeconfig of another management API (default: the one of `capstan up` on this computer)',
    )
    .option('--context <name>', 'context of the kubeconfig (default: capstan, which `capstan up` writes)');
}

export function outputFlag(choices: readonly string[]): Option {
  return new Option('-o, --output <format>', 'output format').choices(choices);
}

function addGet(program: Command, runs: Runs): void {
  const get = program.command('get').description('list clusters and cloud resources, print kubeconfigs');
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
  withConnectionFlags(get.command('clusters').alias('cluster').description('list clusters and their state'))
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <labels>', 'only clusters with these labels, as key=value')
    .addOption(outputFlag(['table', 'name', 'json', 'yaml']).default('table'))
    .action(
      runs(async (options, context) => (await import('./commands/get-clusters.ts')).getClusters(options, context)),
    );
  for (const { name, description } of cloudLists) {
    const list = get.command(name);
    if (name === 'networks') list.option('--external', 'only external networks');
    list
      .description(description)
      .option('--cloud <name>', 'the cloud of clouds.yaml (default: $OS_CLOUD, or the only one)')
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
  const describe = program.command('describe').description('show the parts of a cluster and their state');
  withConnectionFlags(
    describe
      .command('cluster')
      .description('show the tree of a cluster: what is ready, what is not, and why')
      .argument('<name>', 'the cluster'),
  )
    .option(
      '--show-conditions <list>',
      'show all conditions of these kinds or kind/name; "all" for everything; with a + at the end only those that report a problem',
    )
    .option('--show-machinesets', 'show MachineSets')
    .option('--show-templates', 'show the templates of machines')
    .option('--show-resourcesets', 'show ClusterResourceSets')
    .option('--echo', 'always show infrastructure and bootstrap of machines')
    .option('--grouping', 'show machines in the same state on one line (default)', true)
    .option('--no-grouping', 'show one line per machine')
    .addOption(new Option('--disable-grouping', 'the same as --no-grouping').hideHelp())
    .option('--v1beta2', 'also show replica counts, as clusterctl since v1.11')
    .addOption(new Option('--v1beta1', 'show the deprecated conditions of v1beta1').conflicts('v1beta2'))
    .option('--wide', 'do not wrap long messages')
    .option('--color', 'use colours (default: on terminals; NO_COLOR switches them off)')
    .option('--no-color', 'do not use colours')
    .option('-w, --watch', 'show the tree again after every change')
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
  withConnectionFlags(withFileFlags(program.command('apply').description('create or change the objects in manifests')))
    .addOption(
      new Option('--dry-run [mode]', 'let the server check everything, and change nothing')
        .choices(['none', 'server'])
        .preset('server'),
    )
    .option('--force-conflicts', 'take over fields of other field managers')
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
        .description('delete clusters with everything they created, or the objects in manifests')
        .addArgument(new Argument('[kind]', 'what to delete').choices(['cluster']))
        .argument('[names...]', 'the clusters'),
    ),
  )
    .option('--wait', 'wait until everything is gone, and print what is still there (default)')
    .option('--no-wait', 'do not wait; not possible with -f, because other objects have to wait for the clusters')
    .option('--timeout <time>', 'how long to wait, such as 90s or 10m; 0 waits forever', '0')
    .option('--ignore-not-found', 'missing objects are not a failure')
    .option('-y, --yes', 'do not ask before deleting; without a terminal there is no question')
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
    new Option(`${flag} <names>`, `${what}, as name or name:version, separated by commas`).argParser(
      (value: string, earlier: string[] | undefined) => [...(earlier ?? []), value],
    );
  withConnectionFlags(
    program
      .command('init')
      .description('check whether an API can be a management cluster: permissions, providers, storage'),
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
      new Option('-f, --filename <file>', 'file, directory, or - for standard input; may be repeated').argParser(
        (value: string, earlier: string[] | undefined) => [...(earlier ?? []), value],
      ),
    )
    .option('-R, --recursive', 'include subdirectories');
}
