import { describe, expect, it } from 'vitest';
import { renderJinja, TemplateError } from './jinja.ts';

const variables = { name: 'Node-1', list: ['a', 'b'], deep: { 'a-b': 1, c: { d: 'x' } }, flag: true, empty: '' };

describe('a Jinja template', () => {
  it.each([
    ['plain', 'plain'],
    ['{{ name }} {{name}}', 'Node-1 Node-1'],
    ["{{ deep['a-b'] }} {{ deep.c.d }} {{ list[1] }} {{ list | first }}", '1 x b a'],
    ["{{ name | lower | replace('-', '_') }} {{ name.upper() }}", 'node_1 NODE-1'],
    ["{{ nosuch | default('d') }} {{ empty | default('e', true) }} {{ empty | default('e') }}|", 'd e |'],
    ["{{ 'x' ~ 1 + 1 }} {{ 2 + 3 }} {{ flag }} {{ none }}", 'x11 5 True None'],
    ['{% if flag and not empty %}yes{% elif name %}maybe{% else %}no{% endif %}', 'yes'],
    ["{% if name == 'x' or 'a' in list %}yes{% endif %}", 'yes'],
    ['{% if nosuch is defined %}a{% else %}b{% endif %}', 'b'],
    ['{% for x in list %}<{{ x }}>{% endfor %}', '<a><b>'],
    ['{% set v = name | lower %}{{ v }}{# gone #}', 'node-1'],
    ['a\n{% if flag %}\nb\n{% endif %}\nc\n', 'a\nb\nc\n'],
    ['a  {{- name -}}  b', 'aNode-1b'],
    ['{% raw %}{{ name }}{% endraw %}', '{{ name }}'],
    ['{{ "{{" }} name }}', '{{ name }}'],
  ])('%j becomes %j', (template, expected) => {
    expect(renderJinja(template, variables)).toEqual({ text: expected, missing: [] });
  });

  it('reports the variables that do not exist', () => {
    expect(renderJinja('{{ nosuch }} {{ deep.nosuch }}', variables)).toEqual({
      text: 'CI_MISSING_JINJA_VAR/nosuch CI_MISSING_JINJA_VAR/nosuch',
      missing: ['nosuch', 'nosuch'],
    });
  });

  it.each([
    '{{ name',
    '{{ }}',
    '{% if x %}',
    '{% endif %}',
    '{% nosuch %}',
    '{{ name | nosuch }}',
    '{{ name name }}',
    '{% for x list %}{% endfor %}',
    '{% for x in list %}',
    '{% raw %}',
    '{#array[@]}',
    '{{ ( }}',
  ])('%j is refused', (template) => {
    expect(() => renderJinja(template, variables)).toThrow(TemplateError);
  });
});
