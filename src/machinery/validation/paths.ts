import { type FieldError, fieldError } from '../errors/field-error.ts';

/** Rejects paths with `..`, which could leave their root. */
export function validatePathWithoutBacksteps(path: string, field: string): FieldError[] {
  return path.split('/').includes('..') ? [fieldError.invalid(field, path, "must not contain '..'")] : [];
}

/** Checks for a relative path that stays below its root. */
export function validateDescendingPath(path: string, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (path.startsWith('/')) errors.push(fieldError.invalid(field, path, 'must be a relative path'));
  errors.push(...validatePathWithoutBacksteps(path, field));
  return errors;
}

export function isAbsolutePath(path: string): boolean {
  return path.startsWith('/');
}
