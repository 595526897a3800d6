import { type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { flavors } from './generate/flavors.ts';
import type { Runs } from './verbs.ts';

/** Adds `generate cluster` and its old clusterctl name `config cluster`. */
export function addGenerateVerbs(program: Command, runs: Runs): void {
  const generate = program.command('generate').description('write manifests');
  const config = program.command('config', { hidden: true }).description('the same as generate');
  for (const verb of [generate, config]) addGenerateCluster(verb, runs);
}

function addGenerateCluster(verb: Command, runs: Runs): void {
  verb
    .command('cluster')
    .description('write the manifest of a cluster from a template; flags, environment and cloud set its variables')
    .argument('<name>', 'the cluster')
    .option('-f, --flavor <name>', `kind of cluster: ${flavors.map(({ name }) => name).join(', ')}`)
    .option('-i, --infrastructure <provider>', 'the provider, as with clusterctl: openstack')
    .option('-n, --target-namespace <name>', 'namespace of the cluster (default: default)')
    .option(
      '--kubernetes-version <version>',
      'Kubernetes version (default: the newest version with an image in the cloud)',
    )
    .option('--control-plane-machine-count <n>', 'replicas of the control plane')
    .option('--worker-machine-count <n>', 'number of workers')
    .option('--cloud <name>', 'the cloud of clouds.yaml (default: $OPENSTACK_CLOUD, $OS_CLOUD, or the only one)')
    .option('--clouds-yaml <file>', 'a clouds.yaml (default: the one that the openstack command finds)')
    .option(
      '--credentials-secret <name>',
      'refer to this existing Secret with cloud credentials instead of writing one',
    )
    .option('--no-ask-cloud', 'do not read networks, images, flavors and keys from the cloud')
    .option('--config <file>', 'file with variables (default: that of clusterctl)')
    .option('--from <file>', 'your own template: file, https:// URL, or - for standard input')
    .option('--from-config-map <name>', 'a template in a ConfigMap of the management API')
    .option('--from-config-map-namespace <name>', 'its namespace')
    .addOption(new Option('--from-config-map-key <key>', 'its key').default('template'))
    .option('--kubeconfig <file>', 'kubeconfig of the management API, for --from-config-map')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--list-variables', 'only list the variables of the template')
    .option('--write-to <file>', 'write to this file instead of standard output')
    .addHelpText(
      'after',
      `\nFlavors:\n${flavors.map(({ name, description }) => `  ${name.padEnd(10)}  ${description}\n`).join('')}
The value of a variable comes from the first that has it: flags, environment, --config, clouds.yaml, the cloud (external
network, newest image, smallest suitable flavor, the only key pair), the default in the template.

Examples:
  capstan generate cluster basic-1 --cloud mycloud > basic-1.yaml
  capstan generate cluster basic-1 --flavor kamaji --kubernetes-version v1.33.6 --list-variables
  capstan generate cluster basic-1 --from ./my-template.yaml | capstan apply -f -
`,
    )
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/generate-cluster.ts')).generateCluster(
          options,
          context,
          must(name, 'the name of the cluster'),
        ),
      ),
    );
}
