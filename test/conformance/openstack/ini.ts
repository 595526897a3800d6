/** Sections of a configuration file of oslo.config. */
export type IniFile = Readonly<Record<string, IniSection>>;
export type IniSection = Readonly<Record<string, string | number | boolean>>;

/** Formats a configuration file. */
export function formatIni(file: IniFile): string {
  return Object.entries(file)
    .map(([section, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key} = ${value}`);
      return `[${section}]\n${lines.join('\n')}\n`;
    })
    .join('\n');
}
