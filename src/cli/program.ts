import { Command, Option } from 'commander';
import { CapstanError, must } from '../machinery/index.ts';
import type { LogLevel } from '../runtime/index.ts';
import { addCloudVerbs } from './cloud-verbs.ts';
import { type CommandContext, processContext } from './context.ts';
import { withControllerFlags } from './controller-flags.ts';
import { addCreateVerbs } from './create-verbs.ts';
import { addGenerateVerbs } from './generate-verbs.ts';
import { asInvoked, commandName } from './invocation.ts';
import { cellFlags } from './lattice/cell-flags.ts';
import { addLatticeVerbs } from './lattice-verbs.ts';
import { addRealKubernetesCommands } from './real-kubernetes.ts';
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

  const up = program
    .command('up')
    .description('run the management API and its controllers in the foreground')
    .option('--data-dir <dir>', 'directory for all durable data (default: $XDG_DATA_HOME/capstan)')
    .option('--listen <host:port>', 'address of the management API; port 0 takes a free port', '127.0.0.1:6443')
    .option('--kubeconfig <file>', 'write the admin kubeconfig only to this file (default: add a context to yours)')
    .option(
      '--encryption-key-file <file>',
      'key that encrypts Secrets on disk (default: below $XDG_CONFIG_HOME/capstan)',
    )
    .addOption(several('--tls-san <name>', 'additional name or address in the serving certificate; may be repeated'))
    .option(
      '--anonymous-paths <list>',
      'paths served without credentials: /livez, /readyz, /healthz, /metrics, /version (default: none)',
    )
    .option('--oidc-issuer-url <url>', 'accept ID tokens of this OpenID Connect issuer')
    .option('--oidc-client-id <id>', 'required client (audience) of the tokens')
    .option('--oidc-username-claim <claim>', 'claim with the user name (default: sub)')
    .option('--oidc-username-prefix <prefix>', 'prefix of user names (default: ISSUER#, none for email; - for none)')
    .option('--oidc-groups-claim <claim>', 'claim with the groups')
    .option('--oidc-groups-prefix <prefix>', 'prefix of groups')
    .option('--oidc-ca-file <file>', "certificate authorities for the issuer (default: the system's)")
    .addOption(several('--oidc-required-claim <key=value>', 'claim that a token must have; may be repeated'))
    .addOption(several('--oidc-signing-algs <list>', 'accepted algorithms (default: RS256)'))
    .option('--audit-log <file>', 'write one JSON line per request to this file')
    .option('--service-cidr <cidr>', 'addresses of Services', '10.96.0.0/16')
    .option('--simulated-cloud', 'also run a simulated OpenStack and write DATA_DIR/clouds.yaml for it')
    .option('--cloud-listen <host:port>', 'address of the simulated cloud; port 0 takes a free port', '127.0.0.1:0')
    .option(...cellFlags.bootstrap)
    .option(...cellFlags.agents)
    .option(...cellFlags.host)
    .addOption(
      new Option('--pods <how>', 'how Pods of the management API run')
        .choices(['simulated', 'none'])
        .default('simulated'),
    )
    .option('--controllers <list>', 'controllers to run: all, none, or names; -NAME leaves one out', 'all')
    .option(
      '--workers <count>',
      'run the controllers in this number of processes, which share the clusters (default: in this process)',
    )
    .option('--watch-filter <value>', 'manage only objects whose label cluster.x-k8s.io/watch-filter has this value')
    .option('--namespace <name>', 'manage only clusters in this namespace');
  withControllerFlags(up)
    .option('--no-dashboard', 'accepted without effect: there is no dashboard yet')
    .addHelpText(
      'after',
      '\nExamples:\n  capstan up\n  capstan up --simulated-cloud\n  capstan up --listen 127.0.0.1:0 --data-dir ./data --kubeconfig ./kubeconfig\n',
    )
    .action(runs(async (options, context) => (await import('./commands/up.ts')).up(options as never, context)));

  program
    .command('demo')
    .description('try Capstan: a hosted cluster on a simulated cloud, in a temporary directory')
    .addOption(
      new Option('--flavor <kind>', 'kind of the control plane')
        .choices(['k0smotron', 'kamaji', 'hosted'])
        .default('k0smotron'),
    )
    .option('--exit', 'end when everything is Ready')
    .option('--timeout <time>', 'time limit for the cluster; 0 waits forever', '5m')
    .addHelpText('after', '\nExamples:\n  capstan demo\n  capstan demo --flavor kamaji --exit\n')
    .action(
      // The demo reports progress itself, so it logs only errors.
      runs(async (options, context) => (await import('./commands/demo.ts')).demo(options as never, context), 'error'),
    );

  program
    .command('cloud')
    .description('run a simulated OpenStack in the foreground and write a clouds.yaml for it')
    .option('--data-dir <dir>', 'directory for the cloud and its clouds.yaml (default: $XDG_DATA_HOME/capstan)')
    .option('--listen <host:port>', 'address of the cloud; port 0 takes a free port', '127.0.0.1:0')
    .option('--https', 'serve over HTTPS with its own certificate authority')
    .option('--in-memory', 'do not store anything')
    .option('--time-scale <factor>', 'speed of operations: 1 as in a usual cloud, 0.1 ten times as fast, 0 immediate')
    .option('--without <service...>', 'services to leave out: load-balancer, volumev3, placement')
    .option('--faults <file>', 'initial fault rules, YAML or JSON')
    .addOption(
      several(
        '--reachable <host:port>',
        'address of a parent of LatticeClusters that simulated machines may connect to; may be repeated',
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
    .description('print the OPENSTACK_* variables of a cloud in clouds.yaml, for cluster templates')
    .argument('[clouds-yaml]', 'a clouds.yaml (default: the one that the openstack command finds)')
    .argument('[cloud]', 'a cloud of it')
    .option('--unset', 'print the commands that unset all OPENSTACK_* and CAPO_* variables')
    .addOption(new Option('--shell <name>', 'syntax of the output').choices(['sh', 'fish', 'powershell']).default('sh'))
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
    .description('back up a management API, also while it runs: everything, or only the store')
    .argument('<file>', 'where to write the backup')
    .option('--passphrase-file <file>', 'write a complete archive, encrypted with the passphrase in this file')
    .option('--key-file <file>', 'write a complete archive, encrypted with the 32 or more random bytes in this file')
    .option('--data-dir <dir>', 'the data directory (default: $XDG_DATA_HOME/capstan)')
    .option(
      '--encryption-key-file <file>',
      'key that encrypts Secrets on disk (default: below $XDG_CONFIG_HOME/capstan)',
    )
    .option('--kubeconfig <file>', 'kubeconfig of the running server')
    .option('--context <name>', 'context of the kubeconfig')
    .addHelpText(
      'after',
      '\nWithout a passphrase or key file, the backup contains only the store: no authorities, no encryption key, no volumes.\n\nExamples:\n  capstan backup --passphrase-file passphrase capstan.archive\n  capstan backup --data-dir ./data store.bak\n',
    )
    .action(
      runs(async (options, context, file) =>
        (await import('./commands/backup.ts')).backup(options as never, context, must(file, 'the file')),
      ),
    );

  program
    .command('restore')
    .description('restore an archive, or a backup of the store, into a data directory')
    .argument('<file>', 'the backup')
    .option('--passphrase-file <file>', 'file with the passphrase of the archive')
    .option('--key-file <file>', 'key file of the archive')
    .option('--data-dir <dir>', 'directory to restore to (default: $XDG_DATA_HOME/capstan)')
    .option(
      '--encryption-key-file <file>',
      'where to write the key that encrypts Secrets (default: where `capstan up` reads it)',
    )
    .option('--force', 'replace existing data')
    .addHelpText(
      'after',
      '\nExamples:\n  capstan restore --passphrase-file passphrase capstan.archive\n  capstan restore --data-dir ./data store.bak\n',
    )
    .action(
      runs(async (options, context, file) =>
        (await import('./commands/restore.ts')).restore(options as never, context, must(file, 'the file')),
      ),
    );

  const store = program.command('store').description('maintain the store of the management API');
  store
    .command('check')
    .description('verify every record of a data directory that no server is using')
    .option('--data-dir <dir>', 'the data directory (default: $XDG_DATA_HOME/capstan)')
    .option('--repair', 'remove damaged records and keep a copy of them')
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
    .description('print a shell completion script, which also completes names and values')
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
