import { type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { diskFormats } from './create/disk-format.ts';
import { outputFlag, type Runs } from './verbs.ts';

/**
 * Adds verbs that create cloud resources that manifests need and no controller creates. Flags are those of the
 * openstack command.
 */
export function addCreateVerbs(program: Command, runs: Runs): void {
  const create = program.command('create').description('create images and key pairs in a cloud');
  const several = (flags: string, description: string): Option =>
    new Option(flags, `${description}; may be repeated`).argParser((value: string, earlier: string[] | undefined) => [
      ...(earlier ?? []),
      value,
    ]);
  withCloudFlags(
    create
      .command('image')
      .description('upload a disk image and verify it')
      .argument('<name>', 'what it will be called'),
  )
    .requiredOption('--file <file>', 'the disk image')
    .addOption(
      new Option('--disk-format <format>', 'format of the image (default: detected from the file)').choices(
        diskFormats,
      ),
    )
    .addOption(new Option('--container-format <format>', 'container format of the image').default('bare'))
    .addOption(several('--property <key=value>', 'a property, such as os_distro=ubuntu'))
    .addOption(several('--tag <tag>', 'a tag'))
    .option('--min-disk <gib>', 'smallest disk of a server, in GiB')
    .option('--min-ram <mib>', 'smallest memory of a server, in MiB')
    .option('--public', 'visible to everybody; most clouds allow this only for administrators')
    .option('--community', 'visible to everybody who knows its id')
    .option('--shared', 'visible to projects that it is shared with (the usual default of clouds)')
    .option('--private', 'visible only to this project')
    .option('--protected', 'protect the image from deletion')
    .addHelpText(
      'after',
      `
An image of the same name is never replaced. An incomplete image is deleted.

Examples:
  capstan create image "Ubuntu 22.04" --file jammy-server-cloudimg-amd64.img --cloud mycloud
  capstan create image ubuntu-capi-v1.33.6 --file node.qcow2 --property kubernetes_version=v1.33.6
`,
    )
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/create-image.ts')).createImage(options, context, must(name, 'the name')),
      ),
    );
  withCloudFlags(
    create
      .command('keypair')
      .description('import a public SSH key, or create a new key pair')
      .argument('<name>', 'what it will be called'),
  )
    .option('--public-key <file>', 'public key to import; - reads standard input')
    .option('--private-key <file>', 'write the private key of the new pair to this file, which only you can read')
    .addHelpText(
      'after',
      `
Without --public-key, a key pair is created on this computer. The private key is printed once, and the cloud never sees it.

Examples:
  capstan create keypair lattice-key --public-key ~/.ssh/id_ed25519.pub --cloud mycloud
  capstan create keypair lattice-key --private-key lattice-key.pem
`,
    )
    .action(
      runs(async (options, context, name) =>
        (await import('./commands/create-keypair.ts')).createKeypair(options, context, must(name, 'the name')),
      ),
    );
}

function withCloudFlags(command: Command): Command {
  return command
    .option('--cloud <name>', 'the cloud of clouds.yaml (default: $OS_CLOUD, or the only one)')
    .option('--region <name>', 'one of the regions of the cloud')
    .addOption(outputFlag(['text', 'json', 'yaml']).default('text'));
}
