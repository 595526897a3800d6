// Sends the same raw requests to a real cloud and the simulated one, and prints the differences.
//
//   node --import tsx test/conformance/openstack/compare/run.ts --real FILE [--ours FILE] [--print] [NAME...]
//
// FILE is a clouds.yaml with the clouds `openstack` (a project member) and `admin`. Without --ours a simulated cloud is
// started. NAME selects scenarios by part of their name. With --print the answers of the real cloud are printed instead.
import { parseArgs } from 'node:util';
import { differences } from './difference.ts';
import { type Recorded, Recorder } from './recorder.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { connectWire, type WireCloud } from './wire.ts';

async function record(cloud: WireCloud, scenario: Scenario): Promise<readonly Recorded[]> {
  const recorder = new Recorder(cloud, scenario.service);
  try {
    await scenario.play(recorder);
  } catch (error) {
    process.stderr.write(`${cloud.name}: ${scenario.name}: ${error instanceof Error ? error.stack : error}\n`);
  } finally {
    recorder.as('openstack');
    await recorder.cleanUp();
  }
  return recorder.records;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { real: { type: 'string' }, ours: { type: 'string' }, print: { type: 'boolean', default: false } },
});
// Imported lazily: the simulator is loaded only if it is compared.
const simulated =
  values.print || values.ours !== undefined ? undefined : await (await import('./simulated.ts')).startSimulated();
const ours = values.print ? undefined : (values.ours ?? simulated?.cloudsYaml);
const clouds: WireCloud[] = [];
if (values.real !== undefined) clouds.push(await connectWire('real', values.real));
if (ours !== undefined) clouds.push(await connectWire('ours', ours));
const wanted = scenarios.filter(
  ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
);
let requests = 0;
let parted = 0;
for (const scenario of wanted) {
  const [first, second] = await Promise.all(clouds.map((cloud) => record(cloud, scenario)));
  if (!second) {
    for (const { request, status, body } of first ?? []) {
      process.stdout.write(`${request}\n  ${status} ${JSON.stringify(body)}\n`);
    }
    continue;
  }
  const found = differences(first!, second);
  requests += first!.length;
  parted += found.length;
  process.stdout.write(`${scenario.name}: ${first!.length} requests, ${found.length} differ\n`);
  for (const text of found) process.stdout.write(`${text.replace(/^/gm, '  ')}\n`);
}
if (clouds.length === 2) process.stdout.write(`${requests} requests, ${parted} differ\n`);
await simulated?.stop();
process.exitCode = parted > 0 ? 1 : 0;
