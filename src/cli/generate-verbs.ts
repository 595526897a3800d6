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
    .description('write the manifest of a cluster: a template, its variables answered by flags, environment and cloud')
    .argument('<name>', 'the cluster')
    .option('-f, --flavor <name>', `kind of cluster: ${flavors.map(({ name }) => name).join(', ')}`)
    .option('-i, --infrastructure <provider>', 'the provider, as of clusterctl: openstack')
    .option('-n, --target-namespace <name>', 'namespace of the cluster (default: default)')
    .option('--kubernetes-version <version>', 'version of Kubernetes (default: the newest the cloud has an image for)')
    .option('--control-plane-machine-count <n>', 'replicas of the control plane')
    .option('--worker-machine-count <n>', 'number of workers')
    .option('--cloud <name>', 'the cloud of clouds.yaml (default: $OPENSTACK_CLOUD, $OS_CLOUD, or the only one)')
    .option('--clouds-yaml <file>', 'a clouds.yaml (default: the one the openstack command would find)')
    .option('--credentials-secret <name>', 'name this Secret with the credentials of the cloud instead of writing one')
    .option('--no-ask-cloud', 'do not ask the cloud for networks, images, flavors and keys')
    .option('--config <file>', 'file with variables (default: that of clusterctl)')
    .option('--from <file>', 'a template of your own: file, https:// address, or - for standard input')
    .option('--from-config-map <name>', 'a template in a ConfigMap of the management API')
    .option('--from-config-map-namespace <name>', 'its namespace')
    .addOption(new Option('--from-config-map-key <key>', 'its key').default('template'))
    .option('--kubeconfig <file>', 'how to reach the management API, for --from-config-map')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--list-variables', 'show the variables of the template instead')
    .option('--write-to <file>', 'write there instead of to standard output')
    .addHelpText(
      'after',
      `\nFlavors:\n${flavors.map(({ name, description }) => `  ${name.padEnd(10)}  ${description}\n`).join('')}
A variable is taken from the first that has it: flags, environment, --config, clouds.yaml, the cloud itself (external
network, newest image, smallest fitting flavor, the only key pair), the default in the template.

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
