export type Shell = 'sh' | 'fish' | 'powershell';

interface ShellLanguage {
  set(name: string, value: string): string;
  unset(name: string): string;
}

/** Each shell quotes values so that they are never interpreted. */
export const shells: Readonly<Record<Shell, ShellLanguage>> = {
  sh: {
    set: (name, value) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`,
    unset: (name) => `unset ${name}`,
  },
  fish: {
    set: (name, value) => `set -gx ${name} '${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
    unset: (name) => `set -e ${name}`,
  },
  powershell: {
    set: (name, value) => `$Env:${name} = '${value.replaceAll(/['\u2018\u2019\u201a\u201b]/g, '$&$&')}'`,
    unset: (name) => `Remove-Item -ErrorAction SilentlyContinue Env:${name}`,
  },
};
