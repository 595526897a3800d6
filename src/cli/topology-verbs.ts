import type { Command } from 'commander';
import { must } from '../machinery/index.ts';
import { outputFlag, type Runs, withConnectionFlags, withFileFlags } from './verbs.ts';

const dryRun = ['--dry-run', 'let the server check everything, and change nothing'] as const;
const nameOfCluster = 'the name of the cluster';

/** Adds verbs that change one entry of a cluster and keep all others. */
export function addTopologyVerbs(program: Command, runs: Runs): void {
  addScale(program, runs);
  addUpgrade(program, runs);
  addSet(program, runs);
  addTopology(program, runs);
}

function addScale(program: Command, runs: Runs): void {
  const scale = program.command('scale').description('change the number of machines');
  withConnectionFlags(
    scale
      .command('cluster')
      .description('change the replicas of a control plane or of a machine deployment')
      .argument('<name>', 'the cluster'),
  )
    .option('--control-plane <n>', 'replicas of the control plane')
    .option('--machine-deployment <name>', 'the machine deployment to scale, with --replicas')
    .option('--replicas <n>', 'replicas of the machine deployment')
    .option(...dryRun)
    .addHelpText(
      'after',
      '\nExamples:\n  capstan scale cluster demo --control-plane 3\n  capstan scale cluster demo --machine-deployment md-0 --replicas 5\n',
    )
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/scale-cluster.ts')).scaleCluster(options, context, must(name, nameOfCluster)),
      ),
    );
}

function addUpgrade(program: Command, runs: Runs): void {
  const upgrade = program.command('upgrade').description('change the version of clusters');
  withConnectionFlags(
    upgrade
      .command('cluster')
      .description('change the Kubernetes version of a cluster, its class, or both')
      .argument('<name>', 'the cluster'),
  )
    .option('--version <version>', 'the Kubernetes version, such as v1.33.6')
    .option('--class <name>', 'the ClusterClass')
    .option(...dryRun)
    .addHelpText(
      'after',
      '\nExamples:\n  capstan upgrade cluster demo --version v1.33.6\n  capstan upgrade cluster demo --class openstack-scs2-1-33-v1 --version v1.33.6\n',
    )
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/upgrade-cluster.ts')).upgradeCluster(options, context, must(name, nameOfCluster)),
      ),
    );
}

function addSet(program: Command, runs: Runs): void {
  const set = program.command('set').description('set single values');
  withConnectionFlags(
    set
      .command('variable')
      .description('set variables of a topology as NAME=VALUE; NAME- removes a variable')
      .argument('<cluster>', 'the cluster')
      .argument('<assignments...>', 'NAME=VALUE, the value as JSON or plain text; NAME- removes the variable'),
  )
    .option('--control-plane', 'set overrides of the control plane')
    .option('--machine-deployment <name>', 'set overrides of one machine deployment')
    .option(...dryRun)
    .addHelpText(
      'after',
      '\nExamples:\n  capstan set variable demo controlPlaneReplicas=3\n  capstan set variable demo workerFlavor=SCS-8V-16 --machine-deployment md-0\n  capstan set variable demo \'dnsNameservers=["9.9.9.9"]\'\n  capstan set variable demo workerServerGroupID-\n',
    )
    .action(
      runs(async (options, context, name, assignments) =>
        (await import('./commands/set-variable.ts')).setVariable(
          options,
          context,
          must(name, nameOfCluster),
          // Commander passes variadic arguments as a list.
          [assignments].flat().filter((word) => word !== undefined),
        ),
      ),
    );
}

function addTopology(program: Command, runs: Runs): void {
  const topology = program.command('topology').description('inspect clusters from ClusterClasses');
  withConnectionFlags(
    withFileFlags(
      topology
        .command('plan')
        .description(
          'show what an edit of Clusters, ClusterClasses and templates would create, change, replace and roll',
        ),
    ),
  )
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'))
    .addHelpText(
      'after',
      '\nNothing is changed: the command asks the server by dry run. It shows every cluster that a class or template affects.\n\nExamples:\n  capstan topology plan -f cluster.yaml\n  capstan topology plan -f clusterclass.yaml -o json\n',
    )
    .action(
      runs(async (options, context) => (await import('./commands/topology-plan.ts')).topologyPlan(options, context)),
    );
}
