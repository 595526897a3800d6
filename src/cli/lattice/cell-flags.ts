interface CellFlags {
  readonly bootstrap: readonly [flags: string, meaning: string, usual: string];
  readonly agents: readonly [flags: string, meaning: string, usual: string];
  readonly host: readonly [flags: string, meaning: string];
}

/** Flags of the endpoints that self-managed clusters dial, for all commands that act as their parent. */
export const cellFlags: CellFlags = {
  bootstrap: [
    '--bootstrap-listen <host:port>',
    'where self-managing clusters get their certificates, opened with the first of them; 0 disables it',
    '127.0.0.1:8443',
  ],
  agents: ['--agent-listen <host:port>', 'where self-managing clusters connect; 0 disables it', '127.0.0.1:50051'],
  host: [
    '--lattice-host <host>',
    'name or address that self-managing clusters connect to (default: the listening address)',
  ],
};
