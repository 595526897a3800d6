import { statusError } from '../errors/status.ts';

export interface FieldRequirement {
  /** e.g. `metadata.name` */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Splits at unescaped commas and keeps escapes. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === ',') {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeValue(text: string): string {
  let value = '';
  const characters = [...text].values();
  for (const character of characters) {
    if (character === '\\') {
      const { value: escaped } = characters.next();
      if (escaped !== '\\' && escaped !== ',' && escaped !== '=') {
        throw statusError.badRequest(`invalid field selector: invalid escape sequence: \\${escaped ?? ''}`);
      }
      value += escaped;
    } else if (character === ',' || character === '=') {
      // Upstream prints the character code.
      throw statusError.badRequest(`invalid field selector: unescaped character in value: ${character.codePointAt(0)}`);
    } else value += character;
  }
  return value;
}

/**
 * Parses `metadata.name=a,status.phase!=b`. `==` equals `=`; `\,`, `\=` and `\\` are escapes in values. Returns terms
 * in alphabetical order without empty ones, as kube-apiserver does. Throws ApiStatusError (400 BadRequest).
 */
export function parseFieldSelector(text: string): FieldRequirement[] {
  const requirements: FieldRequirement[] = [];
  if (text === '') return requirements;
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const match = /!=|==?/.exec(term);
    if (match === null) throw statusError.badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const field = term.slice(0, match.index);
    const value = unescapeValue(term.slice(match.index + match[0].length));
    if (field === '' && value === '') continue;
    requirements.push({ field, operator: match[0] === '!=' ? '!=' : '=', value });
  }
  return requirements;
}

/** The inverse of `parseFieldSelector`. */
export function formatFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements
    .map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`)
    .join(',');
}

/** Value a selector requires of a field; undefined if it does not restrict the field to one value. */
export function exactFieldValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  return requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
}

/** Reports whether all requirements hold. `read` returns '' for an absent field. */
export function fieldsMatch(requirements: readonly FieldRequirement[], read: (field: string) => string): boolean {
  for (const { field, operator, value } of requirements) {
    if ((read(field) === value) !== (operator === '=')) return false;
  }
  return true;
}
