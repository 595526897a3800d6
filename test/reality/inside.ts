import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findOrBuildGoProgram } from '../conformance/go-build.ts';
import { helmProgram } from '../conformance/helm/helm-program.ts';
import { startRealKubernetes } from '../conformance/real-kubernetes.ts';
import { imageSpecs, writeImages } from './images.ts';
import { nodeAddress, setUpNetwork } from './network.ts';
import { containerdSocket, crashNode, startNode } from './node.ts';
import { command, Processes } from './processes.ts';
import { findOrBuildAll } from './programs.ts';
import { startProviders } from './providers.ts';
import { startRegistry } from './registry.ts';
import { needsOf, playStories } from './stories/index.ts';

// The part that runs in namespaces. `command.ts` starts it and removes its files.

const say = (line: string): void => void process.stderr.write(`reality: ${line}\n`);

async function main(directory: string, options: { serve: boolean; story: string | undefined }): Promise<number> {
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  const stopped = new AbortController();
  // Some programs insist on these directories. Temporary mounts keep the host's unchanged.
  for (const place of ['/run', '/var/log']) await command('mount', '-t', 'tmpfs', 'reality', place);
  await setUpNetwork();
  const needs = needsOf(options);
  const programs = await findOrBuildAll(process.env, say, needs.versions);
  const helm = needs.helm ? await findOrBuildGoProgram(helmProgram, process.env, say) : '';
  const registry = await startRegistry(await writeImages(join(directory, 'images'), imageSpecs(programs)));
  const processes = await Processes.below(directory);
  say('starting Kubernetes');
  const kubernetes = await startRealKubernetes({ etcd: programs.etcd, ...programs.host }, { address: nodeAddress });
  const node = { directory, programs, kubernetes, processes, registry: registry.url };
  await startNode(node);
  const { kubeconfig } = kubernetes;
  await startProviders({ directory, kubeconfig, signal: stopped.signal, say });
  say('the node is Ready');
  try {
    const stories = playStories({
      directory,
      kubeconfig,
      containerd: containerdSocket(directory),
      helm,
      crashNode: () => crashNode(node),
      say,
      only: options.story,
      serve: options.serve,
      interrupted,
    });
    const outcome = await Promise.race([stories, interrupted]);
    return outcome === 'interrupted' ? 130 : 0;
  } finally {
    stopped.abort();
    await kubernetes.stop();
    await registry.stop();
  }
}

// The parent is gone. All other processes in the namespaces end with this one.
process.stdin.resume().once('close', () => process.exit(1));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { serve: { type: 'boolean', default: false }, story: { type: 'string' } },
});
try {
  const code = await main(positionals[0] ?? '', { serve: values.serve, story: values.story });
  process.exit(code);
} catch (error) {
  say(String(error instanceof Error ? error.stack : error));
  process.exit(1);
}
