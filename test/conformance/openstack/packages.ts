import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { runProcess } from '../../support/process.ts';
import { MissingPrerequisite } from '../go-build.ts';

/** Debian packages of OpenStack (bookworm has Zed) and its dependencies. */
export const packages: readonly string[] = [
  ...['mariadb-server', 'rabbitmq-server', 'memcached', 'python3-memcache', 'python3-pymysql'],
  ...['uwsgi-core', 'uwsgi-plugin-python3'],
  ...['python3-keystone', 'python3-placement', 'glance-common', 'neutron-common', 'nova-common', 'cinder-common'],
  ...['python3-octavia', 'python3-fixtures', 'qemu-utils', 'openssl'],
  ...['python3-openstackclient', 'python3-octaviaclient', 'python3-openstacksdk'],
];

export async function missingPackages(): Promise<string[]> {
  try {
    const { stdout } = await runProcess('dpkg', ['--get-selections', ...packages]);
    const installed = new Set([...stdout.matchAll(/^([^\s:]+)\S*\s+(?:install|hold)$/gm)].map((match) => match[1]));
    return packages.filter((name) => !installed.has(name));
  } catch {
    throw new MissingPrerequisite('a real OpenStack is taken from Debian packages, and this machine has no dpkg');
  }
}

const startPolicy = '/usr/sbin/policy-rc.d';

/**
 * Installs missing packages (root only) without starting their services. The daemons here run separately, under other
 * names.
 */
export async function installPackages(say: (line: string) => void): Promise<void> {
  const missing = await missingPackages();
  if (missing.length === 0) {
    say('all packages are installed');
    return;
  }
  if (process.getuid?.() !== 0) throw new MissingPrerequisite(`needs root to install ${missing.join(', ')}`);
  say(`installing ${missing.length} packages and what they need`);
  // Debian calls this program before it starts a newly installed service.
  const ours = await writeFile(startPolicy, '#!/bin/sh\nexit 101\n', { mode: 0o755, flag: 'wx' }).then(
    () => true,
    () => false,
  );
  try {
    await apt('update', '-q');
    await apt(
      ...['install', '-y', '-q', '--no-install-recommends'],
      ...['-o', 'Dpkg::Options::=--force-confold', '-o', 'Dpkg::Options::=--force-confdef'],
      ...missing,
    );
  } finally {
    if (ours) await rm(startPolicy, { force: true });
  }
}

function apt(...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('apt-get', args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`apt-get ${args[0]} ended with exit code ${code}`)),
    );
  });
}
