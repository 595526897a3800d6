/** A manifest of a guide with its `${NAMES}` replaced; one without a value is a mistake of the test. */
export function fillIn(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\$\{(\w+)\}/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`no value for the placeholder ${name}`);
    return value;
  });
}
