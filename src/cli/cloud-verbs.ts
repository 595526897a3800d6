import { type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { outputFlag, type Runs, withConnectionFlags, withFileFlags } from './verbs.ts';

/** Adds verbs that answer questions about clusters and clouds. */
export function addCloudVerbs(program: Command, runs: Runs): void {
  addDoctor(program, runs);
  withConnectionFlags(
    program.command('audit').description('find cloud resources without an owner, and owners without their resources'),
  )
    .option(
      '--cloud <name>',
      'a cloud of clouds.yaml (default: all clouds that objects of the management API use; if there are none, $OS_CLOUD)',
    )
    .addOption(
      new Option(
        '--also-owners-of <file>',
        'kubeconfig of another management API that uses the same projects; may be repeated',
      ).argParser((value: string, earlier: string[] | undefined) => [...(earlier ?? []), value]),
    )
    .option('--delete', 'delete resources with the mark of an owner that does not exist, after asking')
    .option('-y, --yes', 'do not ask before deleting')
    .option(
      '--timeout <time>',
      'time limit for the deletion of one resource, such as 90s or 10m; 0 waits forever',
      '5m',
    )
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      `
The audit searches owners in all namespaces. It deletes only resources with an owner mark. Leftovers of other programs, such as
cluster-api-provider-openstack, are only shown. The exit code is 1 if there are findings.

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
        .description('show what applying files would create, change, replace and delete in OpenStack'),
    ),
  )
    .option('--cloud <name>', 'a cloud of clouds.yaml (default: the clouds that the objects name)')
    .option('--no-management-api', 'plan without a management API, as if no object existed')
    .option('--prices <file>', 'a price table (default: prices of OVH)')
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      `
Nothing is changed: the plan only reads clouds, and asks the management API by dry run. Without a management API, defaults are this program's
and credentials come from the Secret in the file or from --cloud. The exit code is 2 if the change cannot work: a referenced resource does not
exist, an object would be refused, or the quota is too small.

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
      .description('name the first cause why a cluster or machine makes no progress, and what to do')
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
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <labels>', 'only clusters with these labels, as key=value')
    .option('--by <what>', 'one line per cluster, namespace or label=KEY', 'cluster')
    .option('--prices <file>', 'a price table (default: prices of OVH)')
    .addOption(outputFlag(['table', 'json', 'yaml']).default('table'))
    .addHelpText(
      'after',
      `
The cost includes servers, volumes, load balancers and floating IPs.

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
      .description('check whether a cloud has what clusters need, or check a running cluster')
      .argument('[what]', 'the word cluster: look at a cluster instead of a cloud')
      .argument('[name]', 'the cluster'),
  )
    .option('--cloud <name>', 'the cloud of clouds.yaml to check (default: $OS_CLOUD, or the only one)')
    .option('--region <name>', 'one of the regions of the cloud')
    .option('--without <service...>', 'skip the check of a service: load-balancer, volume')
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      `
clouds.yaml and OS_* variables are found as by the openstack command. A cluster is checked with its own
credentials, from the management API to its nodes. The exit code is 1 if a check failed.

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
