import { describe, expect, it } from 'vitest';
import type { Disk } from '../../types.ts';
import { formatTaint, parseLabels, parseTaints, readKubeletFlags, writeKubeletFlags } from './flags.ts';

function memoryDisk(): Disk {
  const files = new Map<string, string>();
  return {
    read: (path) => files.get(path),
    write: (path, content) => void files.set(path, content),
    remove: (path) => void files.delete(path),
    list: (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)),
  };
}

describe('the arguments of a kubelet', () => {
  it.each([
    ["openstack:///'0c8d'", 'openstack:///0c8d'],
    ['a=b,c=d', 'a=b,c=d'],
    ['"two words"', 'two words'],
  ])('are split as systemd passes them: %s', (written, read) => {
    const disk = memoryDisk();
    writeKubeletFlags(disk, [
      ['value', written],
      ['other', 'x'],
    ]);
    expect([...readKubeletFlags(disk)]).toEqual([
      ['value', read],
      ['other', 'x'],
    ]);
  });

  it('are empty before kubeadm has written any', () => {
    expect(readKubeletFlags(memoryDisk()).size).toBe(0);
  });

  it('carry labels and taints', () => {
    expect(parseLabels('a=b,c=,d')).toEqual({ a: 'b', c: '', d: '' });
    const taints = [
      { key: 'a', value: 'b', effect: 'NoSchedule' },
      { key: 'c', effect: 'NoExecute' },
    ];
    expect(parseTaints(taints.map(formatTaint).join(','))).toEqual(taints);
  });
});
