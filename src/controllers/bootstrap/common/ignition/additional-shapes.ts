/** source field name to Ignition field name */
export type Shape = Readonly<Record<string, string>>;

export interface ListShape {
  section: string;
  field: string;
  shape: Shape;
}

const node: Shape = { path: 'path', user: 'user', group: 'group', overwrite: 'overwrite' };

/** Lists that Container Linux Config and Butane share, by Ignition list name. */
export const listShapes: Readonly<Record<string, ListShape>> = {
  users: {
    section: 'passwd',
    field: 'users',
    shape: {
      name: 'name',
      password_hash: 'passwordHash',
      ssh_authorized_keys: 'sshAuthorizedKeys',
      uid: 'uid',
      gecos: 'gecos',
      home_dir: 'homeDir',
      no_create_home: 'noCreateHome',
      primary_group: 'primaryGroup',
      groups: 'groups',
      no_user_group: 'noUserGroup',
      no_log_init: 'noLogInit',
      system: 'system',
      shell: 'shell',
    },
  },
  groups: {
    section: 'passwd',
    field: 'groups',
    shape: { name: 'name', gid: 'gid', password_hash: 'passwordHash', system: 'system' },
  },
  units: {
    section: 'systemd',
    field: 'units',
    shape: {
      name: 'name',
      enable: 'enabled',
      enabled: 'enabled',
      mask: 'mask',
      contents: 'contents',
      dropins: 'dropins',
    },
  },
  networkUnits: {
    section: 'networkd',
    field: 'units',
    shape: { name: 'name', contents: 'contents', dropins: 'dropins' },
  },
  disks: {
    section: 'storage',
    field: 'disks',
    shape: { device: 'device', wipe_table: 'wipeTable', partitions: 'partitions' },
  },
  raid: {
    section: 'storage',
    field: 'raid',
    shape: { name: 'name', level: 'level', devices: 'devices', spares: 'spares', options: 'options' },
  },
  filesystems: {
    section: 'storage',
    field: 'filesystems',
    shape: {
      name: 'name',
      mount: 'mount',
      device: 'device',
      format: 'format',
      path: 'path',
      label: 'label',
      uuid: 'uuid',
      wipe_filesystem: 'wipeFilesystem',
      options: 'options',
      mount_options: 'mountOptions',
    },
  },
  files: {
    section: 'storage',
    field: 'files',
    shape: { ...node, filesystem: 'filesystem', contents: 'contents', mode: 'mode', append: 'append' },
  },
  directories: {
    section: 'storage',
    field: 'directories',
    shape: { ...node, filesystem: 'filesystem', mode: 'mode' },
  },
  links: {
    section: 'storage',
    field: 'links',
    shape: { ...node, filesystem: 'filesystem', hard: 'hard', target: 'target' },
  },
};

export const nestedShapes: Readonly<Record<string, Shape>> = {
  mount: {
    device: 'device',
    format: 'format',
    wipe_filesystem: 'wipeFilesystem',
    label: 'label',
    uuid: 'uuid',
    options: 'options',
  },
  dropins: { name: 'name', contents: 'contents' },
  user: { name: 'name', id: 'id' },
  group: { name: 'name', id: 'id' },
  verification: { hash: 'hash' },
  remote: { url: 'url', compression: 'compression', verification: 'verification' },
  contents: {
    inline: 'inline',
    remote: 'remote',
    local: 'local',
    source: 'source',
    compression: 'compression',
    verification: 'verification',
  },
  partitions: {
    label: 'label',
    number: 'number',
    size: 'size',
    start: 'start',
    size_mib: 'sizeMiB',
    start_mib: 'startMiB',
    guid: 'guid',
    type_guid: 'typeGuid',
    wipe_partition_entry: 'wipePartitionEntry',
    should_exist: 'shouldExist',
  },
};

/** Sections that configure programs rather than files and units. */
export const programSections: readonly string[] = ['etcd', 'flannel', 'docker', 'update', 'locksmith', 'ignition'];

/** Header fields of Butane; its other fields are parsed like Container Linux Config. */
export const headFields: readonly string[] = ['variant', 'version'];
