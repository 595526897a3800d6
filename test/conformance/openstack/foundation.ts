import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeOutcome, runProcess } from '../../support/process.ts';
import { daemonEnvironment, ensureDaemon, portAnswers, waitForDaemon } from './daemons.ts';
import { type Layout, loopback } from './layout.ts';
import { databases, serviceAccount, settingsFile } from './settings/shared.ts';

/** Daemons that OpenStack services need while they stop, so they are stopped last. */
export const foundationDaemons = ['messages', 'messages-names', 'database', 'token-cache'] as const;

/** Starts database, message broker and cache, and creates the databases. The broker may still be starting on return. */
export async function startFoundation(layout: Layout): Promise<void> {
  await ensureDaemon(layout, {
    name: 'token-cache',
    file: 'memcached',
    args: ['-u', 'root', '-l', loopback, '-p', String(layout.ports.tokenCache), '-m', '64', '-c', '4096'],
  });
  await startDatabase(layout);
  await startMessages(layout);
  await waitForDaemon(layout, 'database', async () => (await sql(layout, 'SELECT 1')).code === 0);
  const statements = databases.flatMap((name) => [
    `CREATE DATABASE IF NOT EXISTS ${name} CHARACTER SET utf8mb3`,
    `GRANT ALL ON ${name}.* TO '${serviceAccount}'@'localhost' IDENTIFIED BY '${layout.password}'`,
  ]);
  const outcome = await sql(layout, statements.join(';'));
  if (outcome.code !== 0) throw new Error(`the databases could not be made:\n${outcome.stderr}`);
}

/** Waits until the broker accepts connections. */
export function messagesReady(layout: Layout): Promise<void> {
  return waitForDaemon(layout, 'messages', () => portAnswers(layout.ports.messages));
}

/** Runs statements as the database's administrator. */
export function sql(layout: Layout, statements: string): ReturnType<typeof runProcess> {
  const args = ['--no-defaults', `--socket=${layout.databaseSocket}`, '-uroot', '-N', '-e', statements];
  return runProcess('mariadb', args, { env: daemonEnvironment(layout) });
}

async function startDatabase(layout: Layout): Promise<void> {
  const directory = join(layout.data, 'database');
  const isNew = await access(join(directory, 'mysql')).then(
    () => false,
    () => true,
  );
  if (isNew) {
    await mkdir(directory, { recursive: true });
    const outcome = await runProcess(
      'mariadb-install-db',
      [
        ...['--no-defaults', '--user=root', `--datadir=${directory}`],
        ...['--auth-root-authentication-method=normal', '--skip-test-db'],
      ],
      { env: daemonEnvironment(layout) },
    );
    if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  }
  await ensureDaemon(layout, {
    name: 'database',
    file: 'mariadbd',
    args: [
      ...['--no-defaults', '--user=root', `--datadir=${directory}`, `--socket=${layout.databaseSocket}`],
      ...[`--pid-file=${join(directory, 'mariadb.pid')}`, '--skip-networking', '--skip-log-bin'],
      ...['--character-set-server=utf8mb3', '--max-connections=2000', '--innodb-buffer-pool-size=512M'],
      // Durability against power loss is not needed here.
      ...['--innodb-flush-log-at-trx-commit=0', '--innodb-flush-method=O_DIRECT_NO_FSYNC', '--innodb-doublewrite=0'],
      '--innodb-lock-wait-timeout=10',
    ],
  });
}

async function startMessages(layout: Layout): Promise<void> {
  const home = join(layout.data, 'messages');
  await mkdir(home, { recursive: true });
  const settings = {
    'listeners.tcp.1': `${loopback}:${layout.ports.messages}`,
    default_user: serviceAccount,
    default_pass: layout.password,
    'default_permissions.configure': '.*',
    'default_permissions.read': '.*',
    'default_permissions.write': '.*',
    'log.file.level': 'warning',
    'vm_memory_high_watermark.absolute': '1GB',
    'disk_free_limit.absolute': '100MB',
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${value}\n`);
  await writeFile(settingsFile(layout, 'rabbitmq.conf'), lines.join(''), { mode: 0o600 });
  await writeFile(settingsFile(layout, 'rabbitmq.plugins'), '');
  await ensureDaemon(layout, {
    name: 'messages-names',
    file: 'epmd',
    args: ['-address', loopback, '-port', String(layout.ports.messagesNames)],
  });
  await ensureDaemon(layout, {
    name: 'messages',
    file: '/bin/sh',
    args: [await brokerProgram()],
    env: {
      HOME: home,
      ERL_EPMD_ADDRESS: loopback,
      ERL_EPMD_PORT: String(layout.ports.messagesNames),
      RABBITMQ_NODENAME: 'capstan-conformance@localhost',
      RABBITMQ_MNESIA_BASE: home,
      RABBITMQ_LOG_BASE: layout.logs,
      RABBITMQ_CONFIG_FILE: settingsFile(layout, 'rabbitmq.conf'),
      RABBITMQ_CONF_ENV_FILE: '/dev/null',
      RABBITMQ_ENABLED_PLUGINS_FILE: settingsFile(layout, 'rabbitmq.plugins'),
      RABBITMQ_DIST_PORT: String(layout.ports.messagesNode),
      RUNNING_UNDER_SYSTEMD: 'true',
      // By default an idle Erlang VM spins, which is noticeable on two cores.
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
        '-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none',
    },
  });
}

/** Finds the server itself, because the command on the PATH insists on another user. */
async function brokerProgram(): Promise<string> {
  const root = '/usr/lib/rabbitmq/lib';
  const [version] = (await readdir(root)).filter((name) => name.startsWith('rabbitmq_server-')).sort();
  if (version === undefined) throw new Error(`no RabbitMQ below ${root}`);
  return join(root, version, 'sbin', 'rabbitmq-server');
}
