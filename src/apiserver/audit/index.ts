// Who did what and when: audit.k8s.io events and where they go.
export * from './auditor.ts';
export * from './event.ts';
export * from './file-sink.ts';
