import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkedDiskFormat, diskFormatOf } from './disk-format.ts';

const head = (begin: string, at = 0): Buffer =>
  Buffer.concat([Buffer.alloc(at), Buffer.from(begin, 'latin1'), Buffer.alloc(64)]);

describe('the format of a disk image', () => {
  it.each([
    ['qcow2', head('QFI\xfb')],
    ['vmdk', head('KDMV')],
    ['vmdk', head('# Disk DescriptorFile')],
    ['vhdx', head('vhdxfile')],
    ['vhd', head('conectix')],
    ['vdi', head('\x7f\x10\xda\xbe', 64)],
    ['iso', head('CD001', 0x8001)],
    ['raw', head('\xfa\x33\xc0')],
  ])('%s is recognized from the file', (format, bytes) => {
    expect(diskFormatOf(bytes, 'f')).toBe(format);
  });

  it.each([
    ['gzip', head('\x1f\x8b')],
    ['xz', head('\xfd7zXZ\0')],
    ['bzip2', head('BZh9')],
    ['zstd', head('\x28\xb5\x2f\xfd')],
    ['a zip archive', head('PK\x03\x04')],
    ['a web page', head('<!DOCTYPE html><html>')],
    ['empty', Buffer.alloc(0)],
  ])('a file that is not a disk image (%s) is refused', (what, bytes) => {
    expect(() => diskFormatOf(bytes, 'f.img')).toThrow(new RegExp(`f\\.img is .*${what}`));
  });

  describe('the --disk-format option', () => {
    let directory: string;
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-format-'));
    });
    afterEach(() => rm(directory, { recursive: true, force: true }));

    it('must match the format of the file when that is recognized', async () => {
      const file = join(directory, 'disk');
      await writeFile(file, head('QFI\xfb'));
      expect(await checkedDiskFormat(file, undefined)).toBe('qcow2');
      expect(await checkedDiskFormat(file, 'qcow2')).toBe('qcow2');
      await expect(checkedDiskFormat(file, 'raw')).rejects.toThrow('is qcow2, not raw');
      await writeFile(file, 'x');
      expect(await checkedDiskFormat(file, 'ami')).toBe('ami');
      await expect(checkedDiskFormat(file, 'qcow2')).rejects.toThrow('is raw, not qcow2');
      await writeFile(file, head('CD001', 0x8001));
      expect(await checkedDiskFormat(file, 'raw')).toBe('raw');
    });
  });
});
