import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeOutcome, runProcess } from '../../support/process.ts';
import { ignitionVersion, judgesDirectory, kubeadmVersions } from './judges.ts';

// Builds the validators of bootstrap data from their Go modules. The first build takes several minutes.
//   npm run conformance:bootstrap-judges

const environment = process.env as Record<string, string>;

async function go(cwd: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const outcome = await runProcess('go', args, { cwd, env: { ...environment, GOFLAGS: '-buildvcs=false', ...env } });
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  return outcome.stdout;
}

interface GoModule {
  Replace?: { Old: { Path: string }; New: { Path: string } }[];
}

/**
 * Kubernetes replaces its libraries by local directories. A module that depends on it needs their published versions.
 */
async function buildKubeadm(directory: string, version: string): Promise<void> {
  const source = join(directory, `kubeadm-${version}-source`);
  await mkdir(source, { recursive: true });
  const { GoMod } = JSON.parse(await go(source, ['mod', 'download', '-json', `k8s.io/kubernetes@v${version}`])) as {
    GoMod: string;
  };
  const { Replace = [] } = JSON.parse(await go(source, ['mod', 'edit', '-json', GoMod])) as GoModule;
  const goVersion = (await go(source, ['env', 'GOVERSION'])).trim().replace(/^go/, '');
  const replaced = Replace.filter(({ New }) => New.Path.startsWith('./staging/')).map(
    ({ Old: { Path } }) => `replace ${Path} => ${Path} v0.${version.slice(2)}`,
  );
  const lines = ['module judges', `go ${goVersion}`, `require k8s.io/kubernetes v${version}`, ...replaced, ''];
  await writeFile(join(source, 'go.mod'), lines.join('\n\n'));
  await writeFile(
    join(source, 'programs.go'),
    ['//go:build tools', 'package programs', 'import _ "k8s.io/kubernetes/cmd/kubeadm"', ''].join('\n\n'),
  );
  await go(source, ['mod', 'tidy']);
  const flags = Object.entries({ gitVersion: `v${version}`, gitMajor: '1', gitMinor: version.split('.')[1] })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
  const target = join(directory, `kubeadm-${version}`);
  await go(source, ['build', '-ldflags', flags, '-o', target, 'k8s.io/kubernetes/cmd/kubeadm']);
  await rm(source, { recursive: true });
}

async function buildIgnitionValidate(directory: string): Promise<void> {
  const binaries = join(directory, 'ignition-bin');
  await mkdir(binaries, { recursive: true });
  await go(directory, ['install', `github.com/coreos/ignition/v2/validate@v${ignitionVersion}`], { GOBIN: binaries });
  await copyFile(join(binaries, 'validate'), join(directory, 'ignition-validate'));
  await rm(binaries, { recursive: true });
}

const directory = judgesDirectory(process.env);
await mkdir(directory, { recursive: true });
for (const version of kubeadmVersions) {
  console.error(`building kubeadm ${version}`);
  await buildKubeadm(directory, version);
}
console.error(`building ignition-validate ${ignitionVersion}`);
await buildIgnitionValidate(directory);
console.log(directory);
