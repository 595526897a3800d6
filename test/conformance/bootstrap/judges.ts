import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled, runProcess } from '../../support/process.ts';
import { cacheDirectory } from '../go-build.ts';

/** Versions of the validators. To upgrade, change them here, build, and check the differences. */
export const kubeadmVersions: readonly string[] = ['1.24.17', '1.30.4', '1.34.4'];
export const ignitionVersion = '2.24.0';

type Environment = Readonly<Record<string, string | undefined>>;

export const judgesDirectory = (env: Environment): string => join(cacheDirectory(env), 'bootstrap-judges');

export interface Kubeadm {
  path: string;
  version: string;
  minor: number;
}

/** Finds the programs in CAPSTAN_KUBEADM (separated by colons), or those built before. */
export async function findKubeadms(env: Environment): Promise<Kubeadm[]> {
  const given = env['CAPSTAN_KUBEADM'];
  const paths = given
    ? given.split(':').filter((path) => path !== '')
    : kubeadmVersions.map((version) => join(judgesDirectory(env), `kubeadm-${version}`)).filter(existsSync);
  const found: Kubeadm[] = [];
  for (const path of paths) {
    const { code, stdout, stderr } = await runProcess(path, ['version', '-o', 'short']);
    if (code !== 0) throw new Error(`${path} does not tell its version: ${stderr}`);
    const version = stdout.trim();
    found.push({ path, version, minor: Number(version.split('.')[1]) });
  }
  return found;
}

/** Finds the program in CAPSTAN_IGNITION_VALIDATE, or the one built before. */
export function findIgnitionValidate(env: Environment): string | undefined {
  const given = env['CAPSTAN_IGNITION_VALIDATE'];
  if (given) return given;
  const built = join(judgesDirectory(env), 'ignition-validate');
  return existsSync(built) ? built : undefined;
}

export async function hasCloudInit(): Promise<boolean> {
  return isInstalled('cloud-init', '--version');
}
