import { isDictionary, pythonType } from './config.ts';
import { listOf, type Module, type ModuleContext, ModuleError, quoted } from './module.ts';

// Configures repositories and installs packages. The package managers of the machine decide what a package contains.

const sourcesDirectory = '/etc/apt/sources.list.d/';
const keyDirectory = '/etc/apt/cloud-init.gpg.d/';
const yumDirectory = '/etc/yum.repos.d/';

/** Reports whether the distribution uses RPM packages. All others use apt. */
function hasYum({ machine }: ModuleContext): boolean {
  return /alma|centos|fedora|rhel|rocky|oracle|amazon/i.test(machine.server.image?.name ?? '');
}

/** Implements `apt.sources`: files below /etc/apt/sources.list.d and their signing keys. */
export const aptConfigure: Module = (context) => {
  const { apt } = context.cloudConfig.config;
  if (apt === undefined || apt === null) return;
  if (!isDictionary(apt)) throw new ModuleError(`Expected dictionary for 'apt' config, found ${pythonType(apt)}`);
  const { sources } = apt;
  if (sources === undefined || sources === null) return;
  if (!isDictionary(sources)) throw new ModuleError('unable to parse apt config: sources is no dictionary');
  for (const [name, entry] of Object.entries(sources)) {
    if (!isDictionary(entry)) throw new ModuleError(`unable to parse apt config: source ${name} is no dictionary`);
    addSource(context, name, entry);
  }
};

function addSource({ machine: { disk } }: ModuleContext, name: string, entry: Readonly<Record<string, unknown>>): void {
  const filename = typeof entry['filename'] === 'string' ? entry['filename'] : name;
  const path = filename.startsWith('/') ? filename : sourcesDirectory + filename;
  const keyFile = `${keyDirectory}${name.replace(/\.(?:list|sources)$/, '')}.gpg`;
  const { key, keyid } = entry;
  if (typeof key === 'string') disk.write(keyFile, key);
  else if (typeof keyid === 'string') disk.write(keyFile, `key ${keyid}\n`);
  const { source } = entry;
  // an entry may consist of a key only
  if (typeof source !== 'string') return;
  const text = source.replaceAll('$KEY_FILE', keyFile).replaceAll('$RELEASE', 'jammy');
  const target = /\.(?:list|sources)$/.test(path) ? path : `${path}.list`;
  const before = entry['append'] === false ? '' : (disk.read(target) ?? '');
  disk.write(target, `${before}${text.trimEnd()}\n`);
}

/** Implements `yum_repos`: files below /etc/yum.repos.d. */
export const yumAddRepo: Module = (context) => {
  const { yum_repos: repositories, yum_repo_dir: directory } = context.cloudConfig.config;
  if (repositories === undefined || repositories === null) return;
  if (!isDictionary(repositories)) throw new ModuleError(`yum_repos is ${pythonType(repositories)}, not a dictionary`);
  const base = typeof directory === 'string' ? `${directory.replace(/\/$/, '')}/` : yumDirectory;
  for (const [name, entry] of Object.entries(repositories)) {
    const id = name
      .toLowerCase()
      .trim()
      .replaceAll(/[^\w-]/g, '-');
    if (!isDictionary(entry)) {
      context.warn(`cc_yum_add_repo.py[WARNING]: Repository ${name} config is of type ${pythonType(entry)}, skipping!`);
      continue;
    }
    if (!['baseurl', 'metalink', 'mirrorlist'].some((key) => entry[key] !== undefined)) {
      context.warn(`cc_yum_add_repo.py[WARNING]: Repository ${name} must contain a baseurl, skipping!`);
      continue;
    }
    const lines = Object.entries(entry).map(([key, value]) => `${key} = ${iniText(value)}`);
    context.machine.disk.write(`${base}${id}.repo`, `[${id}]\n${lines.join('\n')}\n`);
  }
};

function iniText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return Array.isArray(value) ? value.map(String).join('\n\t') : String(value);
}

/** Installs packages in the order of the list. A pair is a package and its version. */
export const packages: Module = async (context) => {
  const { config } = context.cloudConfig;
  const isYum = hasYum(context);
  const names = (listOf(context, 'packages') ?? []).flatMap((entry) => packageNames(entry, isYum));
  const manager = isYum ? 'yum -y' : 'apt-get --option=Dpkg::Options::=--force-confold --assume-yes --quiet';
  const run = (words: string): Promise<number> =>
    context.script('package_update_upgrade_install', `${manager} ${words}`);
  let failures = 0;
  if (config['package_update'] === true || config['apt_update'] === true) {
    if ((await run(isYum ? 'makecache' : 'update')) !== 0) failures++;
  }
  if (config['package_upgrade'] === true || config['apt_upgrade'] === true) {
    if ((await run(isYum ? 'upgrade' : 'dist-upgrade')) !== 0) failures++;
  }
  if (names.length > 0 && (await run(`install ${names.map(quoted).join(' ')}`)) !== 0) {
    const list = `[${names.map((name) => `'${name}'`).join(', ')}]`;
    context.warn(`util.py[WARNING]: Failure when attempting to install packages: ${list}`);
    failures++;
  }
  if (failures === 0) return;
  context.warn(
    `cc_package_update_upgrade_install.py[WARNING]: ${failures} failed with exceptions, re-raising the last one`,
  );
  throw new ModuleError(
    'Failed to install the following packages. See associated package manager logs for more details',
  );
};

function packageNames(entry: unknown, isYum: boolean): string[] {
  if (typeof entry === 'string') return [entry];
  if (Array.isArray(entry)) {
    const [name, version] = (entry as unknown[]).map(String);
    return name === undefined ? [] : [version === undefined ? name : `${name}${isYum ? '-' : '='}${version}`];
  }
  // packages of one manager, for example `apt: [...]`; snap is ignored
  const own = isDictionary(entry) ? entry[isYum ? 'dnf' : 'apt'] : undefined;
  return Array.isArray(own) ? own.flatMap((each) => packageNames(each, isYum)) : [];
}
