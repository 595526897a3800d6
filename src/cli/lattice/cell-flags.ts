interface CellFlags {
  readonly bootstrap: readonly [flags: string, meaning: string, usual: string];
  readonly agents: readonly [flags: string, meaning: string, usual: string];
  readonly host: readonly [flags: string, meaning: string];
}

/** Flags of the endpoints that self-managed clusters dial, for all commands that act as their parent. */
export const cellFlags: CellFlags = {
  bootstrap: [
    '--bootstrap-listen <host:port>',
    'where clusters that manage themselves get their certificates, as soon as there is one; 0 for nowhere',
    '127.0.0.1:8443',
  ],
  agents: ['--agent-listen <host:port>', 'where they dial in; 0 for nowhere', '127.0.0.1:50051'],
  host: ['--lattice-host <host>', 'name or address they dial (default: the one that is listened on)'],
};
