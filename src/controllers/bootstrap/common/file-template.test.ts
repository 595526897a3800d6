import { describe, expect, it } from 'vitest';
import { renderFileTemplate } from './file-template.ts';

const known = { controlPlane: { version: 'v1.34.1' } };

describe('a file template', () => {
  it.each([
    ['no actions at all', 'no actions at all'],
    ['v={{ .controlPlane.version }}', 'v=v1.34.1'],
    ['v={{.controlPlane.version}}!', 'v=v1.34.1!'],
    ['a {{- .controlPlane.version -}} b', 'av1.34.1b'],
    ['{{ if .controlPlane }}yes{{ else }}no{{ end }}', 'yes'],
    ['{{ if .controlPlane }}{{ if .controlPlane.version }}in{{ end }}{{ end }}', 'in'],
    ['a{{/* a note */}}b', 'ab'],
  ])('%j is rendered as %j', (template, expected) => {
    expect(renderFileTemplate('/x', template, known)).toBe(expected);
  });

  it.each([
    ['{{ if .controlPlane }}yes{{ else }}no{{ end }}', 'no'],
    ['{{ if .controlPlane }}a{{ else if .controlPlane.version }}b{{ else }}c{{ end }}', 'c'],
    ['{{ if .controlPlane }}{{ if .controlPlane }}a{{ else }}b{{ end }}{{ else }}c{{ end }}', 'c'],
    ['{{ .controlPlane.version }}', '<no value>'],
  ])('%j is rendered as %j when the version is unknown', (template, expected) => {
    expect(renderFileTemplate('/x', template, {})).toBe(expected);
  });

  it.each([
    ['{{ .cluster.name }}', '.cluster.name is not known'],
    ['{{ range .x }}{{ end }}', '"range .x" is not understood'],
    ['{{ if .controlPlane }}', 'an if has no end'],
    ['{{ end }}', 'end without an if'],
    ['{{ else }}', 'without an if'],
    ['{{ .controlPlane }}', '.controlPlane is not a text'],
  ])('%j is refused with the file name and the reason', (template, reason) => {
    expect(() => renderFileTemplate('/etc/x', template, known)).toThrow(reason);
    expect(() => renderFileTemplate('/etc/x', template, known)).toThrow('file /etc/x ');
  });
});
