import { conditions } from '../cluster/common-schema.ts';
import { defineKind, type Kind } from '../kind/define.ts';
import { textColumn } from '../kind/printer.ts';
import { atomicList, boolean, type Field, int32, int64, object, once, oneOf, setOf, string } from '../kind/schema.ts';
import type {
  Image,
  ImageContent,
  ImageHardware,
  ImageHash,
  ImageProperties,
  ImageSpec,
  ImageStatus,
} from './types.ts';

/** An enum that the program only passes on, so its TypeScript type is string. */
const choice = (values: readonly string[], description: string): Field<string> =>
  string(description, { enum: [...values] });

const name = (): Field<string> => string('Name of the image.', { minLength: 1, maxLength: 255, pattern: '^[^,]+$' });
const tags = (): Field<string[]> =>
  setOf(string('', { minLength: 1, maxLength: 255 }), 'Tags of the image.', { maxItems: 64 });
const visibility = (): Field<'public' | 'private' | 'shared' | 'community'> =>
  oneOf(['public', 'private', 'shared', 'community'], 'Visibility of the image.');
const buses = ['scsi', 'virtio', 'uml', 'xen', 'ide', 'usb', 'lxc'];
const positive = (description: string): Field<number> => int32(description, { minimum: 1 });
const fixed = 'self == oldSelf';

const hash = (): Field<ImageHash> =>
  object(
    {
      algorithm: oneOf(['md5', 'sha1', 'sha256', 'sha512'], 'Kind of the hash.').required(),
      value: string('The hash.', { minLength: 1, maxLength: 1024, pattern: '^[0-9a-f]+$' }).required(),
    },
    'Hash of the content.',
  );

const content = (): Field<ImageContent> =>
  object(
    {
      containerFormat: oneOf(
        ['ami', 'ari', 'aki', 'bare', 'ovf', 'ova', 'docker', 'compressed'],
        'Container format of the image.',
      ).default('bare'),
      diskFormat: oneOf(
        ['ami', 'ari', 'aki', 'vhd', 'vhdx', 'vmdk', 'raw', 'qcow2', 'vdi', 'ploop', 'iso'],
        'Disk format.',
      ).required(),
      download: object(
        {
          url: string('URL.', { format: 'uri', maxLength: 2048 }).required(),
          decompress: oneOf(['xz', 'gz', 'bz2'], 'How it is compressed.'),
          hash: hash().rule(fixed, 'hash is immutable'),
        },
        'Content that is downloaded.',
      ).required(),
    },
    'Content of the image.',
  ).rule(fixed, 'content is immutable');

const hardware = (): Field<ImageHardware> =>
  object(
    {
      cdromBus: choice(buses, 'Bus of CD drives.'),
      cpuCores: positive('Cores per socket.'),
      cpuPolicy: choice(['shared', 'dedicated'], 'Whether CPUs are pinned.'),
      cpuSockets: positive('Sockets.'),
      cpuThreadPolicy: choice(['prefer', 'isolate', 'require'], 'How threads are used.'),
      cpuThreads: positive('Threads per core.'),
      diskBus: choice(buses, 'Bus of disks.'),
      qemuGuestAgent: boolean('Whether the image has the guest agent.'),
      rngModel: string('Model of the random number generator.', { maxLength: 255 }),
      scsiModel: choice(['virtio-scsi'], 'Model of the SCSI controller.'),
      vifModel: choice(
        ['e1000', 'e1000e', 'ne2k_pci', 'pcnet', 'rtl8139', 'virtio', 'vmxnet3'],
        'Model of network cards.',
      ),
    },
    'Virtual hardware of the machine.',
  );

const architectures =
  'aarch64 alpha armv7l cris i686 ia64 lm32 m68k microblaze microblazeel mips mipsel mips64 mips64el openrisc parisc parisc64 ppc ppc64 ppcemb s390 s390x sh4 sh4eb sparc sparc64 unicore32 x86_64 xtensa xtensaeb';
const distributions =
  'arch centos debian fedora freebsd gentoo mandrake mandriva mes msdos netbsd netware openbsd opensolaris opensuse rocky rhel sled ubuntu windows';

