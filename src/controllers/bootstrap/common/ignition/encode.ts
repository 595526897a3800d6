import { type IgnitionContent, ignitionVersion } from './types.ts';

/** Encodes the configuration as Ignition JSON. */
export function encodeIgnition(content: IgnitionContent): string {
  const { users, groups, units, disks, raid, filesystems, files, directories, links } = content;
  return JSON.stringify({
    ignition: { version: ignitionVersion },
    ...section('passwd', { users, groups }),
    ...section('storage', { disks, raid, filesystems, files, directories, links }),
    ...section('systemd', { units }),
  });
}

function section(name: string, lists: Readonly<Record<string, readonly unknown[] | undefined>>): object {
  const filled = Object.entries(lists).filter(([, list]) => list !== undefined && list.length > 0);
  return filled.length === 0 ? {} : { [name]: Object.fromEntries(filled) };
}

/** Encodes text as a data URL, the form of file contents in Ignition. */
export function dataUrl(text: string): string {
  return `data:,${encodeURIComponent(text)}`;
}

export function base64Url(base64: string): string {
  return `data:;base64,${base64.replaceAll(/\s+/g, '')}`;
}

/** Escapes a path as systemd requires for mount unit names: `/var/lib/my-data` becomes `var-lib-my\x2ddata`. */
export function systemdPathName(path: string): string {
  const trimmed = path.replaceAll(/\/+/g, '/').replace(/^\//, '').replace(/\/$/, '');
  if (trimmed === '') return '-';
  let name = '';
  for (const byte of Buffer.from(trimmed)) {
    const character = String.fromCharCode(byte);
    if (character === '/') name += '-';
    else if (/[A-Za-z0-9:_]/.test(character) || (character === '.' && name !== '')) name += character;
    else name += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return name;
}
