// Audit events of audit.k8s.io and their sinks.
export * from './auditor.ts';
export * from './event.ts';
export * from './file-sink.ts';
