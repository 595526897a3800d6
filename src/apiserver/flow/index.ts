// Flow control: limits what each user may take of the server.
export * from './flow-control.ts';
export * from './pace.ts';
