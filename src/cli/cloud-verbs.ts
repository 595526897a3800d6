import { type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { outputFlag, type Runs, withConnectionFlags, withFileFlags } from './verbs.ts';

/** Adds verbs that answer questions about clusters and clouds. */
export function addCloudVerbs(program: Command, runs: Runs): void {
  addDoctor(program, runs);
  withConnectionFlags(
    program.command('audit').description('find cloud resources without an owner, and owners without their resources'),
  )
    .option('--cloud <name>', 'a cloud of clouds.yaml (default: all clouds that objects of the management API use)')
    .addOption(
      new Option(
        '--also-owners-of <file>',
        'kubeconfig of another management API that uses the same projects; may be given several times',
      ).argParser((value: string, earlier: string[] | undefined) => [...(earlier ?? []), value]),
    )
    .option('--delete', 'delete what carries a mark of an owner that is nowhere, after asking')
    .option('-y, --yes', 'do not ask before deleting')
    .option('--timeout <time>', 'how long one resource may take to be gone, as 90s or 10m; 0 waits without end', '5m')
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      `
Owners are looked for in all namespaces. Only what carries a mark is ever deleted: leftovers of other programs, such as
cluster-api-provider-openstack, are shown and left alone. The exit code is 1 when there is something to do.

Examples:
  capstan audit
  capstan audit --cloud mycloud -o json
  capstan audit --delete
`,
    )
    .action(runs(async (options, context) => (await import('./commands/audit.ts')).audit(options, context)));

  withConnectionFlags(
    withFileFlags(
      program
        .command('plan')
        .description(
          'show what applying files would make, change, replace and delete in OpenStack, before anything is touched',
        ),
    ),
  )
    .option('--cloud <name>', 'a cloud of clouds.yaml (default: those the objects name)')
    .option('--no-management-api', 'ask no management API: plan as if nothing of it were there yet')
    .option('--prices <file>', 'a price table (default: the figures of the guide for OVH)')
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      `
Nothing is changed: clouds are only read, the management API is asked by dry run. Where there is none, defaults are this program's
and credentials come from the Secret in the file or from --cloud. The exit code is 2 when it cannot work: something named does not
exist, would be refused, or does not fit into the quota.

Examples:
  capstan plan -f cluster.yaml
  capstan plan -f cluster.yaml --cloud mycloud --no-management-api
  kubectl get openstackcluster,kubeadmcontrolplane,machinedeployment -o yaml | capstan plan -f - -o json
`,
    )
    .action(runs(async (options, context) => (await import('./commands/plan.ts')).plan(options, context)));

  withConnectionFlags(
    program
      .command('why')
      .description('say the first cause why a cluster or machine does not get further, and what to do')
      .argument('<name>', 'a cluster or machine; or the word cluster or machine before it')
      .argument('[rest]'),
  )
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      '\nThe exit code is 1 when something holds it up.\n\nExamples:\n  capstan why basic-1\n  capstan why machine basic-1-md-0-x2x7q\n',
    )
    .action(
      runs(async (options, context, first, second) =>
        (await import('./commands/why.ts')).why(options, context, [must(first, 'the name'), second]),
      ),
    );

  withConnectionFlags(program.command('cost').description('show what clusters cost').argument('[name]', 'one cluster'))
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <labels>', 'only clusters with these labels, as key=value')
    .option('--by <what>', 'a line for each cluster, namespace or label=KEY', 'cluster')
    .option('--prices <file>', 'a price table (default: the figures of the guide for OVH)')
    .addOption(outputFlag(['table', 'json', 'yaml']).default('table'))
    .addHelpText(
      'after',
      `
Counted is what clusters have: servers, volumes, load balancers and floating addresses.

Examples:
  capstan cost --prices prices.yaml
  capstan cost -A --by label=team --prices prices.yaml -o json
`,
    )
    .action(runs(async (options, context, name) => (await import('./commands/cost.ts')).cost(options, context, name)));
}

function addDoctor(program: Command, runs: Runs): void {
  withConnectionFlags(
    program
      .command('doctor')
      .description('check whether a cloud has what clusters need, or everything a running cluster stands on')
      .argument('[what]', 'the word cluster: look at a cluster instead of a cloud')
      .argument('[name]', 'the cluster'),
  )
    .option('--cloud <name>', 'the cloud of clouds.yaml to look at (default: $OS_CLOUD, or the only one)')
    .option('--region <name>', 'one of the regions of the cloud')
    .option('--without <service...>', 'do not miss a service: load-balancer, volume')
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      `
clouds.yaml is looked for as the openstack command does, OS_* variables included. A cluster is looked at with its own
credentials, from the management API to its nodes. The exit code is 1 when something failed.

Examples:
  capstan doctor --cloud openstack
  OS_CLIENT_CONFIG_FILE=./clouds.yaml capstan doctor --cloud mycloud --without load-balancer
  capstan doctor cluster basic-1
`,
    )
    .action(
      runs(async (options, context, what, name) =>
        (await import('./commands/doctor.ts')).doctor(options, context, [what, name]),
      ),
    );
}
