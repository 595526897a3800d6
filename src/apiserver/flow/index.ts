// Who may have how much of the server at a time.
export * from './flow-control.ts';
export * from './pace.ts';