const properties = (): Field<ImageProperties> =>
  object(
    {
      architecture: choice(architectures.split(' '), 'Architecture of the machine.'),
      hypervisorType: choice(['hyperv', 'ironic', 'lxc', 'qemu', 'uml', 'vmware', 'xen'], 'Kind of hypervisor.'),
      minDiskGB: positive('Disk needed, in GB.'),
      minMemoryMB: positive('Memory needed, in MB.'),
      hardware: hardware(),
      operatingSystem: object(
        {
          distro: choice(distributions.split(' '), 'Name of the operating system.'),
          version: string('Version of the operating system.', { maxLength: 255 }),
        },
        'The operating system.',
      ),
    },
    'Properties of the image.',
  ).rule(fixed, 'properties is immutable');

const spec: () => Field<ImageSpec> = once(() =>
  object(
    {
      cloudCredentialsRef: object(
        {
          secretName: string('Secret with clouds.yaml.', { minLength: 1, maxLength: 253 }).required(),
          cloudName: string('Name of the cloud in clouds.yaml.', { minLength: 1, maxLength: 256 }).required(),
        },
        'Credentials.',
      ).required(),
      managementPolicy: oneOf(['managed', 'unmanaged'], 'Whether the image is created or only found.')
        .default('managed')
        .rule(fixed, 'managementPolicy is immutable'),
      managedOptions: object(
        {
          onDelete: oneOf(['delete', 'detach'], 'What happens to the image when the object is deleted.').default(
            'delete',
          ),
        },
        'Options of a new image.',
      ),
      import: object(
        {
          id: string('Id of the image.', { format: 'uuid', maxLength: 36 }),
          filter: object({ name: name(), tags: tags(), visibility: visibility() }, 'Fields the image must have.', {
            minProperties: 1,
          }),
        },
        'An image that exists already.',
        { minProperties: 1, maxProperties: 1 },
      ),
      resource: object(
        {
          name: name(),
          protected: boolean('Whether the image is protected.'),
          tags: tags(),
          visibility: visibility(),
          properties: properties(),
          content: content(),
        },
        'The new image.',
      ),
    },
    'Desired state.',
  )
    .rule(
      "self.managementPolicy == 'managed' ? has(self.resource) : true",
      'resource must be specified when policy is managed',
    )
    .rule(
      "self.managementPolicy == 'managed' ? !has(self.__import__) : true",
      'import may not be specified when policy is managed',
    )
    .rule(
      "self.managementPolicy == 'unmanaged' ? !has(self.resource) : true",
      'resource may not be specified when policy is unmanaged',
    )
    .rule(
      "self.managementPolicy == 'unmanaged' ? has(self.__import__) : true",
      'import must be specified when policy is unmanaged',
    )
    .rule(
      "has(self.managedOptions) ? self.managementPolicy == 'managed' : true",
      'managedOptions may only be provided when policy is managed',
    )
    .rule(
      '!has(self.__import__) ? has(self.resource.content) : true',
      'resource content must be specified when not importing',
    ),
);

const long = (description: string): Field<string> => string(description, { maxLength: 1024 });

const status: () => Field<ImageStatus> = once(() =>
  object(
    {
      conditions: conditions(32),
      id: long('Id of the image.'),
      downloadAttempts: int32('Number of download attempts.'),
      resource: object(
        {
          name: long('Name of the image.'),
          status: long('State of the image in the cloud.'),
          protected: boolean('Whether the image is protected.'),
          visibility: long('Visibility of the image.'),
          hash: hash(),
          sizeB: int64('Size in bytes.'),
          virtualSizeB: int64('Size of the disk in bytes.'),
          tags: atomicList(long(''), 'Tags of the image.', { maxItems: 64 }),
        },
        'The image as it is in the cloud.',
      ),
    },
    'Observed state.',
  ),
);

/** The Image kind of the OpenStack Resource Controller: an existing or managed image that machines boot from. */
export const imageKind: Kind<Image> = defineKind<Image>({
  group: 'openstack.k-orc.cloud',
  kind: 'Image',
  plural: 'images',
  categories: ['openstack'],
  description: 'An image in OpenStack.',
  // clusterctl moves the objects of kinds that have both labels.
  labels: { 'clusterctl.cluster.x-k8s.io': '', 'clusterctl.cluster.x-k8s.io/move': 'true' },
  hub: {
    name: 'v1alpha1',
    spec,
    status,
    specRequired: true,
    columns: [
      textColumn('ID', '.status.id'),
      textColumn('Available', ".status.conditions[?(@.type=='Available')].status"),
      textColumn('Message', ".status.conditions[?(@.type=='Progressing')].message"),
    ],
  },
});
