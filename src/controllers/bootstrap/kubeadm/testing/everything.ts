import type { KubeadmConfigSpec, KubeadmNodeRegistration } from '../../../../api/index.ts';

const nodeRegistration: KubeadmNodeRegistration = {
  name: '{{ ds.meta_data.local_hostname }}',
  criSocket: 'unix:///run/containerd/containerd.sock',
  taints: [{ key: 'dedicated', value: 'yes', effect: 'NoSchedule' }],
  kubeletExtraArgs: [
    { name: 'provider-id', value: "openstack:///{{ ds.meta_data['uuid'] }}" },
    { name: 'node-labels', value: '' },
    { name: 'max-pods', value: '0110' },
  ],
  ignorePreflightErrors: ['NumCPU', 'Mem'],
  imagePullPolicy: 'IfNotPresent',
  imagePullSerial: false,
};

/** Uses every field at once, with texts that YAML and templates easily break. */
export const everything: KubeadmConfigSpec = {
  clusterConfiguration: {
    certificatesDir: '/etc/kubernetes/pki',
    imageRepository: 'registry.example.com/kubernetes',
    featureGates: { PublicKeysECDSA: true },
    apiServer: {
      certSANs: ['api.example.com', '192.0.2.10'],
      extraArgs: [
        { name: 'audit-log-maxage', value: '007' },
        { name: 'profiling', value: 'no' },
        { name: 'feature-gates', value: 'A=true,B=false' },
      ],
      extraEnvs: [{ name: 'GOGC', value: '50' }],
      extraVolumes: [
        {
          name: 'audit',
          hostPath: '/var/log/audit',
          mountPath: '/var/log/audit',
          readOnly: false,
          pathType: 'DirectoryOrCreate',
        },
      ],
    },
    controllerManager: {
      extraArgs: [{ name: 'node-cidr-mask-size', value: '24' }],
      extraEnvs: [{ name: 'TZ', value: 'UTC' }],
    },
    scheduler: { extraArgs: [{ name: 'v', value: '2' }] },
    etcd: {
      local: {
        imageRepository: 'registry.example.com/etcd',
        imageTag: '3.5.1-0',
        dataDir: '/var/lib/etcd',
        extraArgs: [{ name: 'snapshot-count', value: '10000' }],
        extraEnvs: [{ name: 'ETCD_LOG_LEVEL', value: 'info' }],
        serverCertSANs: ['etcd.example.com'],
        peerCertSANs: ['etcd-peer.example.com'],
      },
    },
    dns: { imageRepository: 'registry.example.com/coredns', imageTag: 'v1.8.6' },
    certificateValidityPeriodDays: 180,
    caCertificateValidityPeriodDays: 1825,
    encryptionAlgorithm: 'RSA-3072',
  },
  initConfiguration: {
    bootstrapTokens: [
      {
        token: 'abcdef.0123456789abcdef',
        description: 'for: guests',
        ttlSeconds: 3600,
        usages: ['signing', 'authentication'],
        groups: ['system:bootstrappers:kubeadm:default-node-token'],
      },
    ],
    nodeRegistration,
    localAPIEndpoint: { advertiseAddress: '192.0.2.11' },
    skipPhases: ['addon/kube-proxy'],
    patches: { directory: '/etc/kubernetes/patches' },
    timeouts: { controlPlaneComponentHealthCheckSeconds: 300, kubeletHealthCheckSeconds: 120, discoverySeconds: 600 },
  },
  joinConfiguration: {
    nodeRegistration,
    caCertPath: '/etc/kubernetes/pki/ca.crt',
    skipPhases: ['preflight'],
    patches: { directory: '/etc/kubernetes/patches' },
    timeouts: { controlPlaneComponentHealthCheckSeconds: 300, tlsBootstrapSeconds: 240 },
  },
  files: [
    { path: '/etc/motd', content: 'welcome\n', owner: 'root:root', permissions: '0644' },
    { path: '/etc/motd', content: '  indented: "yes"\nit\'s on {{ ds.meta_data.local_hostname }}\n', append: true },
    { path: '/etc/secret', contentFrom: { secret: { name: 'vault', key: 'value' } } },
    { path: '/etc/zipped', content: 'H4sIAAAAAAAAA8vPBgBH3dx5AgAAAA==', encoding: 'gzip+base64' },
    { path: '/etc/empty' },
  ],
  bootCommands: ['echo "booting: $(date)" > /dev/kmsg'],
  preKubeadmCommands: ["hostname '{{ ds.meta_data.local_hostname }}'", 'echo "a\\tb" | tee /tmp/x', 'yes', '# nothing'],
  postKubeadmCommands: ['if true; then\n  echo done\nfi\n'],
  users: [
    {
      name: 'ops',
      gecos: 'Operations: on call',
      groups: 'sudo, adm',
      homeDir: '/home/ops',
      inactive: true,
      lockPassword: false,
      passwd: '$6$rounds=4096$salt$hash',
      primaryGroup: 'ops',
      shell: '/bin/bash',
      sudo: 'ALL=(ALL) NOPASSWD:ALL',
      sshAuthorizedKeys: ['ssh-ed25519 AAAAC3Nza ops@example.com'],
    },
  ],
  ntp: { enabled: true, servers: ['ntp1.example.com', '192.0.2.123'] },
  diskSetup: {
    partitions: [
      { device: '/dev/vdb', layout: true, overwrite: false, tableType: 'gpt' },
      {
        device: '/dev/vdc',
        diskLayout: [{ percentage: 33, partitionType: 'LinuxSwap' }, { percentage: 67 }],
        tableType: 'mbr',
      },
    ],
    filesystems: [
      {
        device: '/dev/vdb',
        filesystem: 'ext4',
        label: 'etcd_disk',
        partition: '1',
        overwrite: false,
        replaceFS: 'ntfs',
        extraOpts: ['-E', 'lazy_itable_init=1,lazy_journal_init=1'],
      },
      { device: '/dev/vdc', filesystem: 'xfs', label: 'data', partition: 'auto' },
    ],
  },
  mounts: [
    ['LABEL=etcd_disk', '/var/lib/etcddisk'],
    ['/dev/vdc2', '/data', 'xfs', 'defaults,nofail', '0', '2'],
  ],
  verbosity: 5,
};
