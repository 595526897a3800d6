/**
 * Measures an API server over HTTPS: durable creates and updates, gets, a large list, watch fan-out and the time from a
 * write to its watch event. By default it starts a server of its own; `--kubeconfig` adds others to put beside it.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ApiMeasurement, type ApiSettings, apiMeasurements } from './lib/api-measurements.ts';
import { buildCapstan, startCapstan } from './lib/capstan.ts';
import type { Protocol } from './lib/connection.ts';
import { Figures } from './lib/figures.ts';
import { loadKinds } from './lib/objects.ts';
import { closeTarget, openTarget, type Target } from './lib/target.ts';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string', multiple: true, default: [] },
    pid: { type: 'string', multiple: true, default: [] },
    'no-own': { type: 'boolean', default: false },
    only: { type: 'string' },
    protocol: { type: 'string', default: 'h1,h2' },
    kind: { type: 'string', default: 'configmaps' },
    clients: { type: 'string', default: '64' },
    'h2-sessions': { type: 'string', default: '64' },
    bytes: { type: 'string', default: '4096' },
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    profile: { type: 'string' },
    program: { type: 'string' },
    'node-argument': { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(`usage: npx tsx bench/api.ts [options]

  --kubeconfig [NAME=]FILE  also measure the server this file points at; may be given more than once
  --pid NAME=PID[,PID]      processes of that server, to count their CPU time (say API server and database)
  --no-own                  do not start and measure a server of our own
  --only NAMES              of ${Object.keys(apiMeasurements).join(',')}
  --protocol LIST           of h1,h2 (default both)
  --kind LIST               of ${Object.keys(loadKinds).join(',')} (default configmaps)
  --clients N               clients at once (default 64)
  --h2-sessions N           HTTP/2 connections they share (default one each)
  --bytes N                 size of an object (default 4096)
  --runs N                  rounds over all targets; the median counts (default 3)
  --seconds N               length of one measurement (default 5)
  --profile DIR             write CPU profiles of our server, one per measurement
  --program FILE            measure this build of main.js instead of bundling the sources
  --node-argument ARG       passed to node when starting our server; may be given more than once
`);
  process.exit(0);
}

const wanted = values.only?.split(',') ?? Object.keys(apiMeasurements);
for (const name of wanted) if (!(name in apiMeasurements)) throw new Error(`--only: there is no figure ${name}`);
const protocols = values.protocol.split(',') as Protocol[];
const kinds = values.kind.split(',').map((name) => {
  const kind = loadKinds[name];
  if (!kind) throw new Error(`--kind: ${name} is not one of ${Object.keys(loadKinds).join(', ')}`);
  return kind;
});

const figures = new Figures();
const targets: Target[] = [];
const build = values['no-own'] ? undefined : await buildOf(values.program);
try {
  if (build) {
    const capstan = await startCapstan({ program: build.program, nodeArguments: values['node-argument'] });
    process.stderr.write(`our server is process ${capstan.pid}\n`);
    targets.push(await openTarget('capstan', capstan.kubeconfig, { capstan }));
  }
  for (const option of values.kubeconfig) {
    const mark = option.indexOf('=');
    const name = mark < 0 ? 'other' : option.slice(0, mark);
    const processIds = values.pid
      .filter((each) => each.startsWith(`${name}=`))
      .flatMap((each) =>
        each
          .slice(name.length + 1)
          .split(',')
          .map(Number),
      );
    targets.push(await openTarget(name, option.slice(mark + 1), { processIds }));
  }
  const runs = Number(values.runs);
  for (let run = 0; run < runs; run++) {
    // Targets take turns within a round, so that a change of the machine's mood meets all of them.
    for (const name of wanted) {
      for (const target of targets) await measure(name, apiMeasurements[name]!, target, run);
    }
  }
} finally {
  // Whatever was measured is worth seeing, also when the rest failed.
  figures.print();
  for (const target of targets) await closeTarget(target);
  build?.remove();
}

async function buildOf(program: string | undefined): Promise<{ program: string; remove(): void }> {
  return program === undefined ? buildCapstan() : { program, remove() {} };
}

async function measure(name: string, measurement: ApiMeasurement, target: Target, run: number): Promise<void> {
  for (const kind of measurement.perKind ? kinds : kinds.slice(0, 1)) {
    for (const protocol of measurement.perProtocol ? protocols : protocols.slice(0, 1)) {
      const settings: ApiSettings = {
        target,
        protocol,
        kind,
        figures,
        run,
        bytes: Number(values.bytes),
        clients: Number(values.clients),
        sessions: protocol === 'h2' ? Number(values['h2-sessions']) : Number(values.clients),
        measureMs: Number(values.seconds) * 1000,
      };
      process.stderr.write(`run ${run + 1}: ${name} ${kind.plural} ${protocol} on ${target.name}\n`);
      const profile = values.profile !== undefined && target.capstan && run === 0 ? values.profile : undefined;
      if (profile !== undefined) await target.capstan!.startProfile();
      await measurement.measure(settings);
      if (profile === undefined) continue;
      mkdirSync(profile, { recursive: true });
      await target.capstan!.stopProfile(join(profile, `${name}-${kind.plural}-${protocol}.cpuprofile`));
    }
  }
}
