export { type ArchiveEntry, isArchive, readArchive, writeArchive } from './archive.ts';
export type { ArchiveSecret } from './keys.ts';
