import { pythonRepr } from '../../../core/checks/python.ts';

type Check = (value: unknown, path: string) => string[];

const known: ReadonlySet<string> = new Set(
  [
    ['allow_public_ssh_keys', 'ansible', 'apk_repos', 'apt', 'apt_pipelining', 'apt_reboot_if_required', 'apt_update'],
    ['apt_upgrade', 'authkey_hash', 'autoinstall', 'bootcmd', 'byobu_by_default', 'ca_certs', 'ca-certs', 'chef'],
    ['chpasswd', 'cloud_config_modules', 'cloud_final_modules', 'cloud_init_modules', 'create_hostname_file'],
    ['device_aliases', 'disable_ec2_metadata', 'disable_root', 'disable_root_opts', 'disk_setup', 'drivers', 'fan'],
    ['final_message', 'fqdn', 'fs_setup', 'groups', 'growpart', 'grub-dpkg', 'grub_dpkg', 'hostname', 'keyboard'],
    ['landscape', 'launch-index', 'locale', 'locale_configfile', 'lxd', 'manage_etc_hosts', 'manage_resolv_conf'],
    ['manual_cache_clean', 'mcollective', 'merge_how', 'merge_type', 'migrate', 'mount_default_fields', 'mounts'],
    ['network', 'no_ssh_fingerprints', 'ntp', 'output', 'package_reboot_if_required', 'package_update'],
    ['package_upgrade', 'packages', 'password', 'phone_home', 'power_state', 'prefer_fqdn_over_hostname'],
    ['preserve_hostname', 'puppet', 'random_seed', 'reporting', 'resize_rootfs', 'resolv_conf', 'rh_subscription'],
    ['rsyslog', 'runcmd', 'salt_minion', 'snap', 'spacewalk', 'ssh', 'ssh_authorized_keys', 'ssh_deletekeys'],
    ['ssh_fp_console_blacklist', 'ssh_genkeytypes', 'ssh_import_id', 'ssh_key_console_blacklist', 'ssh_keys'],
    ['ssh_publish_hostkeys', 'ssh_pwauth', 'ssh_quiet_keygen', 'swap', 'system_info', 'timezone', 'ubuntu_advantage'],
    ['ubuntu_pro', 'updates', 'user', 'users', 'vendor_data', 'version', 'wireguard', 'write_files', 'yum_repo_dir'],
    ['yum_repos', 'zypper', 'datasource', 'datasource_list', 'bootstrap', 'coreos'],
  ].flat(),
);

const text = (value: unknown): string => pythonRepr(value);
const wrongType = (value: unknown, path: string, type: string): string[] => [
  `${path}: ${text(value)} is not of type ${type}`,
];

const string: Check = (value, path) => (typeof value === 'string' ? [] : wrongType(value, path, "'string'"));
const boolean: Check = (value, path) => (typeof value === 'boolean' ? [] : wrongType(value, path, "'boolean'"));
const any: Check = () => [];

const array =
  (item: Check): Check =>
  (value, path) =>
    Array.isArray(value)
      ? value.flatMap((each, index) => item(each, `${path}.${index}`))
      : wrongType(value, path, "'array'");

/** A command is a string or a list of words. */
const command: Check = (value, path) => {
  if (typeof value === 'string' || value === null) return [];
  if (Array.isArray(value) && value.every((word) => ['string', 'number', 'boolean'].includes(typeof word))) return [];
  return [`${path}: ${text(value)} is not valid under any of the given schemas`];
};

const dictionary =
  (
    keys: Readonly<Record<string, Check>>,
    required: readonly string[] = [],
    { isClosed = true }: { isClosed?: boolean } = {},
  ): Check =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrongType(value, path, "'object'");
    const errors: string[] = [];
    for (const name of required) if (!(name in value)) errors.push(`${path}: '${name}' is a required property`);
    for (const [name, each] of Object.entries(value)) {
      const check = Object.hasOwn(keys, name) ? keys[name] : undefined;
      if (check) errors.push(...check(each, `${path}.${name}`));
      else if (isClosed) errors.push(`${path}: Additional properties are not allowed ('${name}' was unexpected)`);
    }
    return errors;
  };

const encodings = ['gz', 'gzip', 'gz+base64', 'gzip+base64', 'gz+b64', 'gzip+b64', 'b64', 'base64', 'text/plain'];

const checks: Readonly<Record<string, Check>> = {
  bootcmd: array(command),
  runcmd: array(command),
  packages: array(any),
  mounts: array(array(any)),
  hostname: string,
  fqdn: string,
  final_message: string,
  package_update: boolean,
  package_upgrade: boolean,
  preserve_hostname: boolean,
  ssh_authorized_keys: array(string),
  ntp: (value, path) =>
    value === null
      ? []
      : dictionary({
          pools: array(string),
          servers: array(string),
          peers: array(string),
          allow: array(string),
          ntp_client: string,
          enabled: boolean,
          config: any,
        })(value, path),
  write_files: array(
    dictionary(
      {
        path: string,
        content: string,
        source: any,
        owner: string,
        permissions: string,
        encoding: (value, path) =>
          typeof value === 'string' && encodings.includes(value)
            ? []
            : [`${path}: ${text(value)} is not one of ${text(encodings)}`],
        append: boolean,
        defer: boolean,
      },
      ['path'],
    ),
  ),
  disk_setup: dictionary({}, [], { isClosed: false }),
  fs_setup: array(dictionary({}, [], { isClosed: false })),
};

/** Returns the errors `cloud-init schema` would report, one line each: `where: what`. */
export function schemaErrors(config: Readonly<Record<string, unknown>>): string[] {
  const errors: string[] = [];
  const unexpected = Object.keys(config).filter((key) => !known.has(key));
  if (unexpected.length > 0) {
    const names = unexpected.map((name) => `'${name}'`).join(', ');
    const verb = unexpected.length === 1 ? 'was' : 'were';
    errors.push(`Additional properties are not allowed (${names} ${verb} unexpected)`);
  }
  for (const [key, check] of Object.entries(checks)) {
    if (Object.hasOwn(config, key)) errors.push(...check(config[key], key));
  }
  return errors;
}
