/** Replaces `${NAMES}` in a manifest of a guide. Throws if a value is missing. */
export function fillIn(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for the placeholder ${name}`);
    return value;
  });
}
