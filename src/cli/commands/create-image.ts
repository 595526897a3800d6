import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { CapstanError, errorMessage, formatJson, formatYaml } from '../../machinery/index.ts';
import type { ImageVisibility } from '../../openstack/index.ts';
import type { CommandContext } from '../context.ts';
import { checkedDiskFormat, type DiskFormat } from '../create/disk-format.ts';
import { showProgress } from '../create/progress.ts';
import { uploadImage } from '../create/upload-image.ts';
import { type CloudChoiceOptions, withCloud } from '../env/with-cloud.ts';

export interface CreateImageOptions extends CloudChoiceOptions {
  file: string;
  diskFormat?: DiskFormat;
  containerFormat: string;
  property?: readonly string[];
  tag?: readonly string[];
  minDisk?: string;
  minRam?: string;
  public?: boolean;
  private?: boolean;
  community?: boolean;
  shared?: boolean;
  protected?: boolean;
  output: 'text' | 'json' | 'yaml';
}

/** Uploads a disk image and verifies the stored content. */
export async function createImage(options: CreateImageOptions, context: CommandContext, name: string): Promise<number> {
  const { file } = options;
  await checkFile(file);
  const properties = propertiesOf(options.property ?? []);
  const diskFormat = await checkedDiskFormat(file, options.diskFormat);
  const minDisk = numberOf('--min-disk', options.minDisk);
  const minRam = numberOf('--min-ram', options.minRam);
  const visibility = visibilityOf(options);
  return await withCloud(options, context, async (cloud) => {
    const { signal, clock } = context;
    const { images } = cloud.image;
    const onProgress = showProgress(context);
    const image = await uploadImage(
      { images, clock, signal, onProgress },
      {
        name,
        diskFormat,
        containerFormat: options.containerFormat,
        properties,
        visibility,
        minDisk,
        minRam,
        tags: options.tag,
        protected: options.protected,
      },
      file,
    );
    const value = {
      name,
      id: image.id,
      status: image.status,
      visibility: image.visibility,
      diskFormat,
      size: image.size ?? 0,
    };
    if (options.output === 'json') context.stdout(formatJson(value));
    else if (options.output === 'yaml') context.stdout(formatYaml(value));
    else context.stdout(`image "${name}" created from ${basename(file)} (${diskFormat}): ${image.id}\n`);
    return 0;
  });
}

async function checkFile(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw new CapstanError('CAP_IMAGE_CONTENT', `${file} cannot be read: ${errorMessage(error)}`, { cause: error });
  });
  if (!found.isFile()) {
    throw new CapstanError('CAP_IMAGE_CONTENT', `${file} is not a file`, { hint: 'name the disk image itself' });
  }
}

/** Parses `key=value` arguments; values may contain `=`. */
function propertiesOf(given: readonly string[]): Record<string, string> {
  const properties: Record<string, string> = {};
  for (const one of given) {
    const at = one.indexOf('=');
    if (at < 1) throw usage(`--property ${one}: it is key=value, as in os_distro=ubuntu`);
    properties[one.slice(0, at)] = one.slice(at + 1);
  }
  return properties;
}

function numberOf(flag: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = Number(given);
  if (!/^\d+$/.test(given) || !Number.isSafeInteger(value)) throw usage(`${flag} ${given}: it is a number, such as 10`);
  return value;
}

function visibilityOf(options: CreateImageOptions): ImageVisibility | undefined {
  const chosen = (['public', 'private', 'community', 'shared'] as const).filter((each) => options[each] === true);
  if (chosen.length > 1) throw usage(`--${chosen.join(' and --')} exclude each other`);
  return chosen[0];
}

function usage(message: string): CapstanError {
  return new CapstanError('CAP_USAGE', message);
}
