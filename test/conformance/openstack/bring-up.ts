import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { describeOutcome, runProcess } from '../../support/process.ts';
import { MissingPrerequisite } from '../go-build.ts';
import { administrator, member, seedIdentity } from './content/identity.ts';
import { seedResources } from './content/resources.ts';
import {
  apiAnswers,
  type DaemonSpec,
  daemonEnvironment,
  ensureDaemon,
  listDaemons,
  portAnswers,
  stopDaemons,
  waitForDaemon,
} from './daemons.ts';
import { foundationDaemons, messagesReady, sql, startFoundation } from './foundation.ts';
import { formatIni, type IniFile } from './ini.ts';
import { baseUrl, type Layout, type Listener, listeners, region } from './layout.ts';
import { missingPackages } from './packages.ts';
import { ensureSchema } from './schemas.ts';
import { service } from './services.ts';
import { computeControlSettings, computeHostSettings } from './settings/compute.ts';
import { identitySettings, placementSettings } from './settings/identity.ts';
import { imageSettings } from './settings/image.ts';
import { amphoraAuthority, loadBalancerSettings } from './settings/load-balancer.ts';
import { networkSettings } from './settings/network.ts';
import { settingsFile } from './settings/shared.ts';
import { volumeSettings } from './settings/volume.ts';

type Say = (line: string) => void;

/** Starts the stopped parts of the cloud, and fills a new one. Idempotent. */
export async function bringUp(layout: Layout, say: Say): Promise<void> {
  await checkMachine(layout);
  await writeSettings(layout);
  await ensureAmphoraAuthority(layout);
  say('starting database, broker and cache');
  await startFoundation(layout);

  say('bringing database schemas up to date (about a minute the first time)');
  // With two cores, the longest migration runs in parallel with the one all others wait for.
  const networkSchema = ensureSchema(layout, 'network');
  networkSchema.catch(() => {});
  await ensureSchema(layout, 'identity');
  await startAll(layout, [service.identity(layout)]);
  const others = Promise.all(
    (['placement', 'image', 'compute', 'volume', 'loadBalancer'] as const).map((name) => ensureSchema(layout, name)),
  );
  others.catch(() => {});
  await ready(layout, 'identity', '/v3');
  await seedIdentity(layout);
  await messagesReady(layout);
  await networkSchema;
  await others;

  say('starting placement, image, network, compute, volume');
  await startAll(layout, [
    service.placement(layout),
    service.image(layout),
    service.network(layout),
    service.conductor(layout),
    service.scheduler(layout),
    service.computeApi(layout),
    service.volumeApi(layout),
    service.volumeScheduler(layout),
    service.volumeManager(layout),
  ]);
  await ready(layout, 'placement', '/');
  await startAll(
    layout,
    layout.hosts.map((host) => service.computeHost(layout, host.name)),
  );
  for (const name of ['image', 'network', 'compute', 'volume'] as const) await ready(layout, name, '/');
  say('making flavors, images, networks, zones');
  const amphora = await seedResources(layout);
  await mapHosts(layout);

  say('starting load balancer');
  await writeIni(layout, 'octavia.conf', loadBalancerSettings(layout, amphora));
  await startAll(layout, [service.loadBalancerApi(layout), service.loadBalancerWorker(layout)]);
  await ready(layout, 'loadBalancer', '/');
}

/** Stops all daemons, the foundation last. */
export async function takeDown(layout: Layout): Promise<void> {
  const last = new Set<string>(foundationDaemons);
  const running = (await listDaemons(layout)).map(({ name }) => name);
  await stopDaemons(
    layout,
    running.filter((name) => !last.has(name)),
  );
  for (const name of foundationDaemons.filter((each) => running.includes(each))) await stopDaemons(layout, [name]);
}

