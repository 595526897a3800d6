/**
 * Default lifetime of the authorities of a hosted control plane: ten years. Workers trust the root they joined with and
 * must be replaced when it expires, so upstream's default of 48 hours would need new workers every day.
 */
export const defaultAuthorityDuration = '87600h';
