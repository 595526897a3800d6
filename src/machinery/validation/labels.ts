import { type FieldError, fieldError } from '../errors/field-error.ts';
import { checkLabelValue, checkQualifiedName } from './names.ts';

export function validateLabelKey(key: string, path: string): FieldError[] {
  return checkQualifiedName(key).map((text) => fieldError.invalid(path, key, text));
}

export function validateLabels(labels: Readonly<Record<string, string>> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const key in labels) {
    for (const text of checkQualifiedName(key)) errors.push(fieldError.invalid(path, key, text));
    const value = labels[key] ?? '';
    for (const text of checkLabelValue(value)) errors.push(fieldError.invalid(path, value, text));
  }
  return errors;
}

/** maximum size of keys and values together, in bytes */
export const maxAnnotationBytes: number = 256 * 1024;

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  let characters = 0;
  for (const key in annotations) {
    for (const text of checkQualifiedName(key.toLowerCase())) errors.push(fieldError.invalid(path, key, text));
    characters += key.length + (annotations[key]?.length ?? 0);
  }
  // A character takes at most three bytes, so bytes are counted exactly only near the limit.
  if (annotations && characters * 3 > maxAnnotationBytes && annotationBytes(annotations) > maxAnnotationBytes) {
    errors.push(fieldError.tooLong(path, '', maxAnnotationBytes));
  }
  return errors;
}

function annotationBytes(annotations: Readonly<Record<string, string>>): number {
  let bytes = 0;
  for (const key in annotations) bytes += Buffer.byteLength(key) + Buffer.byteLength(annotations[key] ?? '');
  return bytes;
}
