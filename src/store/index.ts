// Public interface of the store: a revisioned map on durable engines.
export * from './archive/index.ts';
export { type BackupRecord, type BackupSummary, readBackup } from './backup.ts';
export { type CheckReport, checkStore } from './check.ts';
export { type DirectoryLock, lockDirectory } from './directory-lock.ts';
export type { HistoryLimits } from './history.ts';
export { journalEngine } from './journal-engine.ts';
export { type LmdbEngine, lmdbEngine } from './lmdb-engine.ts';
export { memoryEngine } from './memory-engine.ts';
export { type RestoreOptions, restoreBackup } from './restore.ts';
export { type OpenStoreOptions, openStore } from './store.ts';
export * from './types.ts';
