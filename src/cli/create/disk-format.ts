import { open } from 'node:fs/promises';
import { CapstanError } from '../../machinery/index.ts';

/** Formats that glance defines; each cloud supports some of them. */
export const diskFormats = ['qcow2', 'raw', 'vmdk', 'vhd', 'vhdx', 'vdi', 'iso', 'ami', 'aki', 'ari', 'ploop'] as const;
export type DiskFormat = (typeof diskFormats)[number];

interface Signature {
  readonly at: number;
  readonly bytes: Buffer;
}
const text = (characters: string, at = 0): Signature => ({ at, bytes: Buffer.from(characters, 'latin1') });

const formats: readonly (Signature & { format: DiskFormat })[] = [
  { ...text('QFI\xfb'), format: 'qcow2' },
  { ...text('KDMV'), format: 'vmdk' },
  { ...text('# Disk DescriptorFile'), format: 'vmdk' },
  { ...text('vhdxfile'), format: 'vhdx' },
  { ...text('conectix'), format: 'vhd' },
  { ...text('\x7f\x10\xda\xbe', 64), format: 'vdi' },
  { ...text('CD001', 0x8001), format: 'iso' },
];

/** Formats that contain an image, but are no image themselves. */
const wrapped: readonly (Signature & { what: string; cure: string })[] = [
  { ...text('\x1f\x8b'), what: 'compressed with gzip', cure: 'gunzip' },
  { ...text('\xfd7zXZ\0'), what: 'compressed with xz', cure: 'unxz' },
  { ...text('BZh'), what: 'compressed with bzip2', cure: 'bunzip2' },
  { ...text('\x28\xb5\x2f\xfd'), what: 'compressed with zstd', cure: 'unzstd' },
  { ...text('PK\x03\x04'), what: 'a zip archive', cure: 'unzip' },
];

const mostBytes = Math.max(...[...formats, ...wrapped].map(({ at, bytes }) => at + bytes.length));

/**
 * Detects the format of a disk image by its first bytes; without a signature it is raw. Throws for files that are no
 * image, such as compressed files and web pages.
 */
export function diskFormatOf(head: Buffer, source: string): DiskFormat {
  const begins = ({ at, bytes }: Signature): boolean => head.subarray(at, at + bytes.length).equals(bytes);
  if (head.length === 0) throw wrong(`${source} is empty`, 'download it again');
  const packed = wrapped.find(begins);
  if (packed)
    throw wrong(`${source} is ${packed.what}, and a server cannot start from that`, `${packed.cure} ${source}`);
  if (/^\s*<(?:!doctype html|html)/i.test(head.subarray(0, 200).toString('latin1'))) {
    throw wrong(`${source} is a web page`, 'the download went wrong: look at it, and download the image again');
  }
  return formats.find(begins)?.format ?? 'raw';
}

/** Detects the format of a file and compares it with the given format. */
export async function checkedDiskFormat(path: string, said: DiskFormat | undefined): Promise<DiskFormat> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    const found = diskFormatOf(buffer.subarray(0, bytesRead), path);
    if (said === undefined || said === found) return said ?? found;
    // These formats may have no signature, and an iso can boot as a raw disk.
    if (found === 'raw' && ['ami', 'aki', 'ari', 'ploop', 'vhd', 'vmdk'].includes(said)) return said;
    if (found === 'iso' && said === 'raw') return said;
    throw wrong(
      `${path} is ${found}, not ${said}: no server would start from it`,
      `leave --disk-format out, or say ${found}`,
    );
  } finally {
    await file.close();
  }
}

function wrong(message: string, hint: string): CapstanError {
  return new CapstanError('CAP_IMAGE_CONTENT', message, { hint });
}
