import { type FieldError, fieldError } from '../../machinery/index.ts';
import { validateEnum } from '../common/validation.ts';

const shortNames: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

export const accessModeNames: readonly string[] = Object.keys(shortNames);

/** Formats access modes as `RWO,ROX` in upstream's fixed order. */
export function formatAccessModes(modes: readonly string[] | undefined): string {
  return accessModeNames
    .filter((name) => modes?.includes(name))
    .map((name) => shortNames[name])
    .join(',');
}

export function validateAccessModes(modes: readonly string[], path: string): FieldError[] {
  const errors = modes.flatMap((mode) => validateEnum(mode, [...accessModeNames].sort(), path));
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod')) {
    errors.push(fieldError.forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
  return errors;
}

export function validateVolumeMode(mode: string | undefined, path: string): FieldError[] {
  return validateEnum(mode, ['Block', 'Filesystem'], path);
}
