import { type Command, Option } from 'commander';
import { must } from '../machinery/index.ts';
import { diskFormats } from './create/disk-format.ts';
import { outputFlag, type Runs } from './verbs.ts';

/**
 * Adds verbs that create cloud resources that manifests need and no controller creates. Flags are those of the
 * openstack command.
 */
export function addCreateVerbs(program: Command, runs: Runs): void {
  const create = program.command('create').description('put images and key pairs into a cloud');
  const several = (flags: string, description: string): Option =>
    new Option(flags, `${description}; may be given several times`).argParser(
      (value: string, earlier: string[] | undefined) => [...(earlier ?? []), value],
    );
  withCloudFlags(
    create
      .command('image')
      .description('upload a disk image, and check that the cloud has all of it')
      .argument('<name>', 'what it will be called'),
  )
    .requiredOption('--file <file>', 'the disk image')
    .addOption(
      new Option('--disk-format <format>', 'its format (default: what the file says of itself)').choices(diskFormats),
    )
    .addOption(new Option('--container-format <format>', 'what is around it').default('bare'))
    .addOption(several('--property <key=value>', 'a property, such as os_distro=ubuntu'))
    .addOption(several('--tag <tag>', 'a tag'))
    .option('--min-disk <gib>', 'smallest disk of a server, in GiB')
    .option('--min-ram <mib>', 'smallest memory of a server, in MiB')
    .option('--public', 'for everybody; most clouds leave that to administrators')
    .option('--community', 'for everybody who knows its id')
    .option('--shared', 'for projects it is shared with (what clouds do by themselves)')
    .option('--private', 'for this project alone')
    .option('--protected', 'it cannot be deleted by mistake')
    .addHelpText(
      'after',
      `
An image of the same name is never replaced, and one that is not whole is taken away.

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
      .description('import a public SSH key, or make a new key pair')
      .argument('<name>', 'what it will be called'),
  )
    .option('--public-key <file>', 'import this one; - reads standard input')
    .option('--private-key <file>', 'write the private key of the new pair there, readable by you alone')
    .addHelpText(
      'after',
      `
Without --public-key a key pair is made on this computer. Its private key is printed, once, and the cloud never sees it.

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
