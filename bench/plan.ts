/**
 * `capstan plan` of many new clusters at once, against a simulated cloud in a process of its own that is full of servers of others: how long
 * the whole command takes, from its start to its end, and how many requests reach the cloud.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { cloudFromText, collect, connect } from '../src/openstack/index.ts';
import { startProcess } from '../test/support/process.ts';
import { capstanEnvironment } from '../test/support/program.ts';
import { liftQuotas } from './lib/cloud-access.ts';
import { startCloudProcess } from './lib/cloud-process.ts';
import { Figures } from './lib/figures.ts';
import { clusterManifests } from './lib/fleet-manifests.ts';
import { projectRoot, shippedNodeArguments } from './lib/node-arguments.ts';

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '100' },
    servers: { type: 'string', default: '10000' },
    workers: { type: 'string', default: '2' },
    runs: { type: 'string', default: '3' },
  },
});
const clusters = Number(values.clusters);
const servers = Number(values.servers);
const workers = Number(values.workers);
/** made at the same time */
const atOnce = 16;

const program = join(projectRoot, 'bin/capstan.js');
const figures = new Figures();
const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-plan-'));
const cloud = await startCloudProcess(program);
try {
  await cloud.operate('PATCH', '/timings', { timeScale: 0 });
  await liftQuotas(cloud);
  await fill();
  const manifest = join(directory, 'clusters.yaml');
  writeFileSync(manifest, manifests());
  for (let run = 0; run < Number(values.runs); run++) {
    const before = await cloud.requestCount();
    const { seconds, cpuSeconds } = await measure(manifest);
    figures.add(key('plan_seconds'), seconds, { unit: 's', better: 'lower', aim: 3 });
    figures.add(key('plan_cpu_seconds'), cpuSeconds, { unit: 's', better: 'lower' });
    const requests = (await cloud.requestCount()) - before;
    figures.add(key('plan_requests'), requests, { unit: '', better: 'lower', aim: 30 });
  }
} finally {
  await cloud.stop();
  rmSync(directory, { recursive: true, force: true });
}
figures.print();

async function fill(): Promise<void> {
  const text = readFileSync(cloud.cloudsYaml, 'utf8');
  const { compute, network, image, close } = connect(
    await cloudFromText({ text, source: cloud.cloudsYaml, cloud: 'openstack' }),
  );
  const { id: networkId } = await network.networks.create({ name: 'of-others' });
  await network.subnets.create({ name: 'of-others', networkId, cidr: '10.128.0.0/9', ipVersion: 4 });
  // large enough for every image
  const [flavor] = (await collect(compute.flavors.list())).sort((a, b) => b.disk - a.disk || b.ram - a.ram);
  const [first] = await collect(image.images.list());
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < servers) {
        const name = `other-${next++}`;
        await compute.servers.create({
          name,
          flavorId: flavor?.id ?? '',
          imageId: first?.id,
          networks: [{ networkId }],
        });
      }
    }),
  );
  await close();
}

function manifests(): string {
  return Array.from({ length: clusters }, (_, index) =>
    clusterManifests({ name: `planned-${index}`, controlPlanes: 1, workers }),
  )
    .flat()
    .map((object) => stringify(object))
    .join('---\n');
}

/** Of the whole command, its start and its end included. */
async function measure(manifest: string): Promise<{ seconds: number; cpuSeconds: number }> {
  const command = [
    process.execPath,
    ...shippedNodeArguments(),
    program,
    ...['plan', '-f', manifest, '--cloud', 'openstack', '--no-management-api', '-o', 'json'],
  ];
  const started = performance.now();
  // The shell reports the CPU time of the command, which other work on the machine changes little.
  const { code, stdout, stderr } = await startProcess(
    '/bin/sh',
    ['-c', '"$@"; code=$?; times >&2; exit $code', 'sh', ...command],
    capstanEnvironment({ OS_CLIENT_CONFIG_FILE: cloud.cloudsYaml, NODE_ENV: 'production' }),
  ).ended;
  const seconds = (performance.now() - started) / 1_000;
  const plan = JSON.parse(stdout || '{}') as { works?: boolean; clusters?: { changes: unknown[] }[] };
  if (code !== 0 || plan.clusters?.length !== clusters) {
    throw new Error(`capstan plan ended with ${code}: ${stderr.slice(0, 2_000)}`);
  }
  return { seconds, cpuSeconds: cpuSecondsIn(stderr) };
}

/** Reads the last line of `times`: user and system time of ended commands, as in `0m1.230000s 0m0.110000s`. */
function cpuSecondsIn(text: string): number {
  const parts = [...(text.trimEnd().split('\n').at(-1) ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

function key(figure: string) {
  return { figure, target: 'capstan', kind: `${clusters} x 1+${workers} beside ${servers} servers` };
}