async function checkMachine(layout: Layout): Promise<void> {
  const missing = await missingPackages();
  if (missing.length > 0) {
    throw new MissingPrerequisite(
      `packages are missing (${missing.join(', ')}); run: npm run conformance:openstack -- install`,
    );
  }
  if (process.getuid?.() !== 0) {
    throw new MissingPrerequisite('needs root: database and broker refuse to share a directory with another user');
  }
  const running = (await listDaemons(layout)).filter(({ alive }) => alive);
  if (running.length > 0) return;
  for (const name of listeners) {
    if (!(await portAnswers(layout.ports[name]))) continue;
    throw new Error(
      `port ${layout.ports[name]}, chosen for ${name}, is now used by somebody else; start over with: npm run conformance:openstack -- wipe`,
    );
  }
}

async function writeSettings(layout: Layout): Promise<void> {
  for (const directory of ['locks', 'images/stored', 'images/staging', 'images/tasks', 'network', 'volumes']) {
    await mkdir(join(layout.data, directory), { recursive: true });
  }
  const files: Record<string, IniFile> = {
    'keystone.conf': identitySettings(layout),
    'placement.conf': placementSettings(layout),
    'glance-api.conf': imageSettings(layout),
    'neutron.conf': networkSettings(layout),
    'nova.conf': computeControlSettings(layout),
    'cinder.conf': volumeSettings(layout),
    'octavia.conf': loadBalancerSettings(layout, undefined),
  };
  for (const host of layout.hosts) {
    await mkdir(join(layout.data, 'hosts', host.name), { recursive: true });
    files[`nova-${host.name}.conf`] = computeHostSettings(layout, host);
  }
  for (const [name, content] of Object.entries(files)) await writeIni(layout, name, content);
  await writeFile(layout.cloudsYaml, cloudsYaml(layout), { mode: 0o600 });
}

function writeIni(layout: Layout, name: string, content: IniFile): Promise<void> {
  return writeFile(settingsFile(layout, name), formatIni(content), { mode: 0o600 });
}

function cloudsYaml(layout: Layout): string {
  const cloud = ({ user, project }: { user: string; project: string }): object => ({
    auth: {
      auth_url: `${baseUrl(layout, 'identity')}/v3`,
      username: user,
      password: layout.password,
      project_name: project,
      user_domain_name: 'Default',
      project_domain_name: 'Default',
    },
    region_name: region,
    interface: 'public',
    identity_api_version: 3,
  });
  return stringify({ clouds: { openstack: cloud(member), admin: cloud(administrator) } });
}

async function ensureAmphoraAuthority(layout: Layout): Promise<void> {
  const { certificate, key, passphrase } = amphoraAuthority(layout);
  await mkdir(dirname(certificate), { recursive: true, mode: 0o700 });
  const outcome = await runProcess('/bin/sh', [
    '-c',
    'test -s "$1" || openssl req -x509 -newkey rsa:2048 -days 3650 -subj /CN=amphorae -passout "pass:$3" -keyout "$2" -out "$1"',
    ...['sh', certificate, key, passphrase],
  ]);
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
}

async function startAll(layout: Layout, daemons: readonly DaemonSpec[]): Promise<void> {
  for (const daemon of daemons) await ensureDaemon(layout, daemon);
}

function ready(layout: Layout, name: Listener, path: string): Promise<void> {
  return waitForDaemon(layout, name, () => apiAnswers(`${baseUrl(layout, name)}${path}`), 180_000);
}

/** A host accepts servers only once it is mapped to its cell. */
async function mapHosts(layout: Layout): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const { stdout } = await sql(layout, 'SELECT COUNT(*) FROM nova_api.host_mappings');
    if (Number(stdout) >= layout.hosts.length) return;
    if (performance.now() > deadline) throw new Error(`only ${stdout.trim()} compute hosts are known to the scheduler`);
    await runProcess('nova-manage', ['--config-file', settingsFile(layout, 'nova.conf'), 'cell_v2', 'discover_hosts'], {
      env: daemonEnvironment(layout),
    });
    await delay(1_000);
  }
}
