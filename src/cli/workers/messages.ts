// What the main process and its workers tell each other.

/** How a worker runs; the first thing it is told. */
export interface WorkerSettings {
  name: string;
  /** among those who share the work: whoever takes the place of one that ended goes on with what it had */
  identity: string;
  /** the management API of the main process */
  server: string;
  certificateAuthority: string;
  /** of the account of the controllers */
  clientCertificate: { certificate: string; key: string };
  /** the worker leaves before its certificate ends, and is started again with another */
  leaveAfterMs: number;
  controllers: string;
  watchFilter?: string;
  namespace?: string;
  backupDirectory: string;
  dataDirectory: string;
  stacksSource?: string[];
  peers: {
    denyPeers?: string;
    allowPeers?: string;
    listenHost: string;
    simulatesCloud: boolean;
    simulatesPods: boolean;
  };
}

export type ToWorker = { type: 'begin'; settings: WorkerSettings } | { type: 'stop' };
export type FromWorker = { type: 'ready' };
