/**
 * Measures how long a chart takes to be loaded and rendered in process, beside `helm template` in the same run.
 *
 *   npx tsx bench/charts.ts DIRECTORY…      charts, or directories of charts
 *
 * helm is built from its Go module when it is not there yet; --helm names another one.
 */
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { systemRandom } from '../src/machinery/index.ts';
import { loadChart, renderChart } from '../src/template/index.ts';
import { findOrBuildGoProgram } from '../test/conformance/go-build.ts';
import { certificates } from '../test/conformance/helm/certificates.ts';
import { filesBelow, findCharts } from '../test/conformance/helm/charts.ts';
import { helmProgram } from '../test/conformance/helm/helm-program.ts';
import { runProcess } from '../test/support/process.ts';
import { Figures } from './lib/figures.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '15' },
    helm: { type: 'string' },
    'kube-version': { type: 'string', default: '1.34.0' },
  },
});
if (positionals.length === 0) throw new Error('name directories of charts');

const say = (line: string): void => void process.stderr.write(`${line}\n`);
const helm = values.helm ?? (await findOrBuildGoProgram(helmProgram, process.env, say));
const kubeVersion = values['kube-version'];
const figures = new Figures();
/** helm's time may be four times ours at least */
const aimedRatio = 0.25;

for (const root of positionals) for (const directory of await findCharts(root)) await measure(directory);
figures.print();

async function measure(directory: string): Promise<void> {
  const kind = basename(directory);
  const files = await filesBelow(directory);
  const ours = (): void => {
    const chart = loadChart(files);
    if (!chart.ok) throw chart.error;
    const release = { name: 'release-name', namespace: 'default' };
    const capabilities = { kubeVersion };
    const rendered = renderChart({ chart: chart.value, release, capabilities, random: systemRandom, certificates });
    if (!rendered.ok) throw rendered.error;
  };
  const started = performance.now();
  ours();
  const firstMs = performance.now() - started;
  figures.add({ figure: 'chart_first_ms', target: 'capstan', kind }, firstMs, {
    unit: 'ms',
    better: 'lower',
    isContext: true,
  });
  // A program that renders charts all day has compiled its code.
  for (let i = 0; i < 5; i++) ours();
  for (let run = 0; run < Number(values.runs); run++) {
    const before = performance.now();
    ours();
    const between = performance.now();
    const outcome = await runProcess(helm, ['template', 'release-name', directory, '--kube-version', kubeVersion]);
    if (outcome.code !== 0) throw new Error(outcome.stderr);
    const after = performance.now();
    const meaning = { unit: 'ms', better: 'lower' } as const;
    figures.add({ figure: 'chart_ms', target: 'capstan', kind }, between - before, meaning);
    figures.add({ figure: 'chart_ms', target: 'helm', kind }, after - between, meaning);
    figures.add({ figure: 'chart_time_of_helm', target: 'capstan', kind }, (between - before) / (after - between), {
      unit: '',
      better: 'lower',
      aim: aimedRatio,
    });
  }
}
