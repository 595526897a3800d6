import { Command, Option } from 'commander';
import { CapstanError, must } from '../machinery/index.ts';
import type { LogLevel } from '../runtime/index.ts';
import { addCloudVerbs } from './cloud-verbs.ts';
import { type CommandContext, processContext } from './context.ts';
import { addCreateVerbs } from './create-verbs.ts';
import { addGenerateVerbs } from './generate-verbs.ts';
import { asInvoked, commandName } from './invocation.ts';
import { cellFlags } from './lattice/cell-flags.ts';
import { addLatticeVerbs } from './lattice-verbs.ts';
import { addRealKubernetesCommands } from './real-kubernetes.ts';
import { stacksSourceOption } from './stacks-option.ts';
import { addTopologyVerbs } from './topology-verbs.ts';
import { addVerbs, listed } from './verbs.ts';
import { version } from './version.ts';

interface GlobalOptions {
  logLevel: LogLevel;
}

/** Builds the command line. Commands are loaded when they run, so that help and completion stay fast. */
export function buildProgram(
  setExitCode: (code: number) => void,
  { versionFlag = true }: { versionFlag?: boolean } = {},
): Command {
  const program = new Command(commandName(process.env))
    .configureOutput({ writeOut: (text) => void process.stdout.write(asInvoked(text, process.env)) })
    .description('Kubernetes clusters on OpenStack from one program')
    .helpOption('-h, --help', 'show help')
    .showHelpAfterError('(run with --help for usage)')
    .exitOverride()
    .addOption(
      new Option('--log-level <level>', 'how much to log').choices(['debug', 'info', 'warn', 'error']).default('info'),
    );

  // Commander would accept program flags after every verb.
  if (versionFlag) program.version(version, '-V, --version', 'print the version');

  const runs =
    <O>(action: (options: O, context: CommandContext, ...args: string[]) => Promise<number>, usualLevel?: LogLevel) =>
    async (...received: unknown[]): Promise<void> => {
      const command = received.at(-1) as Command;
      const args = received.slice(0, -2) as string[];
      const { logLevel } = command.optsWithGlobals<GlobalOptions>();
      const isChosen = command.getOptionValueSourceWithGlobals('logLevel') !== 'default';
      const level = isChosen ? logLevel : (usualLevel ?? logLevel);
      const context = processContext(level);
      try {
        setExitCode(await action(command.opts() as O, context, ...args));
      } catch (error) {
        // An error caused by the user's interruption is no failure.
        const code = context.interruptedCode?.();
        if (code === undefined || error instanceof CapstanError) throw error;
        setExitCode(code);
      }
    };

  const several = (flags: string, description: string): Option =>
    new Option(flags, description).argParser((value: string, earlier: string[] | undefined) => [
      ...(earlier ?? []),
      value,
    ]);

  program
    .command('up')
    .description('run the management API and its controllers in the foreground')
    .option('--data-dir <dir>', 'where everything durable is kept (default: $XDG_DATA_HOME/capstan)')
    .option('--listen <host:port>', 'address of the management API; port 0 takes a free one', '127.0.0.1:6443')
    .option('--kubeconfig <file>', 'write the admin kubeconfig there and nowhere else (default: merge into yours)')
    .option('--encryption-key-file <file>', 'key that seals Secrets on disk (default: below $XDG_CONFIG_HOME/capstan)')
    .addOption(
      several('--tls-san <name>', 'further name or address of the serving certificate; may be given several times'),
    )
    .option(
      '--anonymous-paths <list>',
      'paths that can be read without credentials: /livez, /readyz, /healthz, /metrics, /version (default: none)',
    )
    .option('--oidc-issuer-url <url>', 'accept ID tokens of this OpenID Connect issuer')
    .option('--oidc-client-id <id>', 'client (audience) the tokens must be for')
    .option('--oidc-username-claim <claim>', 'claim with the user name (default: sub)')
    .option('--oidc-username-prefix <prefix>', 'put before user names (default: ISSUER#, none for email; - for none)')
    .option('--oidc-groups-claim <claim>', 'claim with the groups')
    .option('--oidc-groups-prefix <prefix>', 'put before groups')
    .option('--oidc-ca-file <file>', "authorities of the issuer's own certificate (default: the system's)")
    .addOption(several('--oidc-required-claim <key=value>', 'claim a token must have; may be given several times'))
    .addOption(several('--oidc-signing-algs <list>', 'accepted algorithms (default: RS256)'))
    .option('--audit-log <file>', 'record every request there, one JSON line each')
    .option('--service-cidr <cidr>', 'addresses of Services', '10.96.0.0/16')
    .option('--simulated-cloud', 'run a simulated OpenStack too and write DATA_DIR/clouds.yaml for it')
    .option('--cloud-listen <host:port>', 'address of the simulated cloud; port 0 takes a free one', '127.0.0.1:0')
    .option(...cellFlags.bootstrap)
    .option(...cellFlags.agents)
    .option(...cellFlags.host)
    .addOption(
      new Option('--pods <how>', 'what runs Pods of the management API')
        .choices(['simulated', 'none'])
        .default('simulated'),
    )
    .option('--controllers <list>', 'controllers to run: all, none, or names; -NAME leaves one out', 'all')
    .option('--workers <count>', 'run them in so many processes that share the clusters (default: in this one)')
    .option(
      '--watch-filter <value>',
      'look after objects whose label cluster.x-k8s.io/watch-filter has this value only',
    )
    .option('--namespace <name>', 'look after clusters of this namespace only')
    .option('--prices <file>', 'price table: costs of clusters are shown in the metrics (see capstan cost)')
    .option(
      '--backup-directory <dir>',
      'where hosted control planes are backed up to (default: below the data directory)',
    )
    .addOption(stacksSourceOption())
    .option('--deny-peers <networks>', 'addresses not asked on the word of tenants: clouds, kubeconfigs, buckets')
    .option('--allow-peers <networks>', 'exceptions from --deny-peers')
    .option('--no-dashboard', 'accepted without effect: there is no dashboard yet')
    .addHelpText(
      'after',
      '\nExamples:\n  capstan up\n  capstan up --simulated-cloud\n  capstan up --listen 127.0.0.1:0 --data-dir ./data --kubeconfig ./kubeconfig\n',
    )
    .action(runs(async (options, context) => (await import('./commands/up.ts')).up(options as never, context)));

  program
    .command('demo')
    .description('try it: everything in a throw-away directory, with a hosted cluster on a simulated cloud')
    .addOption(
      new Option('--flavor <kind>', 'what the control plane is made by')
        .choices(['k0smotron', 'kamaji', 'hosted'])
        .default('k0smotron'),
    )
    .option('--exit', 'end by itself when all is Ready')
    .option('--timeout <time>', 'how long the cluster may take; 0 waits without end', '5m')
    .addHelpText('after', '\nExamples:\n  capstan demo\n  capstan demo --flavor kamaji --exit\n')
    .action(
      // The demo reports progress itself, so it logs only errors.
      runs(async (options, context) => (await import('./commands/demo.ts')).demo(options as never, context), 'error'),
    );

  program
    .command('cloud')
    .description('run a simulated OpenStack in the foreground and write a clouds.yaml for it')
    .option('--data-dir <dir>', 'where the cloud is kept and clouds.yaml is written (default: $XDG_DATA_HOME/capstan)')
    .option('--listen <host:port>', 'address of the cloud; port 0 takes a free one', '127.0.0.1:0')
    .option('--https', 'serve over HTTPS with an authority of its own')
    .option('--in-memory', 'forget everything at the end')
    .option('--time-scale <factor>', 'how long builds and the like take: 1 as on a usual cloud, 0 no time')
    .option('--without <service...>', 'leave a service out: load-balancer, volumev3, placement')
    .option('--faults <file>', 'fault rules to begin with, YAML or JSON')
    .addOption(
      several(
        '--reachable <host:port>',
        'where a parent of LatticeClusters listens that their simulated machines may dial; may be given several times',
      ),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  capstan cloud\n  capstan cloud --data-dir ./data --listen 127.0.0.1:5080 --https\n  OS_CLIENT_CONFIG_FILE=./data/clouds.yaml OS_CLOUD=openstack openstack server list\n',
    )
    .action(runs(async (options, context) => (await import('./commands/cloud.ts')).cloud(options as never, context)));

  addRealKubernetesCommands(program, runs);

  program
    .command('env')
    .description('print the OPENSTACK_* variables of a cloud in clouds.yaml, for templates of clusters')
    .argument('[clouds-yaml]', 'a clouds.yaml (default: the one the openstack command would find)')
    .argument('[cloud]', 'a cloud of it')
    .option('--unset', 'print what takes all OPENSTACK_* and CAPO_* variables away')
    .addOption(
      new Option('--shell <name>', 'whose language to print').choices(['sh', 'fish', 'powershell']).default('sh'),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  eval "$(capstan env clouds.yaml mycloud)"\n  eval "$(capstan env --unset)"\n  capstan env --shell fish mycloud | source\n',
    )
    .action(
      runs(async (options, context, first, second) =>
        (await import('./commands/print-environment.ts')).printEnvironment(options as never, context, [first, second]),
      ),
    );
  addVerbs(program, runs);
  addTopologyVerbs(program, runs);
  addLatticeVerbs(program, runs);
  addGenerateVerbs(program, runs);
  addCloudVerbs(program, runs);
  addCreateVerbs(program, runs);

  program
    .command('backup')
    .description('save a management API, also while it is being served: all of it, or the store alone')
    .argument('<file>', 'where to write the backup')
    .option('--passphrase-file <file>', 'make a complete archive, sealed with the passphrase in this file')
    .option('--key-file <file>', 'make a complete archive, sealed with the 32 or more random bytes of this file')
    .option('--data-dir <dir>', 'the data directory (default: $XDG_DATA_HOME/capstan)')
    .option('--encryption-key-file <file>', 'key that seals Secrets on disk (default: below $XDG_CONFIG_HOME/capstan)')
    .option('--kubeconfig <file>', 'how to reach the running server')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText(
      'after',
      '\nWithout a passphrase or key file the backup holds the store alone: no authorities, no sealing key, no volumes.\n\nExamples:\n  capstan backup --passphrase-file passphrase capstan.archive\n  capstan backup --data-dir ./data store.bak\n',
    )
    .action(
      runs(async (options, context, file) =>
        (await import('./commands/backup.ts')).backup(options as never, context, must(file, 'the file')),
      ),
    );

  program
    .command('restore')
    .description('put an archive, or a backup of the store, into a data directory')
    .argument('<file>', 'the backup')
    .option('--passphrase-file <file>', 'the passphrase the archive was sealed with')
    .option('--key-file <file>', 'the key file the archive was sealed with')
    .option('--data-dir <dir>', 'where to restore to (default: $XDG_DATA_HOME/capstan)')
    .option('--encryption-key-file <file>', 'where to put the key that seals Secrets (default: where up looks for it)')
    .option('--force', 'replace what is there')
    .addHelpText(
      'after',
      '\nExamples:\n  capstan restore --passphrase-file passphrase capstan.archive\n  capstan restore --data-dir ./data store.bak\n',
    )
    .action(
      runs(async (options, context, file) =>
        (await import('./commands/restore.ts')).restore(options as never, context, must(file, 'the file')),
      ),
    );

  const store = program.command('store').description('look after the management store');
  store
    .command('check')
    .description('verify every record of a data directory that no server is using')
    .option('--data-dir <dir>', 'the data directory (default: $XDG_DATA_HOME/capstan)')
    .option('--repair', 'take damaged records out, keeping a copy of them')
    .action(
      runs(async (options, context) =>
        (await import('./commands/store-check.ts')).storeCheck(options as never, context),
      ),
    );

  program
    .command('version')
    .description('print the version')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['text', 'json', 'yaml']).default('text'))
    .action(
      runs(async (options, context) => (await import('./commands/version.ts')).printVersion(options as never, context)),
    );

  program
    .command('completion')
    .description('print a completion script, for names and values too')
    .addArgument(program.createArgument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish', 'powershell']))
    .addHelpText(
      'after',
      '\nExamples:\n  source <(capstan completion bash)\n  capstan completion zsh > ~/.zfunc/_capstan\n  capstan completion fish > ~/.config/fish/completions/capstan.fish\n',
    )
    .action(
      runs(async (_options, context, shell) =>
        (await import('./commands/completion.ts')).completion(context, must(shell, 'the shell')),
      ),
    );
  program
    .command('__worker', { hidden: true })
    .action(runs(async (_options, context) => (await import('./workers/worker.ts')).worker(context)));
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(
      runs(async (_options, context, words) =>
        (await import('./commands/completion.ts')).complete(program, context, listed(words)),
      ),
    );

  return program;
}
